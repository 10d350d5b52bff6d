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

/** Reads what is remembered, once it is known of which demo. */
export function openMemo(): void {
  const panel = panelNow()
  if (panel && store.get() === null) store.dispatch(recallMemo(panel.startedAt))
}

export function changeMemo(change: Partial<Memo>): void {
  const memo = store.get()
  if (memo) store.dispatch({ ...memo, ...change })
}

/** A step begins once no scenario is playing: what a scenario does is not the person's doing. */
export function beginStep(isPlaying: boolean): void {
  const memo = store.get()
  if (memo && isPlaying === (memo.at !== null)) changeMemo({ at: isPlaying ? null : serverNow() })
}

/** Shows another step, which begins now. */
export const showStep = (step: number): void => changeMemo({ step, at: serverNow(), isDone: false, isOpen: true })
