// Finds where a part of a JSON text in UTF-8 ends, and checks it on the way: two megabytes take about 15 ms, whatever
// they hold. Each function gets where something begins and returns where it ends. It throws a SyntaxError if the text is
// no JSON there.

/** The deepest nesting that is read; CI's interface needs about six levels. */
export const JSON_DEPTH_MAX = 64

/** Throws a SyntaxError if this is not JSON as a whole, or nested deeper than `JSON_DEPTH_MAX`. */
export function checkJson(bytes: Uint8Array): void {
  const end = endOfValue(bytes, endOfBlanks(bytes, 0), 0)
  if (endOfBlanks(bytes, end) < bytes.length) throw notJson()
}

/** @param depth how many objects and lists the value is in */
export function endOfValue(bytes: Uint8Array, at: number, depth: number): number {
  const first = byteAt(bytes, at)
  return first === OPEN_OBJECT || first === OPEN_LIST ? endOfNested(bytes, at, depth, depth) : endOfSingle(bytes, at)
}

/** Of a list that is open at this depth, from one of its items on. */
export function endOfItems(bytes: Uint8Array, at: number, depth: number): number {
  opened[depth] = OPEN_LIST
  return endOfNested(bytes, at, depth - 1, depth)
}

/** Of the name of a field, with its quotes. */
export function endOfName(bytes: Uint8Array, at: number): number {
  if (byteAt(bytes, at) !== QUOTE) throw notJson()
  return endOfString(bytes, at)
}

/** Of the colon behind a name, and of the blanks around it. */
export function endOfColon(bytes: Uint8Array, from: number): number {
  const at = endOfBlanks(bytes, from)
  if (byteAt(bytes, at) !== COLON) throw notJson()
  return endOfBlanks(bytes, at + 1)
}

export const endOfBlanks = (bytes: Uint8Array, at: number): number => endOf(BLANK, bytes, at)

function endOfString(bytes: Uint8Array, from: number): number {
  let at = endOf(PLAIN, bytes, from + 1)
  while (byteAt(bytes, at) === BACKSLASH) {
    at = ESCAPED[byteAt(bytes, at + 1)] === 1 ? at + 2 : endOfUnicode(bytes, at)
    at = endOf(PLAIN, bytes, at)
  }
  if (byteAt(bytes, at) !== QUOTE) throw notJson()
  return at + 1
}

/** A byte; 0 behind the end. A read behind the end itself would make every later read slow. */
export const byteAt = (bytes: Uint8Array, at: number): number => (at < bytes.length ? bytes[at]! : 0)

// The parser's own message quotes the text, and the text may hold a secret.
export const notJson = () => new SyntaxError('the text is not JSON')

export const tooDeep = () => new SyntaxError('the JSON is nested too deep')

/** The bracket that is open at each depth. */
const opened = new Uint8Array(JSON_DEPTH_MAX + 1)

// A loop, with the commonest values in it: recursion, or a call for each of them, takes twice as long.
function endOfNested(bytes: Uint8Array, from: number, outerDepth: number, fromDepth: number): number {
  let at = from
  let depth = fromDepth
  let isName = false
  for (;;) {
    if (at >= bytes.length) throw notJson()
    const first = bytes[at]!
    if (BLANK[first] === 1) {
      at = endOfBlanks(bytes, at)
      continue
    }
    if (isName) {
      at = endOfColon(bytes, endOfName(bytes, at))
      isName = false
      continue
    }
    if (first === QUOTE) at = endOfString(bytes, at)
    else if (DIGIT[first] === 1 && first !== ZERO) {
      at = endOf(DIGIT, bytes, at + 1)
      if (at < bytes.length && FRACTION[bytes[at]!] === 1) at = endOfFraction(bytes, at)
    } else if (first === OPEN_OBJECT || first === OPEN_LIST) {
      if (depth === JSON_DEPTH_MAX) throw tooDeep()
      depth++
      opened[depth] = first
      at = endOfBlanks(bytes, at + 1)
      if (byteAt(bytes, at) !== first + TO_CLOSE) {
        isName = first === OPEN_OBJECT
        continue
      }
      at++
      depth--
    } else at = endOfSingle(bytes, at)
    for (;;) {
      if (depth === outerDepth) return at
      if (at >= bytes.length) throw notJson()
      const next = bytes[at]!
      if (next === COMMA) {
        at++
        isName = opened[depth] === OPEN_OBJECT
        break
      }
      if (next === opened[depth]! + TO_CLOSE) {
        at++
        depth--
      } else if (BLANK[next] === 1) at = endOfBlanks(bytes, at)
      else throw notJson()
    }
  }
}

/** Of a string, a number, true, false or null. */
function endOfSingle(bytes: Uint8Array, at: number): number {
  const first = byteAt(bytes, at)
  if (first === QUOTE) return endOfString(bytes, at)
  if (DIGIT[first] === 1 || first === MINUS) return endOfNumber(bytes, at)
  const word = WORDS[first]
  if (word === undefined || !isAt(bytes, at, word)) throw notJson()
  return at + word.length
}

/** Whether a string has no escapes, so that its bytes are its text. */
export const isPlain = (bytes: Uint8Array, from: number, to: number): boolean =>
  endOf(PLAIN, bytes, from + 1) === to - 1

/** Whether these bytes are there. */
export function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (byteAt(bytes, at + i) !== wanted[i]) return false
  return true
}

/** Of an escape such as `\u00e9`. */
function endOfUnicode(bytes: Uint8Array, at: number): number {
  if (byteAt(bytes, at + 1) !== LETTER_U) throw notJson()
  for (let i = at + 2; i < at + 6; i++) if (HEX[byteAt(bytes, i)] !== 1) throw notJson()
  return at + 6
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = byteAt(bytes, from) === MINUS ? from + 1 : from
  at = byteAt(bytes, at) === ZERO ? at + 1 : endOfDigits(bytes, at)
  return FRACTION[byteAt(bytes, at)] === 1 ? endOfFraction(bytes, at) : at
}

function endOfFraction(bytes: Uint8Array, from: number): number {
  const at = byteAt(bytes, from) === DOT ? endOfDigits(bytes, from + 1) : from
  if (EXPONENT[byteAt(bytes, at)] !== 1) return at
  return endOfDigits(bytes, SIGN[byteAt(bytes, at + 1)] === 1 ? at + 2 : at + 1)
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  const at = endOf(DIGIT, bytes, from)
  if (at === from) throw notJson()
  return at
}

function endOf(table: Uint8Array, bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && table[bytes[at]!] === 1) at++
  return at
}

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const MINUS = 45
const ZERO = 48
const DOT = 46
const LETTER_U = 117
export const COMMA = 44
export const OPEN_OBJECT = 123
export const OPEN_LIST = 91
/** From an opening bracket to its closing one. */
export const TO_CLOSE = 2

/** A table that has 1 for each of these bytes. */
function tableOf(has: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(has(byte)))
}

const among = (characters: string) => tableOf((byte) => characters.includes(String.fromCharCode(byte)))

const BLANK = among(' \t\n\r')
const DIGIT = among('0123456789')
const HEX = among('0123456789abcdefABCDEF')
const ESCAPED = among('"\\/bfnrt')
const FRACTION = among('.eE')
const EXPONENT = among('eE')
const SIGN = among('+-')
const PLAIN = tableOf((byte) => byte >= 32 && byte !== QUOTE && byte !== BACKSLASH)

/** By their first bytes. */
const WORDS: readonly (Uint8Array | undefined)[] = Object.assign(
  [],
  Object.fromEntries(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)])),
)
