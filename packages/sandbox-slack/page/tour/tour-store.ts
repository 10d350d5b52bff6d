import { createStore, useStore } from '../store/store.ts'
import { panelNow, serverNow } from '../panel/panel-store.ts'
import { recallMemo, rememberMemo } from './memo.ts'
import type { Memo } from './memo.ts'

const store = createStore<Memo | null, Memo>((_, memo) => memo, null)
store.subscribe(() => {
  const memo = store.get()
  if (memo) rememberMemo(memo)
})

export const useMemo = (): Memo | null => useStore(store, (memo) => memo)

/** Reads the stored progress, once the demo is known. */
export function openMemo(): void {
  const panel = panelNow()
  if (panel && store.get() === null) store.dispatch(recallMemo(panel.startedAt))
}

export function changeMemo(change: Partial<Memo>): void {
  const memo = store.get()
  if (memo) store.dispatch({ ...memo, ...change })
}

/** Starts the step when no scenario is playing, so that the scenario's actions do not count as the person's. */
export function beginStep(isPlaying: boolean): void {
  const memo = store.get()
  if (memo && isPlaying === (memo.at !== null)) changeMemo({ at: isPlaying ? null : serverNow() })
}

/** Shows another step and starts it now. */
export const showStep = (step: number): void => changeMemo({ step, at: serverNow(), isDone: false, isOpen: true })
