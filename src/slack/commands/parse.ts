import { plain } from '../../lib/escape.ts'
import { isChannelId, type ChannelId } from '../../domain/ids.ts'

/**
 * The most characters of a text that are read. A word that is cut by this limit is dropped: half a name could be
 * another one.
 */
export const COMMAND_CHARS_MAX = 3_000
/** The most words that are read. */
export const WORDS_MAX = 50

/**
 * A word as the person meant it, and what it refers to if the whole word is one link or mention. `text` is empty for an
 * empty word such as `""`, which means no name at all, not any name.
 */
export interface Word extends Reference {
  text: string
  /** the word as typed, if marks were removed from it: some values really end in one */
  typed?: string
}

/**
 * The words that a person typed, without what Slack, phones and habits add: bold, italic, strike, code and quote marks,
 * closing punctuation and brackets, full-width letters. Apostrophes and quotes of every kind are `'` and `"`, dashes
 * are `-`; but `—` is `--`, since keyboards change that. Quotes group, so `“acme web”@main` is one word; apostrophes do
 * not. A word in quotes keeps its marks: `"main,"` is a branch with a comma. `<http://acme.web|acme.web>` is `acme.web`,
 * `<#C0123ABC|builds>` is `#builds` with its id.
 */
export const parseWords = (text: string): Word[] => wordsIn(readLetters(readable(text)))

const wordsIn = (letters: readonly Letter[]): Word[] => [...wordsOf(letters)].slice(0, WORDS_MAX)

/** A name that was typed into a field of a form, read like a word. Slack sends fields as they are, without references. */
export const parseName = (text: string): string =>
  textOf(peeled(Array.from(withoutInvisible(text), plainLetter)), (letter) => letter.text)

/**
 * Like `parseWords`, with `CUT` as the last word if the text was too long. `stop project branch…` without its branch
 * would name another target, and the bot must not guess.
 */
export const parseTyped = (text: string): Word[] => marked(text, wordsIn(readLetters(readable(text))))

/** The same for a whole line, which begins with a command's name: also removes marks around the line. */
export const parseLine = (text: string): Word[] => marked(text, wordsIn(unwrapped(readLetters(readable(text)))))

/**
 * The line after the first mention of us; the whole line if there is none. Text before it is not for us. People write
 * `@buildline: stop` and `*@buildline stop*`.
 */
export function parseMention(text: string, isOurs: (userId: string) => boolean): Word[] {
  const letters = readLetters(readable(text))
  const at = letters.findIndex(({ reference }) => reference?.userId !== undefined && isOurs(reference.userId))
  const after = letters.slice(at + 1)
  const begin = after.findIndex((letter) => !isOneOf(AFTER_MENTION, letter))
  const line = trimmed(begin < 0 ? [] : after.slice(begin))
  const [before, end] = [letters[at - 1], line.findLastIndex((letter) => !isOneOf(PUNCTUATION, letter))]
  const isOpen = isPair(before, line[end]) && !isPair(before, after[0]) && !isOneOf(before!.text, line[0])
  return marked(text, wordsIn(unwrapped(isOpen ? line.slice(0, end) : line)))
}

function marked(text: string, words: Word[]): Word[] {
  return text.length > COMMAND_CHARS_MAX || words.length === WORDS_MAX ? [...words, CUT] : words
}

/**
 * A pasted text, with its lines. Replaces links by labels and other letters by plain ones, decodes entities, drops
 * invisible letters.
 */
export const typedText = (text: string): string =>
  readLetters(text)
    .map((letter) => letter.text)
    .join('')

export const CUT: Word = { text: '…' }

function readable(text: string): string {
  if (text.length <= COMMAND_CHARS_MAX) return text
  let end = COMMAND_CHARS_MAX
  while (end > 0 && !BLANK.test(text[end] ?? '')) end -= 1
  return text.slice(0, end)
}

const BLANK = /^\s$/u

/** @param own the part of it that counts */
function wordOf(span: readonly Letter[], own: readonly Letter[]): Word {
  const text = textOf(own, (letter) => letter.text)
  const typed = textOf(span, (letter) => letter.typed ?? letter.text)
  return { text, ...(typed !== text && { typed }), ...(own.length === 1 ? own[0]?.reference : null) }
}

const textOf = (span: readonly Letter[], of: (letter: Letter) => string): string =>
  span.map(of).join('').replace(/\s+/gu, ' ').trim()

