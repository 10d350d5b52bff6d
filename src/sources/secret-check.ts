import { hash, timingSafeEqual } from 'node:crypto'

/**
 * Compares what a sender presents, a secret or a signature, with every valid one. There may be several, so that a
 * secret can be rotated. The comparison takes constant time: digests of equal length are compared, and always all of
 * them.
 */
export function createSecretCheck(secrets: readonly string[]): (presented: string | null) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const valid = secrets.map(digest)
  return (presented) => {
    const given = digest(presented ?? '')
    let matches = 0
    for (const one of valid) matches += timingSafeEqual(one, given) ? 1 : 0
    return presented !== null && matches > 0
  }
}
