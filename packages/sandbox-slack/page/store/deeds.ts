// What a person does by hand: read from what they typed, told to the sandbox, and what came of it in words.
import { withMentions } from './mentions.ts'
import type { Mention } from './mentions.ts'
import type { Channel, Option } from './wire.ts'

export type Deed = { kind: string; user: string } & Record<string, unknown>

/** How the sandbox answers, as far as the page looks at it. */
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
  /** the one that was opened */
  channel?: Channel
}

/** Where something is typed. */
export interface TypedAt {
  user: string
  channel: string
  threadTs?: string
}

/** Slack's clients send these three characters so, and the commands' texts too. */
const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const escapeTyped = (text: string): string => text.replaceAll(/[&<>]/g, (one) => ESCAPED[one] ?? one)

/**
 * What a typed text means at this place: `{ deed }`, or `{ trouble }` for what Slack does not do; null for nothing.
 * Names mean somebody where `mentions` knows them: in what is said, and after the commands that are `escaped`.
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

/** What went wrong, in a sentence; null when nothing did. */
export function troubleOf(outcome: Outcome, botName: string): string | null {
  const { kind, what, status, refusal } = outcome
  if (outcome.ok === false) return `That did not work: ${outcome.error}.`
  if (kind === 'late') return `${botName} did not answer in time (${what}).`
  if (kind === 'unreachable') return `${botName} cannot be reached (${what}).`
  if (refusal) return `Slack refuses what ${botName} answered: ${refusal} (${what}).`
  return kind === 'answered' && status !== 200 ? `${botName} answered with an error, ${status} (${what}).` : null
}

/** Whether the words are in the channel although it went wrong, so that they need not be typed again. */
export const isSaid = (deed: Deed, status: number): boolean => deed.kind === 'say' && (status === 200 || status === 503)
