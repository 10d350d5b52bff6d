/** The longest word that is compared, in characters: a longer one is not a mistyped name. */
export const NEAREST_CHARS_MAX = 64
/** The most names that a word is compared with. */
export const NEAREST_KNOWN_MAX = 1_000
/** The most typing errors: an extra, a missing or a wrong letter, or two neighbours swapped. */
const SLIPS_MAX = 2
/** A word of up to this many letters may have only one error: with two it could be any other word. */
const SHORT_WORD_CHARS = 3

/**
 * The known name that was probably meant: one that differs only in case, else one that begins with the word, else the
 * one with the fewest errors (at most `SLIPS_MAX`). The first of equals; null if none is near. For "did you mean" only.
 */
export function nearest(word: string, known: readonly string[]): string | null {
  const typed = lettersOf(word)
  if (typed.length === 0 || typed.length > NEAREST_CHARS_MAX) return null
  const names = known.slice(0, NEAREST_KNOWN_MAX).map((name) => ({ name, letters: lettersOf(name) }))
  const begun = names.filter(({ letters }) => typed.every((letter, at) => letter === letters[at]))
  const same = begun.find(({ letters }) => letters.length === typed.length)
  return (same ?? begun[0])?.name ?? fewestSlips(typed, names)
}

const lettersOf = (text: string): string[] => Array.from(text.trim().toLowerCase())

interface Name {
  name: string
  letters: readonly string[]
}

function fewestSlips(typed: readonly string[], names: readonly Name[]): string | null {
  let best: string | null = null
  let slipsMax = typed.length <= SHORT_WORD_CHARS ? 1 : SLIPS_MAX
  for (const { name, letters } of names) {
    if (Math.abs(letters.length - typed.length) > slipsMax) continue
    const slips = slipsBetween(typed, letters)
    if (slips > slipsMax) continue
    best = name
    // From now on only a name with fewer errors replaces it.
    slipsMax = slips - 1
  }
  return best
}

/** The Damerau-Levenshtein distance in which no part is edited twice (optimal string alignment). */
function slipsBetween(one: readonly string[], other: readonly string[]): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [row, letter] of one.entries()) {
    const current = [row + 1]
    for (const [column, against] of other.entries()) {
      const replaced = last[column]! + (letter === against ? 0 : 1)
      const isSwapped = row > 0 && column > 0 && letter === other[column - 1] && one[row - 1] === against
      const swapped = isSwapped ? beforeLast[column - 1]! + 1 : Infinity
      current.push(Math.min(replaced, last[column + 1]! + 1, current[column]! + 1, swapped))
    }
    beforeLast = last
    last = current
  }
  return last[other.length]!
}
