import { recall, remember } from '../store/memory.ts'

/** How far somebody is in the tour; the browser keeps it over a reload. */
export interface Memo {
  /** of which demo: after a reset the tour begins anew */
  startedAt: number
  isOpen: boolean
  /** the step that is shown, from 0 */
  step: number
  /** when it began (ms, the sandbox's time); null: not yet, as a scenario is being played */
  at: number | null
  /** whether it was done */
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

/** What is remembered of this demo's tour. Whoever dismissed it once is not shown it again unasked. */
export function recallMemo(startedAt: number): Memo {
  const fresh: Memo = { startedAt, isOpen: true, step: 0, at: null, isDone: false }
  const memo = recall(NAME, isMemo, fresh)
  return memo.startedAt === startedAt ? memo : { ...fresh, isOpen: memo.isOpen }
}

export const rememberMemo = (memo: Memo): void => remember(NAME, memo)
