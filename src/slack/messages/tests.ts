import type { FailedTests } from '../../domain/builds/test-report.ts'
import type { TestsView } from '../../domain/cards/view.ts'
import { codeBlock } from '../../lib/escape.ts'
import { joined, outside } from './build.ts'
import { cut, MESSAGE_TEXT_CHARS_MAX } from './limits.ts'

// Texts about failed tests. Names, messages and log lines are outside text, and are cut and escaped here.

const NAME_ON_CARD_CHARS_MAX = 80
export const NAME_CHARS_MAX = 120
const TEST_MESSAGE_CHARS_MAX = 200
const LOG_LINE_CHARS_MAX = 200

/** The log may take half of the reply. */
const LOG_CHARS_MAX = MESSAGE_TEXT_CHARS_MAX / 2

/** `3 of 412 tests failed: LoginTest › redirects (new) · CartTest › sums · 1 more`; empty without reports. Markup. */
export function testsLine(tests: FailedTests | undefined): string {
  if (!tests) return ''
  const names = tests.failures.map((failure) => nameWords(failure, NAME_ON_CARD_CHARS_MAX))
  const more = tests.failed - names.length
  return joined([countWords(tests), joined([...names, names.length > 0 && more > 0 ? `${more} more` : null])], ': ')
}

/** The reply: a line for each failed test with the first line of its message, and the last lines of the log. Markup. */
export function testsReply(view: TestsView): string {
  const again = view.attemptNumber > 1 ? `Attempt ${view.attemptNumber} · ` : ''
  const log = logBlock(view.log)
  const lines = [`${again}*${countWords(view)}*`]
  const room = MESSAGE_TEXT_CHARS_MAX - log.length - MORE_CHARS_MAX
  for (const failure of view.failures) {
    const line = `• ${joined([nameWords(failure, NAME_CHARS_MAX), outside(failure.message, TEST_MESSAGE_CHARS_MAX)], ': ')}`
    if (joined([...lines, line], '\n').length > room) break
    lines.push(line)
  }
  const more = view.failed - (lines.length - 1)
  return joined([...lines, lines.length > 1 && more > 0 ? `… and ${more} more` : null, log], '\n')
}

const MORE_CHARS_MAX = 40

/** `3 of 412 tests failed, the same 3 tests again` */
function countWords({ tests, failed, isSame }: FailedTests): string {
  const words = `${failed} of ${tests} ${tests === 1 ? 'test' : 'tests'} failed`
  return isSame ? `${words}, the same ${failed === 1 ? 'test' : `${failed} tests`} again` : words
}

const nameWords = ({ name, isNew }: FailedTests['failures'][number], charsMax: number): string =>
  `${outside(name, charsMax) || '(no name)'}${isNew ? ' (new)' : ''}`

/** As many of the last lines as fit. */
function logBlock(log: readonly string[]): string {
  for (let at = 0; at < log.length; at++) {
    const block = codeBlock(log.slice(at).map((line) => cut(line, LOG_LINE_CHARS_MAX)))
    if (block.length <= LOG_CHARS_MAX) return block
  }
  return ''
}
