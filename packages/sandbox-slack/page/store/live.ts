import { seePanel } from '../panel/panel-store.ts'
import type { Action } from './state.ts'
import type { Change, Snapshot } from './wire.ts'

/** How often "5 minutes ago" and "today" are updated. */
const CLOCK_MS = 60_000

/**
 * Follows the workspace until the returned function is called. The stream sends the state first, then each change.
 * After a reconnection it sends the state again.
 */
export function follow(tell: (action: Action) => void): () => void {
  const stream = new EventSource('/sandbox/events')
  // The sandbox's clock may differ from the browser's.
  let aheadMs = 0
  stream.addEventListener('state', (event: MessageEvent<string>) => {
    const snapshot: Snapshot = JSON.parse(event.data)
    aheadMs = snapshot.nowMs - Date.now()
    tell({ kind: 'loaded', snapshot })
    tell({ kind: 'went', hash: location.hash })
  })
  stream.addEventListener('message', (event: MessageEvent<string>) => {
    const change: Change = JSON.parse(event.data)
    tell({ kind: 'changed', change, isInSight: document.visibilityState === 'visible' })
  })
  stream.addEventListener('panel', (event: MessageEvent<string>) => seePanel(event.data))
  stream.addEventListener('error', () => tell({ kind: 'lost' }))
  const clock = setInterval(() => tell({ kind: 'clock', nowMs: Date.now() + aheadMs }), CLOCK_MS)
  return () => {
    clearInterval(clock)
    stream.close()
  }
}
