import { seePanel } from '../panel/panel-store.ts'
import type { Action } from './state.ts'
import type { Change, Snapshot } from './wire.ts'

/**
 * Follows the workspace until the answer is called. The stream comes first, then the state: nothing that happens in
 * between is lost, and each reconnection begins afresh.
 */
export function follow(tell: (action: Action) => void): () => void {
  const stream = new EventSource('/sandbox/events')
  stream.addEventListener('hello', () => void load())
  stream.addEventListener('message', (event: MessageEvent<string>) => {
    const change: Change = JSON.parse(event.data)
    tell({ kind: 'changed', change, isInSight: document.visibilityState === 'visible' })
  })
  stream.addEventListener('panel', (event: MessageEvent<string>) => seePanel(event.data))
  stream.addEventListener('error', () => tell({ kind: 'lost' }))
  return () => stream.close()

  async function load(): Promise<void> {
    try {
      const snapshot: Snapshot = await (await fetch('/sandbox/state')).json()
      tell({ kind: 'loaded', snapshot })
      tell({ kind: 'went', hash: location.hash })
    } catch {
      // The stream breaks with it, and says hello again when the sandbox is back.
      tell({ kind: 'lost' })
    }
  }
}
