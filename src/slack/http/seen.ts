import type { Signature } from './signature.ts'

/** So many signatures are remembered; the one that was seen first is forgotten. */
export const SIGNATURES_MAX = 5_000

/** Remembers what Slack has signed: the store knows it too, but a flood of repeats need not reach it. */
export function createSeen() {
  const signatures = new Set<string>()

  return {
    has: (signature: Signature): boolean => signatures.has(keyOf(signature)),
    /** To be told of those alone that were found to be right. */
    add(signature: Signature): void {
      signatures.add(keyOf(signature))
      if (signatures.size > SIGNATURES_MAX) signatures.delete(signatures.values().next().value!)
    },
  }
}

const keyOf = ({ timestamp, hex }: Signature): string => `${timestamp} ${hex}`
