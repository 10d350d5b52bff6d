import { seePanel } from '../panel/panel-store.ts'
import type { Action } from './state.ts'
import type { Change, Snapshot } from './wire.ts'

/**
 * Follows the workspace until the answer is called. The stream tells the state first, then each change of it, and begins
 * afresh with each reconnection.
 */
export function follow(tell: (action: Action) => void): () => void {
  const stream = new EventSource('/sandbox/events')
  stream.addEventListener('state', (event: MessageEvent<string>) => {
    const snapshot: Snapshot = JSON.parse(event.data)
    tell({ kind: 'loaded', snapshot })
    tell({ kind: 'went', hash: location.hash })
  })
  stream.addEventListener('message', (event: MessageEvent<string>) => {
    const change: Change = JSON.parse(event.data)
    tell({ kind: 'changed', change, isInSight: document.visibilityState === 'visible' })
  })
  stream.addEventListener('panel', (event: MessageEvent<string>) => seePanel(event.data))
  stream.addEventListener('error', () => tell({ kind: 'lost' }))
  return () => stream.close()
}
