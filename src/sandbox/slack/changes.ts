import type { Message } from './messages.ts'
import type { Channel, Ephemeral } from './workspace.ts'

/** What happened in the workspace, told to the page and to the counters as it happens. */
export type Change =
  | { kind: 'posted' | 'edited' | 'removed'; channel: Channel; message: Message; byBot: boolean }
  | { kind: 'reacted'; channel: Channel; message: Message }
  | { kind: 'ephemeral' | 'ephemeral-removed'; channel: Channel; ephemeral: Ephemeral }
  | { kind: 'channel'; channel: Channel }

export interface Changes {
  emit(change: Change): void
  /** Tells `listener` of every change from now on, in order; the answer stops it. */
  on(listener: (change: Change) => void): () => void
}

export function createChanges(): Changes {
  const listeners = new Set<(change: Change) => void>()
  return {
    emit: (change) => {
      for (const listener of listeners) listener(change)
    },
    on: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
