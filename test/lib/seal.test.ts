import { describe, expect, test } from 'vitest'
import { createSeal, sealedChars } from '../../src/lib/seal.ts'

const seal = createSeal('xoxb-1')

describe('a sealed text', () => {
  test('can be opened with its key, in another process too', () => {
    expect(createSeal('xoxb-1').open(seal.close('canary é 機'))).toBe('canary é 機')
  })

  test('shows nothing of the text, and cannot be opened if it was changed, or with another key', () => {
    const closed = seal.close('canary')
    expect(Buffer.from(closed, 'base64url').toString('latin1')).not.toContain('canary')
    expect(createSeal('xoxb-2').open(closed)).toBeNull()
    expect(seal.open(`${closed.startsWith('A') ? 'B' : 'A'}${closed.slice(1)}`)).toBeNull()
    for (const text of ['', 'x', '{}', '☃']) expect(seal.open(text)).toBeNull()
  })

  test.each(['', 'a', 'ab', 'abc', 'x'.repeat(5_000), 'é'.repeat(50)])('has the predicted length', (text) => {
    expect(seal.close(text)).toHaveLength(sealedChars(text))
  })
})