const DOUBLE = '"'
const SINGLE = "'"
/** Slack's marks for bold, italic, strike and code. */
const MARKS = '*_~`'
const PUNCTUATION = '.,;:…!?。、'
const BRACKETS = ['()', '[]', '{}', '<>', '「」', '『』', '【】', '《》'] as const
const OPENING = BRACKETS.map(([opening]) => opening).join('')
const CLOSING = BRACKETS.map(([, closing]) => closing).join('')
const AROUND = `${MARKS}${DOUBLE}${SINGLE}${OPENING}${CLOSING}${PUNCTUATION}`
const AFTER_MENTION = `${MARKS}${CLOSING}${PUNCTUATION}`

/** The line without marks around all of it; of one word, `peeled` takes them off. */
function unwrapped(letters: readonly Letter[]): readonly Letter[] {
  const line = trimmed(letters)
  const end = line.findLastIndex((letter) => !isOneOf(PUNCTUATION, letter))
  const [first, last] = [line[0], line[end]]
  const inner = line.slice(1, Math.max(1, end))
  if (!isPair(first, last) || !inner.some(isBlank)) return line
  // `*stop* release/*`, and `"acme web" "my branch"`
  const isClosedBefore = isOneOf(last!.text, inner[inner.findIndex(isBlank) - 1])
  const isOpenedAgain = isOneOf(first!.text, inner[inner.findLastIndex(isBlank) + 1])
  const isQuote = isOneOf(DOUBLE + SINGLE, first)
  if (isClosedBefore || isOpenedAgain || (isQuote && inner.some((letter) => isOneOf(first.text, letter)))) return line
  return unwrapped(inner)
}

function trimmed(letters: readonly Letter[]): readonly Letter[] {
  const isVisible = (letter: Letter) => !isBlank(letter)
  const begin = letters.findIndex(isVisible)
  return begin < 0 ? [] : letters.slice(begin, letters.findLastIndex(isVisible) + 1)
}

/** A word without marks and quotes around it, closing punctuation, and brackets that close nothing in it. Quotes keep what is in them. */
function peeled(span: readonly Letter[]): readonly Letter[] {
  const references = span.filter(({ reference }) => reference !== null)
  if (references.length === 1 && span.every((one) => one.reference !== null || isOneOf(AROUND, one))) return references
  let [from, to] = [0, span.length]
  while (to - from > 1) {
    const [first, last] = [span[from]!, span[to - 1]!]
    if (isOneOf('^', first)) break
    const has = (letters: string, bracket: Letter) =>
      span.slice(from, to).some((one) => isOneOf(letters[CLOSING.indexOf(bracket.text)] ?? '', one))
    if (to - from > 2 && isPair(first, last)) {
      ;[from, to] = [from + 1, to - 1]
      if (isOneOf(DOUBLE, first)) break
    } else if (isOneOf(`${PUNCTUATION}\``, last) || (isOneOf(CLOSING, last) && !has(OPENING, last))) to -= 1
    else if (isOneOf(OPENING, first) && !span.slice(from, to).some((one) => isOneOf(closingOf(first), one))) from += 1
    else break
  }
  return span.slice(from, to)
}

const closingOf = ({ text }: Letter): string => CLOSING[OPENING.indexOf(text)] ?? ''

/** `*…*`, `"…"`, `(…)` */
const isPair = (first: Letter | undefined, last: Letter | undefined): boolean =>
  (isOneOf(MARKS + DOUBLE + SINGLE, first) && isOneOf(first.text, last)) ||
  (isOneOf(OPENING, first) && isOneOf(closingOf(first), last))

/** The words, without the quotes that group them. */
function* wordsOf(letters: readonly Letter[]): Generator<Word> {
  const findClosing = closings(letters)
  for (let at = 0; at < letters.length; at += 1) {
    // Skip the backticks of inline code.
    while (isOneOf('`', letters[at])) at += 1
    const begin = at
    while (isOneOf(MARKS + OPENING, letters[at])) at += 1
    const closing = findClosing(at)
    const [marks, quoted] = closing === null ? [[], []] : [letters.slice(begin, at), letters.slice(at + 1, closing)]
    if (closing === null) at = begin
    const isStray = closing === null && isOneOf(DOUBLE, letters[at])
    const from = closing === null ? at + Number(isStray) : closing + 1
    at = endOfWord(letters, from)
    const span = [...marks, ...quoted, ...letters.slice(from, at)]
    if (span.length > 0 || closing !== null) yield wordOf(span, span.length === quoted.length ? span : peeled(span))
  }
}

const isOneOf = (characters: string, letter: Letter | undefined): letter is Letter =>
  letter !== undefined && letter.reference === null && letter.text !== '' && characters.includes(letter.text)

const isBlank = (letter: Letter | undefined): boolean => letter?.reference === null && BLANK.test(letter.text)

function endOfWord(letters: readonly Letter[], from: number): number {
  let end = from
  while (end < letters.length && !isBlank(letters[end])) end += 1
  return end
}

