/** Modals that are remembered; what is forgotten shows its answers in the order in which they come. */
export const MODALS_MAX = 1_000

/** Which ask is the newest in each modal. Of this process alone, for the clicks of a few seconds. */
export interface Newest {
  /** From now on this ask is the newest of its modal; the answer says whether it still is. */
  note(viewId: string): () => boolean
}

export function createNewest(max = MODALS_MAX): Newest {
  const newest = new Map<string, symbol>()
  return {
    note(viewId) {
      const ask = Symbol(viewId)
      newest.delete(viewId)
      newest.set(viewId, ask)
      for (const oldest of newest.keys()) {
        if (newest.size <= max) break
        newest.delete(oldest)
      }
      return () => (newest.get(viewId) ?? ask) === ask
    },
  }
}
