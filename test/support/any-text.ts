import * as fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count))

/**
 * Text of any characters, without halves of surrogate pairs. fast-check's `unit: 'binary'` means the same, but builds a
 * table of a million characters for each use.
 */
export const anyText = (length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...length, unit: anyCharacter })
