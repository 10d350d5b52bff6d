// Slack's limits, in characters. Our own are lower, so that a text still fits when escaping has made it longer.

/** A message's `text`. `chat.postMessage` takes more, `chat.update` does not. */
export const MESSAGE_TEXT_CHARS_MAX = 4_000
export const SECTION_CHARS_MAX = 3_000
export const BUTTON_URL_CHARS_MAX = 3_000

/** An address within a context element, escaped; with its label it stays below the element's 3,000. */
export const CONTEXT_URL_CHARS_MAX = 2_500
/** An address within a message's `text`, or within one line of a list, escaped. */
export const INLINE_URL_CHARS_MAX = 500

// How much of each outside text is shown, in code points before escaping, which makes up to five characters of one.
export const PROJECT_CHARS_MAX = 100
export const BRANCH_CHARS_MAX = 100
export const GATE_CHARS_MAX = 60
export const COMMIT_CHARS_MAX = 40
export const COMMITTER_CHARS_MAX = 60
export const TITLE_CHARS_MAX = 150
export const MESSAGE_CHARS_MAX = 500
export const WORD_CHARS_MAX = 40
export const BUILD_ID_CHARS_MAX = 20

/** The text of a confirmation dialog. */
export const CONFIRM_CHARS_MAX = 300

const ELLIPSIS = '…'

/**
 * Cuts a text to at most `pointsMax` code points, including the `…` that marks the cut. Composed characters (an emoji
 * of several parts, a letter with its accents) are kept whole.
 */
export function cut(text: string, pointsMax: number): string {
  // A code point has at most two units, so this slice is enough, however long the text is.
  const points = Array.from(text.slice(0, 2 * (pointsMax + 1)))
  if (points.length <= pointsMax) return text
  return wholeGraphemes(points, pointsMax - 1) + ELLIPSIS
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

function wholeGraphemes(points: readonly string[], pointsMax: number): string {
  const room = points.slice(0, pointsMax).join('').length
  let end = 0
  for (const { index, segment } of GRAPHEMES.segment(points.join(''))) {
    if (index + segment.length > room) break
    end = index + segment.length
  }
  // A single grapheme beyond the limit is not a readable character, so it can be cut.
  return points.join('').slice(0, end === 0 ? room : end)
}
