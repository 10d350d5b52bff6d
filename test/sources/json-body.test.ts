import { expect, test } from 'vitest'
import { readJsonBody } from '../../src/sources/endpoint.ts'

test('a body is read as JSON, with or without a byte order mark, and its text is unchanged', () => {
  expect(readJsonBody(Buffer.from('{"build":1}'))).toEqual({ kind: 'json', text: '{"build":1}', value: { build: 1 } })
  expect(readJsonBody(Buffer.from('\uFEFF[]'))).toEqual({ kind: 'json', text: '\uFEFF[]', value: [] })
})

test('bytes that are not UTF-8, and text that is not JSON, are refused with a reason that quotes nothing', () => {
  expect(readJsonBody(Buffer.from([0x22, 0xff, 0x22]))).toEqual({
    kind: 'refusal',
    reason: 'the body is not UTF-8 text',
  })
  expect(readJsonBody(Buffer.from('a secret, not JSON'))).toEqual({ kind: 'refusal', reason: 'the text is not JSON' })
})
