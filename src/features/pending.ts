import type { Asked } from '../domain/interaction.ts'
import { parseRunRef } from '../domain/request.ts'
import { toLine } from '../lib/escape.ts'
import { ACTION_WORDS } from '../slack/messages/asked.ts'
import { ACTION_IDS, CHOICE_ACTION_IDS, HOME_ACTION_IDS, SUBSCRIPTION_ACTION_IDS } from '../slack/messages/ids.ts'
import { cut } from '../slack/messages/limits.ts'
import { TYPED_CHARS_MAX } from '../slack/messages/typed.ts'
import { parseChoice } from './values.ts'
import { askerOf, listAt, textAt, threadOf, userOf } from './body.ts'
import { isByBot } from './mention.ts'
import { SHORTCUTS } from './shortcuts.ts'
import { formOf } from './forms.ts'

/** What somebody asks with this, and where they wait for an answer; null: nobody waits for one. */
export function askedIn(body: unknown, receivedAt: number): Asked | null {
  const what = whatIn(body)
  const user = userOf(body)
  if (what === null || user === null) return null
  const { askKey, channel } = askerOf(body, 'button')
  return {
    askKey,
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

function whatIn(body: unknown): string | null {
  if (isCommand(body)) return `${textAt(body, 'command')} ${textAt(body, 'text') ?? ''}`
  if (textAt(body, 'event', 'type') === 'app_mention') return isByBot(body) ? null : mentionIn(body)
  switch (textAt(body, 'type') ?? '') {
    case 'block_actions':
      return clickIn(body)
    case 'view_submission':
      return formOf(body)?.what ?? null
    case 'shortcut':
    case 'message_action':
      return SHORTCUTS.find(({ callbackId }) => callbackId === textAt(body, 'callback_id'))?.name ?? 'a shortcut'
    default:
      return null
  }
}

/** Without the mentions: whom they name is not shown as typed. */
const mentionIn = (body: unknown): string =>
  `@buildline ${(textAt(body, 'event', 'text') ?? '').replaceAll(/<@[^>]*>/g, ' ')}`

const CHOICE_IDS: ReadonlySet<string> = new Set(CHOICE_ACTION_IDS)

function clickIn(body: unknown): string | null {
  const [action] = listAt(body, 'actions')
  const id = textAt(action, 'action_id')
  // A link button opens its address by itself.
  if (!action || id === ACTION_IDS.open) return null
  if (id === SUBSCRIPTION_ACTION_IDS.remove) return 'unsubscribe'
  if (id === HOME_ACTION_IDS.mentions) return 'me mentions'
  // A choice asks the command again.
  if (CHOICE_IDS.has(id ?? '')) return parseChoice(textAt(action, 'value') ?? '')?.command ?? 'a click'
  const kind = id === ACTION_IDS.stop ? 'stop' : id === ACTION_IDS.restart ? 'restart' : null
  const ref = parseRunRef(textAt(action, 'value') ?? '')
  return kind && ref ? `${ACTION_WORDS[kind]} of #${ref.buildId}` : 'a click'
}
