import { readLetters, type Letter, type Reference } from './letters.ts'

/** The most characters of a text that are read. A word that the limit cuts is not read: half a name is another name. */
export const TEXT_CHARS_MAX = 3_000
/** The most words; further ones are not read. */
export const WORDS_MAX = 50

/**
 * A word as it is meant, and what Slack linked it to if the whole word is one link or mention. Empty where something was
 * typed that says nothing, such as `""`: who leaves a name empty means none, and not any.
 */
export interface Word extends Reference {
  text: string
}

/**
 * The words of what somebody typed after a slash command or a mention. `“acme web”@main` is one word: quotes of every
 * kind group, apostrophes do not. `<http://acme.web|acme.web>` is `acme.web`, `<#C0123ABC|builds>` is `#builds` with its id;
 * backticks around a word are taken off, and `—`, which keyboards make of `--`, is undone outside quotes.
 */
export const parseWords = (text: string): Word[] =>
  [...spansOf(readLetters(readable(text)))].map(wordOf).slice(0, WORDS_MAX)

/**
 * The same, with `CUT` as the last word where not all was read: `stop project branch…` without its branch would be another
 * target, and nothing is done on a guess.
 */
export function parseTyped(text: string): Word[] {
  const words = parseWords(text)
  return text.length > TEXT_CHARS_MAX || words.length === WORDS_MAX ? [...words, CUT] : words
}

export const CUT: Word = { text: '…' }

function readable(text: string): string {
  if (text.length <= TEXT_CHARS_MAX) return text
  let end = TEXT_CHARS_MAX
  while (end > 0 && !BLANK.test(text[end] ?? '')) end -= 1
  return text.slice(0, end)
}

const BLANK = /^\s$/u

function wordOf(span: readonly Letter[]): Word {
  const text = span.map((letter) => letter.text).join('')
  return { text: text.replace(/\s+/gu, ' ').trim(), ...(span.length === 1 ? span[0]?.reference : null) }
}

/** The letters of each word, without what only grouped them. */
function* spansOf(letters: readonly Letter[]): Generator<Letter[]> {
  const findClosing = closings(letters)
  for (let at = 0; at < letters.length; at += 1) {
    // Inline code around a word.
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
 * Finds where the quote that opens at a place closes: a double one at the next double one, for keyboards mix them; a
 * single one where a word ends, for within it is an apostrophe. Where none closes, no later one does: asked only once.
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
