/** The longest handle that can be claimed, in characters. */
export const HANDLE_CHARS_MAX = 100

/** A committer's name as it is kept and compared: case and outer blanks do not matter. */
export const normalHandle = (text: string): string => text.trim().toLowerCase()

/**
 * Whether a committer's name can be one person's. `bot` and `no-reply`: commits carry it no matter who wrote them, so a
 * mention would reach a wrong person. `not-a-handle`: what no commit is made under.
 */
export type Claimable =
  | { kind: 'ok'; /** in its normal form */ handle: string }
  | { kind: 'no'; why: 'empty' | 'too-long' | 'bot' | 'no-reply' | 'not-a-handle' }

/** Can somebody claim this committer name? A name such as `abbot` or `ci-bot` can be a person's; `x[bot]` cannot. */
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

/** In code points; a long text is not taken apart to find out. */
const isAtMost = (max: number, text: string): boolean => text.length <= 2 * max && Array.from(text).length <= max

// Control, line and direction-changing characters, fillers, half characters: none can be seen, and so none be checked.
const UNTYPABLE = /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]/u
// What Slack makes of a mention or an address: it has to be read before, where it comes from.
const MARKUP = /^<.*>$/
const SAYS_SOMETHING = /[\p{L}\p{N}]/u

const isBot = (name: string): boolean => name === 'bot' || name.endsWith('[bot]')

const isNoReply = (name: string, host: string): boolean =>
  NO_REPLY.test(name.split('+')[0] ?? '') || host.split('.').some((label) => NO_REPLY.test(label))

const NO_REPLY = /^(?:no[-_.]?reply|do[-_.]?not[-_.]?reply)$/
