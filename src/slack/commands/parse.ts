import { isChannelId, type ChannelId } from '../../domain/ids.ts'

/** The most characters of a text that are read. A word that this limit cuts is dropped: half a name is another name. */
export const COMMAND_CHARS_MAX = 3_000
/** The most words that are read. */
export const WORDS_MAX = 50

/**
 * A word as the person meant it, and what it refers to if the whole word is one link or mention. `text` is empty for an
 * empty word such as `""`: it stands for no name, not for any name.
 */
export interface Word extends Reference {
  text: string
}

/**
 * The words of what somebody typed after a slash command or a mention. Quotes of every kind group, so `“acme web”@main`
 * is one word; apostrophes do not. `<http://acme.web|acme.web>` is `acme.web`, `<#C0123ABC|builds>` is `#builds` with
 * its id. Backticks around a word are removed. Outside quotes `—` becomes `--` again, since keyboards change that.
 */
export const parseWords = (text: string): Word[] =>
  [...spansOf(readLetters(readable(text)))].map(wordOf).slice(0, WORDS_MAX)

/**
 * Like `parseWords`, with `CUT` as the last word if not all was read. `stop project branch…` without its branch would
 * name another target, and nothing must be done on a guess.
 */
export function parseTyped(text: string): Word[] {
  const words = parseWords(text)
  return text.length > COMMAND_CHARS_MAX || words.length === WORDS_MAX ? [...words, CUT] : words
}

/**
 * A pasted text as it was typed, with its lines. Replaces links by labels, decodes entities, drops invisible letters.
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

function wordOf(span: readonly Letter[]): Word {
  const text = span.map((letter) => letter.text).join('')
  return { text: text.replace(/\s+/gu, ' ').trim(), ...(span.length === 1 ? span[0]?.reference : null) }
}

/** The letters of each word, without the quotes and backticks around it. */
function* spansOf(letters: readonly Letter[]): Generator<Letter[]> {
  const findClosing = closings(letters)
  for (let at = 0; at < letters.length; at += 1) {
    // Skip the backticks of inline code.
    while (isOneOf('`', letters[at])) at += 1
    const closing = findClosing(at)
    const quoted = closing === null ? [] : letters.slice(at + 1, closing)
    const isStray = closing === null && isOneOf(DOUBLE, letters[at])
    const from = closing === null ? at + Number(isStray) : closing + 1
    at = endOfWord(letters, from)
    const span = [...quoted, ...plain(letters.slice(from, at))]
    if (span.length > 0 || closing !== null) yield span
  }
}

const DOUBLE = '"“”„‟«»'
const SINGLE = "'‘’‚‛"

const isOneOf = (characters: string, letter: Letter | undefined): boolean =>
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

function plain(span: readonly Letter[]): Letter[] {
  const end = span.findLastIndex((letter) => !isOneOf('`', letter)) + 1
  return span.slice(0, end).map((letter) => (isOneOf('—', letter) ? { ...letter, text: '--' } : letter))
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
  reference: Reference | null
}

/**
 * Splits a text from Slack into letters: `<…>` is a reference; `&amp;`, `&lt;` and `&gt;` are decoded; invisible
 * characters are removed. Takes linear time.
 */
export const readLetters = (text: string): Letter[] =>
  [...withoutInvisible(text).matchAll(LETTER)].map(([typed, inner]) =>
    inner === undefined ? { text: decodeEntities(typed), reference: null } : readReference(inner),
  )

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

/** The number of minutes in `30m`, of hours in `4h`, or of days in `30d`; null if the word is no such amount. */
export function amountOf(word: string, unit: 'm' | 'h' | 'd'): number | null {
  const [, digits] = new RegExp(`^(\\d{1,4})${unit}$`, 'i').exec(word) ?? []
  return digits === undefined ? null : Number(digits)
}
