// Escapes outside text for Slack: markup in a commit message or a branch name is shown and never takes effect.

/**
 * Outside text as one line: white space becomes one blank, invisible fillers are removed; lone surrogates, control and
 * direction-changing characters become `�`. Names in any script stay as they are. Not yet safe as markup.
 */
export const toLine = (text: string): string =>
  text.toWellFormed().replace(BREAKS, ' ').replace(FILLERS, '').replace(UNSHOWABLE, '\u{fffd}').trim()

const BREAKS = /[\s\u0085]+/gu
// Soft hyphen, zero-width space, word joiner and others. U+200C and U+200D stay: scripts and emoji need them.
const FILLERS = /[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff]/gu
const UNSHOWABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu

/**
 * Text for a terminal: each control and format character except the line feed is written as `\uXXXX`, so that outside
 * text cannot overwrite or reverse what is shown. JSON keeps its meaning.
 */
export const forTerminal = (text: string): string =>
  text.replaceAll(INVISIBLE, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  )

const INVISIBLE = /[^\P{Cc}\n]|\p{Cf}/gu

/** The first line that is not blank, by `toLine`; empty if there is none. */
export const firstLine = (text: string): string => {
  for (const line of text.split(LINE_ENDS)) {
    const shown = toLine(line)
    if (shown !== '') return shown
  }
  return ''
}

const LINE_ENDS = /[\r\n\v\f\u0085\u2028\u2029]+/u

/** Outside text for a `mrkdwn` object or a message's `text`, without any mention, link, format, quote or emoji. */
export function escapeMrkdwn(text: string): string {
  const line = withoutBackticks(toLine(text))
  const inert = line.replace(MARKS, `${INERT}$&${INERT}`).replace(COLONS, `:${INERT}`).replace(QUOTE, INERT)
  return escapeEntities(isolate(inert))
}

// Slack has no escape for * _ ~. They take effect only at the edge of a word, so a soft hyphen, which is invisible and
// counts as a letter, disables them. A zero-width space would not: Slack treats it as the edge of a word.
const INERT = '\u00ad'
// An underscore within a word, as in `my_project`, has no effect.
const MARKS = /[*~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu
// `:tada:` and `https://…`; a colon before a blank has no effect.
const COLONS = /:(?=\S)/gu
const QUOTE = /^(?=>)/u

/** Outside text as a code span, in which Slack reads no markup except the backtick. Empty for empty text. */
export function codeSpan(text: string): string {
  const line = withoutBackticks(toLine(text))
  return line === '' ? '' : `\`${escapeEntities(isolate(line))}\``
}

/** Lines of outside text as a code block; no line can close the block. */
export const codeBlock = (lines: readonly string[]): string =>
  ['```', ...lines.map((line) => escapeEntities(isolate(withoutBackticks(toLine(line))))), '```'].join('\n')

/** Outside text for a `plain_text` object with `emoji: false`. Breaks up entities, which Slack decodes even there. */
export const escapePlain = (text: string): string => isolate(toLine(text).replace(/&(?=(?:amp|lt|gt);)/gu, `&${INERT}`))

/** A backtick ends a code span anywhere, and cannot be disabled. So a look-alike replaces it. */
const withoutBackticks = (line: string): string => line.replaceAll('`', '\u02cb')

/** Escapes the three characters that Slack's markup reserves. */
const escapeEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Isolates right-to-left text, so that it cannot reorder the text around it. */
const isolate = (line: string): string => (RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line)

const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/**
 * A URL that is safe to link to: absolute http(s), normalized, without credentials and without a character that could
 * end a `<url|text>`. Null for anything else, and for a URL longer than `charsMax`: a truncated link would be wrong. So
 * would one with white space, line breaks included, or control characters: URL parsers leave them out, or encode them.
 */
export function httpUrl(text: string | null, charsMax: number): string | null {
  const address = text?.trim() ?? ''
  if (address.length > charsMax || BLANK_OR_CONTROL.test(address)) return null
  const url = URL.parse(address)
  if (url === null) return null
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  url.username = ''
  url.password = ''
  const safe = url.href.replace(/[|<>`"\s\\^{}]/gu, encodeURIComponent)
  return safe.length > charsMax ? null : safe
}

const BLANK_OR_CONTROL = /[\s\p{Cc}]/u

/** `<url|label>`; `label` is markup already. Only the label if the URL is not safe or is longer than `charsMax`. */
export function mrkdwnLink(text: string | null, label: string, charsMax: number): string {
  const url = httpUrl(text, charsMax)
  const target = url === null ? null : escapeEntities(url)
  return target === null || target.length > charsMax ? label : `<${target}|${label}>`
}

/** A secret as it is, and as an address, a form or JSON contains it. */
export const writtenForms = (secret: string): string[] => [
  ...new Set([
    secret,
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ]),
]

/** Percent-decoded, if it can be. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * A text with the letters of a plain keyboard in place of what phones, word processors and input methods make of them:
 * apostrophes and quotes of every kind, dashes (`—` is two), spaces, and full-width forms.
 */
export const plain = (text: string): string =>
  text.replace(OTHER, (letter) => {
    const place = KINDS.findIndex(([kind]) => kind.test(letter))
    return place < 0 ? String.fromCharCode(letter.charCodeAt(0) - FULL_WIDTH) : KINDS[place]![1]
  })

/** A name in one form: plain, with single blanks, and without blanks and punctuation at its end. */
export function plainName(text: string): string {
  const name = plain(text).replaceAll(/ +/g, ' ').trim()
  let end = name.length
  while (end > 1 && /[\s.,;:…!?]/u.test(name[end - 1]!)) end -= 1
  return name.slice(0, end)
}

const KINDS = [
  [/[‘’‚‛ʼ′‵´]/u, "'"],
  [/[“”„‟«»″‶＂]/u, '"'],
  [/—/u, '--'],
  [/[‐‑‒–―−﹘﹣]/u, '-'],
  [/\s/u, ' '],
] as const

/** U+FF01 to U+FF5E repeat ASCII. */
const FULL_WIDTH = 0xfe_e0
const OTHER = /[‘’‚‛ʼ′‵´“”„‟«»″‶—‐‑‒–―−﹘﹣\uff01-\uff5e]|[^\S \n\r\t\u2028\u2029]/gu

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text, with a byte order mark if it begins with one; null if it is not UTF-8. */
export function utf8Of(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}
