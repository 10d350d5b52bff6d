import type { Failures } from '../../domain/builds/failure.ts'
import type { FailuresView } from '../../domain/cards/view.ts'
import { codeBlock, mrkdwnLink } from '../../lib/escape.ts'
import { joined, outside } from './build.ts'
import { BUTTON_URL_CHARS_MAX, cut, MESSAGE_TEXT_CHARS_MAX } from './limits.ts'

// Texts about what failed. Names, places, messages and log lines are outside text, and are cut and escaped here.

const NAME_ON_CARD_CHARS_MAX = 80
const MESSAGE_ON_CARD_CHARS_MAX = 100
export const NAME_CHARS_MAX = 120
const MESSAGE_CHARS_MAX = 200
const LOG_LINE_CHARS_MAX = 200

/** The log may take half of the reply. */
const LOG_CHARS_MAX = MESSAGE_TEXT_CHARS_MAX / 2

/**
 * `3 of 412 tests failed: LoginTest › redirects (new) · CartTest › sums · 1 more`, or
 * `lint: src/cart.ts:12 'total' is not defined`; empty if it is not known. Markup.
 */
export function failuresLine(failures: Failures | undefined): string {
  if (!failures) return ''
  const shown = failures.named.map((one) => {
    if (one.test !== null) return joined([nameWords(one, NAME_ON_CARD_CHARS_MAX), newWord(one)], ' ')
    const message = outside(one.message, MESSAGE_ON_CARD_CHARS_MAX)
    const where = whereWords(one, NAME_ON_CARD_CHARS_MAX)
    return joined([joined([where, message], one.path === null ? ': ' : ' '), newWord(one)], ' ')
  })
  const more = failures.failed - shown.length
  return joined([countWords(failures), joined([...shown, shown.length > 0 && more > 0 ? `${more} more` : null])], ': ')
}

/** The reply: a line for each failure with its place and message, and the lines of the log. Markup. */
export function failuresReply(view: FailuresView): string {
  const again = view.attemptNumber > 1 ? `Attempt ${view.attemptNumber} · ` : ''
  const log = logBlock(view.log)
  const head = countWords(view) || `Failed in ${view.failed} ${view.failed === 1 ? 'place' : 'places'}`
  const lines = [`${again}*${head}*`]
  const room = MESSAGE_TEXT_CHARS_MAX - log.length - MORE_CHARS_MAX
  for (const one of view.named) {
    const what = joined([nameWords(one, NAME_CHARS_MAX), whereWords(one, NAME_CHARS_MAX), newWord(one)], ' ')
    const line = `• ${joined([what, outside(one.message, MESSAGE_CHARS_MAX)], ': ')}`
    if (joined([...lines, line], '\n').length > room) break
    lines.push(line)
  }
  const more = view.failed - (lines.length - 1)
  return joined([...lines, lines.length > 1 && more > 0 ? `… and ${more} more` : null, log], '\n')
}

const MORE_CHARS_MAX = 40

/** `3 of 412 tests failed, the same 3 tests again`; empty if nobody counted tests, and the failures are not the same. */
function countWords({ tests, failed, isSame }: Failures): string {
  if (tests === null) return isSame ? 'Failed in the same way again' : ''
  const words = `${failed} of ${tests} ${tests === 1 ? 'test' : 'tests'} failed`
  return isSame ? `${words}, the same ${failed === 1 ? 'test' : `${failed} tests`} again` : words
}

type Named = Failures['named'][number]

const nameWords = ({ test }: Named, charsMax: number): string | null =>
  test === null ? null : outside(test, charsMax) || '(no name)'

const newWord = ({ isNew }: Named): string | null => (isNew ? '(new)' : null)

/** `lint: src/cart.ts:12`, the place as a link where its address is known. */
function whereWords({ job, step, path, line, url }: Named, charsMax: number): string {
  const place = path === null ? null : `${path}${line === null ? '' : `:${line}`}`
  const linked = place === null ? null : mrkdwnLink(url, outside(place, charsMax), BUTTON_URL_CHARS_MAX)
  return joined([outside(job, charsMax), outside(step, charsMax), linked], ': ')
}

/** As many of the last lines as fit. */
function logBlock(log: readonly string[]): string {
  for (let at = 0; at < log.length; at++) {
    const block = codeBlock(log.slice(at).map((line) => cut(line, LOG_LINE_CHARS_MAX)))
    if (block.length <= LOG_CHARS_MAX) return block
  }
  return ''
}
