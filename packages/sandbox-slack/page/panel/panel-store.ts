// The panels' state: CI, the bot's process, and the faults that are switched on.
import type { PanelState } from '../../src/panel-state.ts'
import { createStore, useStore } from '../store/store.ts'

export interface Seen {
  state: PanelState
  /** when it arrived, by the browser's clock (ms since the page was opened) */
  seenAt: number
}

const store = createStore<Seen | null, Seen>((_, seen) => seen, null)

/** Stores a state from the stream. Reloads the page after a reset, which `startedAt` shows. */
export function seePanel(text: string): void {
  const state: PanelState = JSON.parse(text)
  const before = store.get()?.state.startedAt
  if (before !== undefined && before !== state.startedAt) location.reload()
  else store.dispatch({ state, seenAt: performance.now() })
}

/** A part of the panels' state; null until there is one. Without a CI there is none. */
export const usePanel = <Picked>(pick: (state: PanelState) => Picked): Picked | null =>
  useStore(store, (seen) => (seen === null ? null : pick(seen.state)))

/** Whether there are panels: the sandbox Slack alone has none. */
export const useHasPanels = (): boolean => usePanel(() => true) ?? false

/** The current state. */
export const panelNow = (): PanelState | null => store.get()?.state ?? null

/** The server's current time (ms), estimated from the last state. */
export function serverNow(): number {
  const seen = store.get()
  return seen === null ? 0 : seen.state.now + performance.now() - seen.seenAt
}
