import { getChannel, getMessage } from './acts.ts'
import { actionOf, findElement, findInBlocks } from './elements.ts'
import { checkView } from './limits.ts'
import { postMessage } from './messages.ts'
import { listOf, objectOf } from './json.ts'
import type { Json } from './json.ts'
import { parseObject } from './http.ts'
import { Refusal } from './methods/call.ts'
import { commandFields, eventEnvelope, interactionFields, messageFields, verificationBody } from './payloads.ts'
import type { MessagePlace } from './payloads.ts'
import { respond } from './response-urls.ts'
import type { Origin, ResponseUrls } from './response-urls.ts'
import type { Acknowledgement, Sender } from './sender.ts'
import type { Triggers } from './triggers.ts'
import type { Views } from './views.ts'
import type { Channel, User, Workspace } from './workspace.ts'

/**
 * What people do that the bot is told of, signed as Slack signs. Each answers how the bot acknowledged it; what the
 * acknowledgement asks for (a reply to a command, a change of a modal) is done. Throws on people, channels, messages
 * and elements that are not there: a mistake of the test, not of the bot.
 */
export interface People {
  runCommand(words: { user: string; channel: string; command: string; text?: string }): Promise<Acknowledgement>
  /** A button, a menu…: `selected` carries what was chosen, such as `{ selected_option }`. */
  click(press: Press): Promise<Acknowledgement>
  /** The same in the top modal of a person, or in their home tab. */
  clickInView(press: { user: string; actionId: string; selected?: Json }): Promise<Acknowledgement>
  /** Submits the top modal; `values` as Slack nests them: block id, action id, value. */
  submitView(form: { user: string; values?: Json }): Promise<Acknowledgement>
  useShortcut(use: { user: string; channel: string; ts: string; callbackId: string }): Promise<Acknowledgement>
  /** Writes `@bot text` into the channel or the thread, and tells the bot. */
  mentionBot(words: { user: string; channel: string; text: string; threadTs?: string }): Promise<Acknowledgement>
  openHome(user: string): Promise<Acknowledgement>
  verifyUrl(challenge: string): Promise<Acknowledgement>
  /** Any event; `retryNum` and the same `eventId` repeat it as Slack does. */
  sendEvent(event: Json, again?: { eventId?: string; retryNum?: number }): Promise<Acknowledgement>
}

export interface Press {
  user: string
  channel: string
  ts: string
  actionId: string
  blockId?: string
  selected?: Json
}

export interface PeopleParts {
  workspace: Workspace
  triggers: Triggers
  views: Views
  responseUrls: ResponseUrls
  sender: Sender
  /** this server's own address, for response URLs */
  url: () => string
}

export const createPeople = (parts: PeopleParts): People => ({
  runCommand: (words) => runCommand(parts, words),
  click: (press) => click(parts, press),
  clickInView: (press) => clickInView(parts, press),
  submitView: (form) => submitView(parts, form),
  useShortcut: (use) => pickShortcut(parts, use),
  mentionBot: (words) => mentionBot(parts, words),
  openHome: (user) => openHome(parts, user),
  verifyUrl: (challenge) => sendJson(parts, 'url_verification', verificationBody(challenge)),
  sendEvent: (event, again) => sendEvent(parts, event, again),
})

async function runCommand(
  parts: PeopleParts,
  { user: userId, channel: channelId, command, text = '' }: Parameters<People['runCommand']>[0],
): Promise<Acknowledgement> {
  const { workspace, sender } = parts
  const user = getUser(workspace, userId)
  const channel = getChannel(workspace, channelId)
  const origin = { channelId, userId }
  const fields = commandFields(workspace, { user, channel, command, text, ...ask(parts, origin) })
  const body = new URLSearchParams(fields).toString()
  const acknowledgement = await sender.send({ what: `command ${command}`, contentType: FORM, body })
  return answerInAck(workspace, origin, acknowledgement)
}

const FORM = 'application/x-www-form-urlencoded'

const ask = ({ triggers, responseUrls, url }: PeopleParts, origin: Origin) => ({
  triggerId: triggers.issue(origin.userId),
  responseUrl: `${url()}${responseUrls.issue(origin)}`,
})

/** The body of a command's answer is the bot's first reply, in JSON or as plain text. */
function answerInAck(workspace: Workspace, origin: Origin, acknowledgement: Acknowledgement): Acknowledgement {
  if (acknowledgement.kind !== 'answered' || acknowledgement.status !== 200) return acknowledgement
  const { body } = acknowledgement
  if (body.trim() === '') return acknowledgement
  try {
    respond(workspace, origin, parseObject(body) ?? { text: body })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    acknowledgement.refusal = error.code
  }
  return acknowledgement
}

function click(parts: PeopleParts, press: Press): Promise<Acknowledgement> {
  const { workspace } = parts
  const user = getUser(workspace, press.user)
  const place = placeOf(workspace, getChannel(workspace, press.channel), press.ts)
  const found = findElement(place.message, press.actionId, press.blockId)
  if (!found) throw new Error(`message ${press.ts} has no element ${press.actionId}`)
  const { triggerId, responseUrl } = ask(parts, originOf(press))
  return sendInteraction(parts, `click ${press.actionId}`, {
    ...interactionFields(workspace, 'block_actions', user),
    ...messageFields(workspace, { ...place, attachmentId: found.attachmentId }),
    trigger_id: triggerId,
    response_url: responseUrl,
    actions: [actionOf(found, workspace.clock.now(), press.selected ?? {})],
  })
}

const originOf = ({ user, channel, ts }: { user: string; channel: string; ts: string }): Origin => ({
  channelId: channel,
  userId: user,
  sourceTs: ts,
})

