import { selectable } from '../../../../src/domain/rules/decide.ts'
import {
  isAccountNotice,
  isFinal,
  isRed,
  toStatus,
  RAW_STATUSES,
  type Status,
} from '../../../../src/domain/builds/status.ts'
import type { Shown } from '../../../../src/domain/cards/view.ts'
import { styleOf } from '../../../../src/slack/messages/words.ts'

/** Every word that CI says of a build, and what becomes of it. */
export const statusTable = (): string =>
  [
    '| CI says | the card says | it is | rules select it by |',
    '|---|---|---|---|',
    ...[...RAW_STATUSES, OTHER].map(row),
  ].join('\n')

const OTHER = 'any other word'

function row(word: string): string {
  const status = toStatus(word)
  const says = word === OTHER ? word : `\`${word}\``
  const shown = word === OTHER ? 'the word, as it came' : shownAs(status).map(lookIn).join('<br>')
  return `| ${says} | ${shown} | ${kindOf(status)} | ${selectedBy(status)} |`
}

// A success is told as what it is for its branch.
const shownAs = (status: Status): Shown[] => (status === 'success' ? ['passed', 'fixed', 'flaky'] : [status])

function lookIn(shown: Shown): string {
  const { symbol, label, hint } = styleOf(shown)
  const condition = CONDITIONS[shown] ?? hint
  return `${symbol} **${label}**${condition === undefined ? '' : ` (${condition})`}`
}

const CONDITIONS: Partial<Record<Shown, string>> = {
  fixed: 'where its branch was red',
  flaky: 'where the same commit had failed before',
}

function kindOf(status: Status): string {
  if (isAccountNotice(status)) return "final; the account's trouble: one notice a day with their number"
  if (!isFinal(status)) return 'not final'
  return isRed(status) ? 'final, red' : 'final'
}

function selectedBy(status: Status): string {
  const change = status === 'success' ? 'recovered' : 'broken'
  return selectable({ status, change })
    .map((event) => `\`${event}\``)
    .join(', ')
}
