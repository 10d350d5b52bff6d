import { hash, timingSafeEqual } from 'node:crypto'

/**
 * A check of what a sender presents against every valid secret, or signature; several are valid at once, so that a secret
 * can be rotated. It takes the same time whichever one matches, or none: digests of equal length are compared, and all of
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
