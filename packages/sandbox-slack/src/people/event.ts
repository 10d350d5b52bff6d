import type { Acknowledgement } from '../acknowledgement.ts'
import { getChannel } from '../acts.ts'
import { postMessage } from '../messages.ts'
import { verificationBody } from '../payloads.ts'
import { openDirect, teamOf } from '../workspace.ts'
import { actionTs, getUser } from './parts.ts'
import type { PeopleParts } from './parts.ts'
import { sendEvent } from './tell-event.ts'

export function mentionBot(
  parts: PeopleParts,
  words: { user: string; channel: string; text: string; threadTs?: string },
): Promise<Acknowledgement> {
  const { workspace } = parts
  const channel = getChannel(workspace, words.channel)
  const user = getUser(workspace, words.user)
  const teamId = teamOf(workspace, user).id
  const text = `<@${workspace.bot.userId}> ${words.text}`
  const { ts } = postMessage(workspace, channel, { userId: user.id, text, threadTs: words.threadTs })
  return sendEvent(parts, {
    type: 'app_mention',
    user: user.id,
    text,
    ts,
    ...(words.threadTs === undefined ? {} : { thread_ts: words.threadTs }),
    team: teamId,
    ...(user.team ? { user_team: teamId, source_team: teamId } : {}),
    channel: channel.id,
    event_ts: ts,
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
