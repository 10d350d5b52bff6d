import { describe, expect, it } from 'vitest'
import { isSignedBy, SIGNED_WITHIN_S, signatureIn } from '../../../src/slack/http/gate.ts'
import { signature } from '../../../packages/sandbox-slack/src/sign.ts'
import { SECOND, T0 } from '../../support/build-events.ts'

const SECRET = 'a-signing-secret'
const NOW_S = Math.floor(T0 / SECOND)
const BODY = 'command=%2Fci&text=help'

const headersOf = (timestamp: string | number, signed = signature(SECRET, Number(timestamp), BODY)) => ({
  'x-slack-request-timestamp': String(timestamp),
  'x-slack-signature': signed,
})

const at = (secondsAgo: number) => signatureIn(headersOf(NOW_S - secondsAgo), NOW_S * SECOND)

describe('a signature', () => {
  it('is valid for exactly these bytes, this time and this secret', () => {
    const found = at(0)!
    expect(isSignedBy(SECRET, found, Buffer.from(BODY))).toBe(true)
    expect(isSignedBy(SECRET, found, Buffer.from(`${BODY} `))).toBe(false)
    expect(isSignedBy(SECRET, found, Buffer.from(''))).toBe(false)
    expect(isSignedBy(`${SECRET}2`, found, Buffer.from(BODY))).toBe(false)
    expect(isSignedBy(SECRET, { ...found, timestamp: String(NOW_S - 1) }, Buffer.from(BODY))).toBe(false)
    const withDigit = (place: number) => {
      const digit = found.hex[place] === '0' ? '1' : '0'
      return { ...found, hex: found.hex.slice(0, place) + digit + found.hex.slice(place + 1) }
    }
    for (const place of [0, 31, 32, 63]) expect(isSignedBy(SECRET, withDigit(place), Buffer.from(BODY))).toBe(false)
  })

  it(`is valid for ${SIGNED_WITHIN_S} seconds, in the past or future`, () => {
    expect(at(SIGNED_WITHIN_S)).not.toBeNull()
    expect(at(SIGNED_WITHIN_S + 1)).toBeNull()
    expect(at(-SIGNED_WITHIN_S)).not.toBeNull()
    expect(at(-SIGNED_WITHIN_S - 1)).toBeNull()
  })

  const hex = '0'.repeat(64)
  it.each([
    ['no signature', { 'x-slack-request-timestamp': String(NOW_S) }],
    ['no time', { 'x-slack-signature': `v0=${hex}` }],
    ['another version', headersOf(NOW_S, `v1=${hex}`)],
    ['no version', headersOf(NOW_S, hex)],
    ['too few digits', headersOf(NOW_S, `v0=${hex.slice(1)}`)],
    ['too many digits', headersOf(NOW_S, `v0=${hex}0`)],
    ['capital digits', headersOf(NOW_S, `v0=${'A'.repeat(64)}`)],
    ['no digits', headersOf(NOW_S, `v0=${'x'.repeat(64)}`)],
    ['a time that is not a number', headersOf('now', `v0=${hex}`)],
    ['an empty time', headersOf('', `v0=${hex}`)],
    ['a time in another notation', headersOf('1e9', `v0=${hex}`)],
    ['a negative time', headersOf(-NOW_S, `v0=${hex}`)],
    ['a time of milliseconds', headersOf(`${NOW_S}000`, `v0=${hex}`)],
    ['a time of 400 digits', headersOf('9'.repeat(400), `v0=${hex}`)],
    ['an infinite time', headersOf('Infinity', `v0=${hex}`)],
  ])('is missing with %s', (_, headers) => {
    expect(signatureIn(headers, NOW_S * SECOND)).toBeNull()
  })
})