/**
 * Finds where a quote closes: a double one at the next of any shape, since keyboards mix them; a single one at the end
 * of a word, since within a word it is an apostrophe. After one that does not close, later ones cannot either.
 */
function closings(letters: readonly Letter[]): (opening: number) => number | null {
  const closesSingle = (at: number) =>
    isOneOf(SINGLE, letters[at]) && (at + 1 === letters.length || isBlank(letters[at + 1]))
  const kinds = [
    { quotes: DOUBLE, isClosing: (at: number) => isOneOf(DOUBLE, letters[at]), closes: true },
    { quotes: SINGLE, isClosing: closesSingle, closes: true },
  ]
  return (opening) => {
    const kind = kinds.find(({ quotes, closes }) => closes && isOneOf(quotes, letters[opening]))
    if (!kind) return null
    for (let at = opening + 1; at < letters.length; at += 1) if (kind.isClosing(at)) return at
    kind.closes = false
    return null
  }
}

/** What a link or mention in the text refers to. */
interface Reference {
  /** http(s), as Slack sent it: not yet known to be safe */
  url?: string
  channelId?: ChannelId
  userId?: string
  groupId?: string
}

/** One typed character, or a whole reference. Blanks within a reference do not separate words. */
interface Letter {
  text: string
  /** as it was typed, if that is not the plain form */
  typed?: string
  reference: Reference | null
}

/**
 * Splits a text from Slack into letters: `<…>` is a reference; `&amp;`, `&lt;` and `&gt;` are decoded; invisible
 * characters are removed. Takes linear time.
 */
export const readLetters = (text: string): Letter[] =>
  [...withoutInvisible(text).matchAll(LETTER)].map(([typed, inner]) =>
    inner === undefined ? plainLetter(decodeEntities(typed)) : readReference(inner),
  )

function plainLetter(typed: string): Letter {
  if (typed < '\x7f') return { text: typed, reference: null }
  const text = plain(typed)
  return { text, ...(text !== typed && { typed }), reference: null }
}

const LETTER = /<([^<>]*)>|&(?:amp|lt|gt);|[\s\S]/gu

// Names copied from a card contain the soft hyphens and isolates that lib/escape inserted.
const INVISIBLE =
  /(?!\s)\p{Cc}|\p{Cs}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
// A joiner between letters of a script, or parts of an emoji, is part of the name. Elsewhere it is removed.
const STRAY_JOINER = /(?<![^\0-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f\u200c\u200d])/gu

const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '').replace(STRAY_JOINER, '')

const ENTITIES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
])
const decodeEntities = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES.get(entity) ?? '')

function readReference(inner: string): Letter {
  const [address = '', ...labels] = inner.split('|')
  const target = decodeEntities(address).trim()
  const label = decodeEntities(labels.join('|')).trim()
  const id = target.slice(1)
  switch (target.charAt(0)) {
    case '#':
      return { text: named('#', label || id), reference: isChannelId(id) ? { channelId: id } : null }
    case '@':
      return { text: named('@', label || id), reference: USER_ID.test(id) ? { userId: id } : null }
    case '!':
      return readSpecial(id, label)
    default:
      return readLink(target, label)
  }
}

const USER_ID = /^[UW][A-Z0-9]{2,20}$/
const GROUP_ID = /^S[A-Z0-9]{2,20}$/

const named = (sigil: string, name: string): string => (name.startsWith(sigil) ? name : sigil + name)

// `!subteam^S123`, `!here`, `!date^1700000000^…`
function readSpecial(what: string, label: string): Letter {
  const [kind = '', value = ''] = what.split('^')
  if (kind === 'date') return { text: label, reference: null }
  const isGroup = kind === 'subteam' && GROUP_ID.test(value)
  return { text: named('@', label || value || kind), reference: isGroup ? { groupId: value } : null }
}

// Slack links what looks like an address: `<http://acme.web|acme.web>`. The label is what was typed.
const readLink = (target: string, label: string): Letter => ({
  text: label || target.replace(/^(?:mailto|tel):/i, ''),
  reference: /^https?:\/\//i.test(target) && URL.canParse(target) ? { url: target } : null,
})

/** `acme/web@main`: the first `@` that is not the first character separates project and branch. */
export function partAt(text: string): [project: string, branch: string | null] {
  const at = text.indexOf('@', 1)
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
}

/** The number of minutes in `30m`, of hours in `4h`, or of days in `30d`; null if the word is not such an amount. */
export function amountOf(word: string, unit: 'm' | 'h' | 'd'): number | null {
  const [, digits] = new RegExp(`^(\\d{1,4})${unit}$`, 'i').exec(word) ?? []
  return digits === undefined ? null : Number(digits)
}
