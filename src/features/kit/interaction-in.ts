import type { ReceiverEvent } from '@slack/bolt'
import type { ReceivedInteraction } from '../../domain/interaction.ts'
import { toLine } from '../../lib/escape.ts'
import { isRecord } from '../../lib/json.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import { COMMAND_CHARS_MAX } from '../../slack/commands/parse.ts'
import { TYPED_CHARS_MAX } from '../../slack/messages/answer.ts'
import { ACTION_IDS } from '../../slack/messages/ids.ts'
import { cut } from '../../slack/messages/limits.ts'
import { bodyDigest, channelOf, listAt, requesterOf, textAt, threadOf, userOf } from './body.ts'
import { REQUESTS_KEPT_MS } from './pending-interactions.ts'
import type { Registry } from './registry.ts'

// Reads a body from Slack before it is handled: its kind, its keys, and the person's interaction.

/**
 * A key that is equal when Slack repeats an interaction: for a mention the message, since each edit of it has its own
 * event id; else the event's id or the trigger, which a repetition shares; else the signature; in Socket Mode, which
 * has no signatures, a digest of the body. Null for a menu's options: the same text may be typed again.
 */
export function requestKeyOf({ body, customProperties }: ReceiverEvent): string | null {
  if (isMention(body)) return `mention:${textAt(body, 'event', 'channel')}:${textAt(body, 'event', 'ts')}`
  const key = textAt(body, 'event_id') ?? textAt(body, 'trigger_id') ?? textAt(customProperties, 'signature')
  if (key !== null) return key
  return textAt(body, 'type') === 'block_suggestion' ? null : `body:${bodyDigest(body)}`
}

/** A key that is equal when the same person presses the same button again; null: this is not a button. */
export function clickKeyOf(body: unknown): string | null {
  const [action] = listAt(body, 'actions')
  if (textAt(action, 'type') !== 'button') return null
  // A view that was redrawn since the first press asks a new question, even if its buttons have the same values.
  const seen = [
    ['container', 'message_ts'],
    ['view', 'id'],
    ['view', 'hash'],
  ].map((path) => textAt(body, ...path))
  const pressed = { user: userOf(body), channel: channelOf(body), seen, id: textAt(action, 'action_id') }
  return `click:${bodyDigest({ ...pressed, value: textAt(action, 'value') })}`
}

/** A field of an open form. It need not be stored: it does nothing yet, and is outdated later. */
export const isField = ({ fields }: Registry, body: unknown): boolean =>
  fields.has(textAt(listAt(body, 'actions')[0], 'action_id') ?? '')

/** Slack's own name for the interaction, never typed text. */
export function kindOf(body: unknown): string {
  const kind = textAt(body, 'event', 'type') ?? textAt(body, 'type') ?? 'unnamed'
  return /^[a-z_.]{1,40}$/.test(kind) ? kind : 'unnamed'
}

/** A person's interaction, and where they expect the answer; null: no answer is expected. */
export function interactionIn(registry: Registry, body: unknown, receivedAt: number): ReceivedInteraction | null {
  const what = whatIn(registry, body, receivedAt)
  const user = userOf(body)
  if (what === null || user === null) return null
  const { interactionKey, channel } = requesterOf(body, 'button')
  return {
    interactionKey,
    user,
    what: cut(toLine(what), TYPED_CHARS_MAX),
    channel,
    threadTs: threadOf(body),
    responseUrl: textAt(body, 'response_url'),
    receivedAt,
  }
}

export const isSubmission = (body: unknown): boolean => textAt(body, 'type') === 'view_submission'

export const isCommand = (body: unknown): boolean => textAt(body, 'command') !== null

const isMention = (body: unknown): boolean => textAt(body, 'event', 'type') === 'app_mention'

/**
 * Messages by bots are ignored, or two bots could answer each other forever. Slack marks them in one of these ways. A
 * bot that looks like a person is recognized by its account (`answerMention`).
 */
const isByBot = (body: unknown): boolean =>
  BOT_MARKS.some((mark) => textAt(body, 'event', mark) !== null) ||
  isRecord(fieldOf(fieldOf(body, 'event'), 'bot_profile')) ||
  textAt(body, 'event', 'subtype') === 'bot_message' ||
  userOf(body) === 'USLACKBOT'

const BOT_MARKS = ['bot_id', 'app_id', 'username'] as const

/** An edit of a message whose key may be forgotten, so it is unknown whether its mention was already handled. */
const isLateEdit = (body: unknown, now: number): boolean =>
  textAt(body, 'event', 'edited', 'ts') !== null && Number(textAt(body, 'event', 'ts')) * 1_000 < now - REQUESTS_KEPT_MS

function whatIn(registry: Registry, body: unknown, now: number): string | null {
  if (isCommand(body)) return `${textAt(body, 'command')} ${readOf(textAt(body, 'text'))}`
  if (isMention(body)) return isByBot(body) || isLateEdit(body, now) ? null : mentionIn(body)
  switch (textAt(body, 'type') ?? '') {
    case 'block_actions':
      return clickIn(registry, body)
    case 'view_submission':
      return registry.forms.get(textAt(body, 'view', 'callback_id') ?? '')?.what ?? null
    case 'shortcut':
    case 'message_action':
      return registry.shortcuts.get(textAt(body, 'callback_id') ?? '')?.name ?? 'a shortcut'
    default:
      return null
  }
}

/** Without mentions, which arrive as ids and not as the person typed them. */
const mentionIn = (body: unknown): string =>
  `@buildline ${readOf(textAt(body, 'event', 'text')).replaceAll(/<@[^<>]*>/g, ' ')}`

/** The part of a typed text that is read. */
const readOf = (text: string | null): string => (text ?? '').slice(0, COMMAND_CHARS_MAX)

function clickIn({ buttons }: Registry, body: unknown): string | null {
  const [action] = listAt(body, 'actions')
  const id = textAt(action, 'action_id') ?? ''
  // A link button opens its address by itself.
  if (!action || id === ACTION_IDS.open) return null
  return buttons.get(id)?.describe?.(textAt(action, 'value') ?? '') ?? 'a click'
}
