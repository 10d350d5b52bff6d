import type { Shown } from '../../domain/view.ts'

/** How a state looks. Symbols differ in shape and every one stands beside its word: colour alone says nothing. */
export interface Look {
  symbol: string
  word: string
  /** the bar beside a card */
  color: string
  /** what its run did when it ended, for the history line */
  ended: string
  /** what a reader should know who has only this line; null when the word says it all */
  hint: string | null
}

const BLUE = '#1d9bd1'
const PURPLE = '#7c5cbf'
const GREEN = '#2eb67d'
const RED = '#e01e5a'
const AMBER = '#ecb22e'
const GREY = '#868686'

const LOOKS: Record<Shown, Look> = {
  started: { symbol: ':arrow_forward:', word: 'Running', color: BLUE, ended: 'ended', hint: null },
  // CI does not say for what: the link leads to the place that does.
  waiting: {
    symbol: ':hourglass_flowing_sand:',
    word: 'Waiting',
    color: PURPLE,
    ended: 'ended',
    hint: 'queued, or waiting for an approval',
  },
  passed: { symbol: ':white_check_mark:', word: 'Passed', color: GREEN, ended: 'passed', hint: null },
  fixed: { symbol: ':sparkles:', word: 'Fixed', color: GREEN, ended: 'passed', hint: null },
  failed: { symbol: ':x:', word: 'Failed', color: RED, ended: 'failed', hint: null },
  infrastructure_failure: {
    symbol: ':warning:',
    word: 'CI machine error',
    color: AMBER,
    ended: 'CI machine failed',
    hint: "nobody's fault",
  },
  stopped: { symbol: ':black_square_for_stop:', word: 'Stopped', color: GREY, ended: 'stopped', hint: null },
  ignored: { symbol: ':calendar:', word: 'Not built (monthly limit)', color: GREY, ended: 'not built', hint: null },
  blocked: { symbol: ':lock:', word: 'Blocked (resource use)', color: GREY, ended: 'blocked', hint: null },
  unknown: { symbol: ':grey_question:', word: 'Unknown', color: GREY, ended: 'ended', hint: null },
}

export const lookOf = (shown: Shown): Look => LOOKS[shown]

/** The look of an account notice: neutral, the builds did nothing wrong. */
export const NOTICE_LOOK = { symbol: ':information_source:', color: GREY } as const
