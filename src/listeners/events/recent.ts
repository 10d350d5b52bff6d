/** Events that are remembered: Slack repeats one three times within an hour. */
export const EVENTS_MAX = 1_000

/** Keys that were seen lately, the oldest forgotten first. */
export function createRecent(max = EVENTS_MAX): { isNew: (key: string) => boolean } {
  const seen = new Set<string>()
  return {
    isNew(key) {
      if (seen.has(key)) return false
      seen.add(key)
      for (const oldest of seen) {
        if (seen.size <= max) break
        seen.delete(oldest)
      }
      return true
    },
  }
}
