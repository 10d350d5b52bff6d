import { expect, test } from 'vitest'
import { bodyText, readJsonBody } from '../../src/sources/endpoint.ts'

test('a body is read as JSON, with or without a byte order mark, and its text is unchanged', () => {
  const [plain, marked] = ['{"build":1}', '\uFEFF{"build":"é"}'].map((text) => Buffer.from(text))
  expect(readJsonBody(plain!)).toEqual({ kind: 'json', value: { build: 1 } })
  expect(readJsonBody(marked!)).toEqual({ kind: 'json', value: { build: 'é' } })
  expect(bodyText(marked!)).toBe('\uFEFF{"build":"é"}')
})

test('a body is read where it lies in a larger buffer', () => {
  const all = Buffer.from('[1]{"build":2}]')
  expect(readJsonBody(all.subarray(3, 14))).toEqual({ kind: 'json', value: { build: 2 } })
  expect(bodyText(all.subarray(3, 14))).toBe('{"build":2}')
})

test.each([
  [0x22, 0xff, 0x22],
  [0x22, 0xed, 0xa0, 0x80, 0x22],
  [0xef, 0xbb],
])('bytes that are not UTF-8 are refused', (...bytes) => {
  expect(readJsonBody(Buffer.from(bytes))).toEqual({ kind: 'refusal', reason: 'the body is not UTF-8 text' })
})

test('text that is not JSON is refused with a reason that quotes nothing', () => {
  expect(readJsonBody(Buffer.from('a secret, not JSON'))).toEqual({
    kind: 'refusal',
    reason: 'the text is not JSON',
  })
})
