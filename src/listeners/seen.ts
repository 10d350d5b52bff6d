import type { Signature } from './signature.ts'

/** So many signatures are remembered; the one that was seen first is forgotten. */
export const SIGNATURES_MAX = 5_000

/**
 * Remembers what Slack has signed. The same request once more is no other ask, and is served all the same: whoever stands
 * between Slack and us may send one twice.
 */
export function createSeen() {
  const signatures = new Set<string>()

  return {
    /** Was this request seen before? To be asked when the signature was found to be right. */
    again({ timestamp, hex }: Signature): boolean {
      const key = `${timestamp} ${hex}`
      if (signatures.has(key)) return true
      signatures.add(key)
      if (signatures.size > SIGNATURES_MAX) signatures.delete(signatures.values().next().value!)
      return false
    },
  }
}
