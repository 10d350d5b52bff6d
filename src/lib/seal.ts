import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export type Seal = ReturnType<typeof createSeal>

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts and authenticates a text that somebody else stores. The same key opens it after a restart. */
export function createSeal(secret: string) {
  const [cipherKey, nonceKey] = ['seal', 'nonce'].map((use) => Buffer.from(hkdfSync('sha256', secret, '', use, 32)))
  return {
    /** The same text always gives the same seal. */
    close(text: string): string {
      // The nonce is an HMAC of the text, so no two texts share one.
      const nonce = createHmac('sha256', nonceKey!).update(text).digest().subarray(0, NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', cipherKey!, nonce)
      const body = Buffer.concat([cipher.update(deflateRawSync(text)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    /** Null if the text was not sealed with this key. */
    open(sealed: string): string | null {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null
      try {
        const decipher = createDecipheriv('aes-256-gcm', cipherKey!, bytes.subarray(0, NONCE_BYTES))
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const body = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
        return inflateRawSync(body).toString()
      } catch {
        return null
      }
    },
  }
}

/** How many characters a sealed text has, with any key. */
export const sealedChars = (text: string): number =>
  Math.ceil(((NONCE_BYTES + TAG_BYTES + deflateRawSync(text).length) * 4) / 3)
