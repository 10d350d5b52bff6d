import { plainName } from '../lib/escape.ts'

/** The longest handle that can be claimed, in characters. */
export const HANDLE_CHARS_MAX = 100

/** A committer's name as it is stored and compared: plain quotes and dashes, lower case, no punctuation at its end. */
export const normalHandle = (text: string): string => plainName(text).toLowerCase()

/**
 * Whether a committer's name can belong to one person. `bot` and `no-reply`: many people commit under it, so a mention
 * would reach the wrong person. `not-a-handle`: no commit has such a committer.
 */
export type Claimable =
  | { kind: 'ok'; /** in its normal form */ handle: string }
  | { kind: 'no'; why: 'empty' | 'too-long' | 'bot' | 'no-reply' | 'not-a-handle' }

/** Whether a person can claim this committer name. `abbot` or `ci-bot` may be a person's; `x[bot]` cannot. */
export function claimable(text: string): Claimable {
  const handle = normalHandle(text)
  if (handle === '') return no('empty')
  if (!isAtMost(HANDLE_CHARS_MAX, handle)) return no('too-long')
  if (UNTYPABLE.test(handle) || MARKUP.test(handle) || !SAYS_SOMETHING.test(handle)) return no('not-a-handle')
  const [name = '', host = ''] = handle.split('@')
  if (isBot(name)) return no('bot')
  return isNoReply(name, host) ? no('no-reply') : { kind: 'ok', handle }
}

const no = (why: Extract<Claimable, { kind: 'no' }>['why']): Claimable => ({ kind: 'no', why })

/** Counts code points. The first comparison avoids splitting a long text. */
const isAtMost = (max: number, text: string): boolean => text.length <= 2 * max && Array.from(text).length <= max

// Control characters, line ends, direction marks, fillers, lone surrogates: people cannot see them to check them.
const UNTYPABLE = /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]/u
// Slack's markup for a mention or an email address. The code that receives it from Slack has to decode it before.
const MARKUP = /^<.*>$/
const SAYS_SOMETHING = /[\p{L}\p{N}]/u

const isBot = (name: string): boolean => name === 'bot' || name.endsWith('[bot]')

const isNoReply = (name: string, host: string): boolean =>
  NO_REPLY.test(name.split('+')[0] ?? '') || host.split('.').some((label) => NO_REPLY.test(label))

const NO_REPLY = /^(?:no[-_.]?reply|do[-_.]?not[-_.]?reply)$/

/** What identifies the author of a commit when looking for them in Slack. At least one field is set. */
export interface Author {
  /** in lower case */
  email: string | null
  /** the name of their account at the source, in lower case */
  login: string | null
}

/** Null for bots, and if neither the address nor the login identifies one person (such as a no-reply address). */
export function authorOf({ name, email, login }: Record<'name' | 'email' | 'login', string | null>): Author | null {
  if ([name, email, login].some((said) => said !== null && BOT.test(said))) return null
  const own = { email: ownOf(email), login: ownOf(login) }
  const author = { ...own, email: own.email !== null && ADDRESS.test(own.email) ? own.email : null }
  return author.email === null && author.login === null ? null : author
}

const BOT = /\[bot\]|(?:^|@)dependabot\b/i
const ADDRESS = /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/

function ownOf(said: string | null): string | null {
  const read = claimable(said ?? '')
  return read.kind === 'ok' ? read.handle : null
}
