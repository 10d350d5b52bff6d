import type { Missing } from '../../domain/offer.ts'
import type { Action } from '../../domain/request.ts'
import type { Asked, AskView, CardView } from '../../domain/view.ts'
import { buildNumber, joined, mention } from './build.ts'
import { lookOf } from './words.ts'

// What people asked of CI, in words. The names of the askers are mentions: Slack shows them in everybody's own way.

/** `Stop requested by @lin`, and what came of it: for a card. Markup. */
export const askedWords = (asked: Asked): string => joined([requested(asked), stageWords(asked)], ', ')

/** `:raised_hand: Stop requested by @lin · Stopped`: the line in the thread. Markup. */
export function askLine(view: AskView): string {
  return joined([`${SYMBOLS[view.action]} ${requested(view)}`, outcomeWords(view) ?? stageWords(view)])
}

/** `no Stop button: CI did not name the build's uuid`. */
export const missingWords = ({ action, why }: NonNullable<CardView['missing']>): string =>
  `no ${ACTION_WORDS[action]} button: ${MISSING[why]}`

export const ACTION_WORDS: Record<Action, string> = { stop: 'Stop', restart: 'Restart' }

const SYMBOLS: Record<Action, string> = { stop: ':raised_hand:', restart: ':repeat:' }

/** Why an action cannot be offered: the card's words, and everybody else's who has to say it. */
export const MISSING: Record<Missing, string> = {
  'no-v2': "CI's v2 interface is not configured",
  'no-legacy': "CI's legacy interface is not configured",
  'no-build-uuid': "CI did not name the build's uuid",
  'pro-project': 'CI restarts Basic projects only',
  'project-unknown': 'CI does not list this project',
}

const requested = ({ action, by }: Asked): string => {
  const who = mention(by)
  return `${ACTION_WORDS[action]} requested${who === '' ? '' : ` by ${who}`}`
}

function outcomeWords({ action, outcome, buildId }: AskView): string | null {
  if (!outcome) return null
  if (action === 'stop') return lookOf(outcome.shown).word
  const other = outcome.buildId === buildId ? '' : ` is ${buildNumber(outcome)}`
  return `attempt ${outcome.attempt}${other || ' runs'}`
}

function stageWords({ action, stage, code }: Asked): string | null {
  switch (stage) {
    case 'asked':
    case 'confirmed':
      return null
    case 'refused':
      return code === 'unreachable' || code === 'timeout' ? UNREACHED : `CI refused${why(REFUSED[action], code)}`
    case 'unclear':
      return 'it is not clear yet whether CI heard it'
    case 'unconfirmed':
      return joined([`CI has not confirmed it${why(UNCONFIRMED, code)}`, 'open the build to see'])
  }
}

const why = (reasons: Readonly<Record<string, string>>, code: string | null): string => {
  const words = code === null ? undefined : reasons[code]
  return words === undefined ? '' : `: ${words}`
}

const UNREACHED = 'CI could not be reached, and nothing was done'

const REFUSED: Record<Action, Record<string, string>> = {
  stop: { 'bad-request': 'probably not running any more', 'not-found': 'it knows no such build now', ...shared() },
  restart: { 'bad-request': 'it cannot be restarted now', 'not-found': 'it knows no such build', ...shared() },
}

function shared(): Record<string, string> {
  return {
    unauthorized: 'our credentials are no longer good',
    forbidden: 'our credentials lack the right',
    'rate-limited': 'too many requests just now',
  }
}

const UNCONFIRMED: Record<string, string> = {
  'still-running': 'it says the build still runs',
  'not-restarted': 'it shows no new run',
}
