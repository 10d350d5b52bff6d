import type { Change, Changes } from './model.ts'

export type { Change, Changes } from './model.ts'

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