function placeOf(workspace: Workspace, channel: Channel, ts: string): MessagePlace {
  const ephemeral = workspace.ephemerals.find((one) => one.channelId === channel.id && one.message.ts === ts)
  if (ephemeral) return { channel, message: ephemeral.message, isEphemeral: true }
  return { channel, message: getMessage(channel, ts), isEphemeral: false }
}

function clickInView(
  parts: PeopleParts,
  { user: userId, actionId, selected = {} }: Parameters<People['clickInView']>[0],
): Promise<Acknowledgement> {
  const { workspace, views, triggers } = parts
  const view = views.stack(userId).at(-1) ?? views.home(userId)
  const found = view && findInBlocks(listOf(view['blocks']), actionId)
  if (!view || !found) throw new Error(`no open view of ${userId} has an element ${actionId}`)
  return sendInteraction(parts, `click ${actionId}`, {
    ...interactionFields(workspace, 'block_actions', getUser(workspace, userId)),
    container: { type: 'view', view_id: view['id'] },
    trigger_id: triggers.issue(userId),
    view,
    actions: [actionOf(found, workspace.clock.now(), selected)],
  })
}

async function submitView(
  parts: PeopleParts,
  { user: userId, values = {} }: Parameters<People['submitView']>[0],
): Promise<Acknowledgement> {
  const { workspace, views, triggers } = parts
  const view = views.stack(userId).at(-1)
  if (!view) throw new Error(`${userId} has no modal open`)
  view['state'] = { values }
  const acknowledgement = await sendInteraction(parts, 'view_submission', {
    ...interactionFields(workspace, 'view_submission', getUser(workspace, userId)),
    trigger_id: triggers.issue(userId),
    view,
    response_urls: [],
  })
  if (acknowledgement.kind === 'answered' && acknowledgement.status === 200) {
    const refusal = obey(views, userId, String(view['id']), parseObject(acknowledgement.body) ?? {})
    if (refusal !== null) acknowledgement.refusal = refusal
  }
  return acknowledgement
}

/** An empty answer closes the modal; `errors` leaves it open; a view that Slack refuses changes nothing. */
function obey(views: Views, userId: string, viewId: string, { response_action: wanted, view }: Json): string | null {
  if (wanted === 'errors') return null
  if (wanted === 'update' || wanted === 'push') {
    const [problem] = checkView(view)
    if (problem) return problem.error
    const result = wanted === 'push' ? views.push(userId, objectOf(view)) : views.update(viewId, objectOf(view))
    return result.kind === 'refused' ? result.error : null
  }
  if (wanted === 'clear') views.clear(userId)
  else views.close(userId)
  return null
}

function pickShortcut(parts: PeopleParts, use: Parameters<People['useShortcut']>[0]): Promise<Acknowledgement> {
  const { workspace } = parts
  const { triggerId, responseUrl } = ask(parts, originOf(use))
  const place = placeOf(workspace, getChannel(workspace, use.channel), use.ts)
  const { message, channel } = messageFields(workspace, place)
  return sendInteraction(parts, `shortcut ${use.callbackId}`, {
    ...interactionFields(workspace, 'message_action', getUser(workspace, use.user)),
    callback_id: use.callbackId,
    trigger_id: triggerId,
    response_url: responseUrl,
    message_ts: use.ts,
    action_ts: (workspace.clock.now() / 1_000).toFixed(6),
    channel,
    message,
  })
}

function mentionBot(parts: PeopleParts, words: Parameters<People['mentionBot']>[0]): Promise<Acknowledgement> {
  const { workspace } = parts
  const channel = getChannel(workspace, words.channel)
  const userId = getUser(workspace, words.user).id
  const text = `<@${workspace.bot.userId}> ${words.text}`
  const { ts } = postMessage(workspace, channel, { userId, text, threadTs: words.threadTs })
  return sendEvent(parts, {
    type: 'app_mention',
    user: userId,
    text,
    ts,
    ...(words.threadTs === undefined ? {} : { thread_ts: words.threadTs }),
    team: workspace.team.id,
    channel: channel.id,
    event_ts: ts,
  })
}

function openHome(parts: PeopleParts, userId: string): Promise<Acknowledgement> {
  const { workspace, views } = parts
  const user = getUser(workspace, userId).id
  const view = views.home(userId)
  const eventTs = (workspace.clock.now() / 1_000).toFixed(6)
  const channel = `D${userId.slice(1)}`
  const event = { type: 'app_home_opened', user, channel, tab: 'home', event_ts: eventTs, ...(view ? { view } : {}) }
  return sendEvent(parts, event)
}

function sendEvent(
  parts: PeopleParts,
  event: Json,
  { eventId, retryNum }: { eventId?: string; retryNum?: number } = {},
): Promise<Acknowledgement> {
  const retry = { 'x-slack-retry-num': String(retryNum), 'x-slack-retry-reason': 'http_timeout' }
  const envelope = eventEnvelope(parts.workspace, event, eventId)
  return sendJson(parts, `event ${String(event['type'])}`, envelope, retryNum === undefined ? {} : retry)
}

const sendInteraction = ({ sender }: PeopleParts, what: string, payload: Json): Promise<Acknowledgement> =>
  sender.send({ what, contentType: FORM, body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString() })

const sendJson = (
  { sender }: PeopleParts,
  what: string,
  body: Json,
  headers: Record<string, string> = {},
): Promise<Acknowledgement> =>
  sender.send({ what, contentType: 'application/json', body: JSON.stringify(body), headers })

function getUser(workspace: Workspace, id: string): User {
  const user = workspace.users.get(id)
  if (!user) throw new Error(`the sandbox has no user ${id}`)
  return user
}
