// Actions of people: reads them from typed text, and puts their errors into words.
import { withMentions } from './mentions.ts'
import type { Mention } from './mentions.ts'
import type { Channel, Option } from './wire.ts'

export type Deed = { kind: string; user: string } & Record<string, unknown>

/** The fields of the sandbox's answer that the page uses. */
export interface Outcome {
  kind?: string
  what?: string
  ok?: boolean
  error?: string
  status?: number
  refusal?: string
  because?: string
  ts?: string
  errors?: Record<string, string>
  options?: Option[]
  /** the channel that was opened */
  channel?: Channel
}

/** The channel or thread in which a person types. */
export interface TypedAt {
  user: string
  channel: string
  threadTs?: string
}

/** Slack's clients escape these three characters, also in the text of commands. */
const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const escapeTyped = (text: string): string => text.replaceAll(/[&<>]/g, (one) => ESCAPED[one] ?? one)

/**
 * Reads typed text: `{ deed }`, or `{ trouble }` for something that Slack does not do; null for an empty text. Replaces
 * the names in `mentions` by ids, in messages and in the text of commands that are `escaped`.
 */
export function readTyped(
  typed: string,
  { user, channel, threadTs }: TypedAt,
  botName: string,
  known: { mentions?: readonly Mention[]; escaped?: ReadonlySet<string> } = {},
): { deed: Deed } | { trouble: string } | null {
  if (typed.trim() === '') return null
  const text = escapeTyped(typed.trimEnd())
  const { mentions = [], escaped } = known
  const [, command, rest = ''] = /^(\/\S+)\s*([\s\S]*)$/.exec(text) ?? []
  if (command === undefined) {
    const said = withMentions(text, mentions, 'told')
    return { deed: { kind: 'say', user, channel, text: said, ...(threadTs ? { threadTs } : {}) } }
  }
  if (threadTs) return { trouble: `Slack runs no commands in threads. Write @${botName} and what it should do.` }
  const told = escaped?.has(command) ? withMentions(rest, mentions, 'inCommand') : rest
  return { deed: { kind: 'command', user, channel, command, text: told } }
}

/** A sentence that says what went wrong; null if nothing did. */
export function troubleOf(outcome: Outcome, botName: string): string | null {
  const { kind, what, status, refusal } = outcome
  if (outcome.ok === false) return `That did not work: ${outcome.error}.`
  if (kind === 'late') return `${botName} did not answer in time (${what}).`
  if (kind === 'unreachable') return `${botName} cannot be reached (${what}).`
  if (refusal) return `Slack refuses what ${botName} answered: ${refusal} (${what}).`
  return kind === 'answered' && status !== 200 ? `${botName} answered with an error, ${status} (${what}).` : null
}

/** Whether the form has moved on before a click or a search in it arrived. Slack's clients drop it without a word. */
export const isTooLate = ({ kind }: Deed, status: number): boolean =>
  status === 404 && (kind === 'press' || kind === 'suggest')

/** Whether the message was posted even if the request to the bot failed, so that it need not be typed again. */
export const isSaid = (deed: Deed, status: number): boolean => deed.kind === 'say' && (status === 200 || status === 503)
