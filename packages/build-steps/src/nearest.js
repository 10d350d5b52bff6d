// @ts-check

/** The known word with the smallest edit distance to `word`. @param {string} word @param {readonly string[]} known */
export const nearest = (word, known) =>
  known.reduce((best, one) => (distance(word, one) < distance(word, best) ? one : best), known[0] ?? '')

/** The edit distance: how many letters must be added, removed or changed. @param {string} one @param {string} other */
function distance(one, other) {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [row, letter] of Array.from(one).entries()) {
    const line = [row + 1]
    for (const [at, wanted] of Array.from(other).entries()) {
      const changed = (above[at] ?? 0) + (letter === wanted ? 0 : 1)
      line.push(Math.min(changed, (above[at + 1] ?? 0) + 1, (line[at] ?? 0) + 1))
    }
    above = line
  }
  return above.at(-1) ?? 0
}

/** `"word"` if it looks like a command or option. Other words may be secrets: not shown. @param {string} word */
export const quoted = (word) => (/^(?:--)?[a-z][a-z_-]{0,30}$/i.test(word) ? `"${word}"` : 'of that name')
