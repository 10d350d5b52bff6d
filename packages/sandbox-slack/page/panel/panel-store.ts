// What the page knows of the other side: CI, the bot's process, and what is wrong on purpose.
import type { PanelState } from '../../src/panel-state.ts'
import { createStore, useStore } from '../store/store.ts'

export interface Seen {
  state: PanelState
  /** when it came, by the browser's own clock (ms since the page was opened) */
  seenAt: number
}

const store = createStore<Seen | null, Seen>((_, seen) => seen, null)

/** Takes what the stream told. Another demo, after a reset, is another page. */
export function seePanel(text: string): void {
  const state: PanelState = JSON.parse(text)
  const before = store.get()?.state.startedAt
  if (before !== undefined && before !== state.startedAt) location.reload()
  else store.dispatch({ state, seenAt: performance.now() })
}

/** What `pick` takes from it; null while there is nothing, as where the page was started without a CI. */
export const usePanel = <Picked>(pick: (state: PanelState) => Picked): Picked | null =>
  useStore(store, (seen) => (seen === null ? null : pick(seen.state)))

/** The state as it is at this moment. */
export const panelNow = (): PanelState | null => store.get()?.state ?? null

/** The server's time now (ms), as near as the last news lets one say. */
export function serverNow(): number {
  const seen = store.get()
  return seen === null ? 0 : seen.state.now + performance.now() - seen.seenAt
}
