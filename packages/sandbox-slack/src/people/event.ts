import type { Acknowledgement } from '../acknowledgement.ts'
import { getChannel, getMessage, getUser } from '../acts.ts'
import { editMessage, postMessage } from '../messages.ts'
import type { Message } from '../messages.ts'
import { verificationBody } from '../payloads.ts'
import { authorOf } from '../wire.ts'
import { ACCOUNTS, homeIdOf, openDirect } from '../workspace.ts'
import type { Channel, Workspace } from '../workspace.ts'
import { actionTs } from './parts.ts'
import type { PeopleParts } from './parts.ts'
import { sendEvent } from './tell-event.ts'

export function mentionBot(
  parts: PeopleParts,
  words: { user: string; channel: string; text: string; threadTs?: string },
): Promise<Acknowledgement> {
  const { workspace } = parts
  const channel = getChannel(workspace, words.channel)
  const userId = getUser(workspace, words.user).id
  const text = mentionOf(workspace, words.text)
  return sendMention(parts, channel, postMessage(workspace, channel, { userId, text, threadTs: words.threadTs }))
}

/**
 * Another bot mentions the app: an app, whose user Slack names, or a workflow, of which it names none (also for old
 * integrations).
 */
export function mentionByBot(
  parts: PeopleParts,
  words: { channel: string; text: string; threadTs?: string; by?: 'app' | 'workflow' },
): Promise<Acknowledgement> {
  const { workspace } = parts
  const channel = getChannel(workspace, words.channel)
  const { id, realName } = getUser(workspace, words.by === 'workflow' ? ACCOUNTS.workflow : ACCOUNTS.otherBot)
  const botName = words.by === 'workflow' ? realName : undefined
  const text = mentionOf(workspace, words.text)
  const draft = { userId: id, text, threadTs: words.threadTs, botName }
  return sendMention(parts, channel, postMessage(workspace, channel, draft))
}

export function editMention(
  parts: PeopleParts,
  words: { channel: string; ts: string; text: string },
): Promise<Acknowledgement> {
  const { workspace } = parts
  const channel = getChannel(workspace, words.channel)
  const message = getMessage(channel, words.ts)
  editMessage(workspace, channel, message, { text: mentionOf(workspace, words.text) })
  return sendMention(parts, channel, message)
}

/** A text that does not mention the bot begins with the mention. */
function mentionOf({ bot }: Workspace, text: string): string {
  const mention = `<@${bot.userId}>`
  return text.includes(mention) ? text : `${mention} ${text}`
}

function sendMention(parts: PeopleParts, channel: Channel, message: Message): Promise<Acknowledgement> {
  const { workspace } = parts
  const user = getUser(workspace, message.userId)
  const teamId = homeIdOf(workspace, user)
  const { ts, text, threadTs, editedTs } = message
  return sendEvent(parts, {
    type: 'app_mention',
    ...authorOf(workspace, message),
    text,
    ts,
    ...(editedTs === undefined ? {} : { edited: { user: user.id, ts: editedTs } }),
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    ...(teamId === workspace.team.id ? {} : { user_team: teamId, source_team: teamId }),
    channel: channel.id,
    event_ts: editedTs ?? ts,
  })
}

export function openHome(parts: PeopleParts, userId: string): Promise<Acknowledgement> {
  const { workspace, views } = parts
  const user = getUser(workspace, userId).id
  const view = views.home(userId)
  return sendEvent(parts, {
    type: 'app_home_opened',
    user,
    channel: openDirect(workspace, userId).id,
    tab: 'home',
    event_ts: actionTs(workspace),
    ...(view ? { view } : {}),
  })
}

/** Only over HTTP: Socket Mode needs no verification. */
export const verifyUrl = ({ sender }: PeopleParts, challenge: string): Promise<Acknowledgement> =>
  sender.send({
    what: 'url_verification',
    contentType: 'application/json',
    body: JSON.stringify(verificationBody(challenge)),
  })
