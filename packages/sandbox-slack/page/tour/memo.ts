import { recall, remember } from '../store/memory.ts'

/** The progress of the tour. The browser keeps it over a reload. */
export interface Memo {
  /** the start of the demo that it belongs to; after a reset the tour starts again */
  startedAt: number
  isOpen: boolean
  /** the current step, from 0 */
  step: number
  /** when the step began (ms, the sandbox's time); null: not yet, because a scenario is playing */
  at: number | null
  /** whether the step was done */
  isDone: boolean
}

const NAME = 'tour'

const isMemo = (value: unknown): value is Memo =>
  typeof value === 'object' &&
  value !== null &&
  'startedAt' in value &&
  'isOpen' in value &&
  'step' in value &&
  'at' in value

/** The stored progress of this demo's tour. Once dismissed, the tour stays closed in later demos too. */
export function recallMemo(startedAt: number): Memo {
  const fresh: Memo = { startedAt, isOpen: true, step: 0, at: null, isDone: false }
  const memo = recall(NAME, isMemo, fresh)
  return memo.startedAt === startedAt ? memo : { ...fresh, isOpen: memo.isOpen }
}

export const rememberMemo = (memo: Memo): void => remember(NAME, memo)
