import { describe, expect, test } from 'vitest'
import { ADDRESSES_MAX, createThrottle, WRONG_MAX, WRONG_WINDOW_MS } from '../../src/sources/webhook-route.ts'
import { SECOND, T0 } from '../support/build-events.ts'

function begin() {
  let now = T0
  const { wrong, size } = createThrottle(() => now)
  return {
    wrong,
    size,
    pass: (ms: number) => void (now += ms),
    /** Sends this number of wrong secrets. @returns the answer to the last one */
    wrongly: (times: number, address: string) => {
      for (let n = 1; n < times; n++) wrong(address)
      return wrong(address)
    },
  }
}

const ADA = '203.0.113.7'
const GUS = '203.0.113.8'

describe('an address that sends wrong secrets', () => {
  test(`may send ${WRONG_MAX}, and must wait after one more, but another address need not`, () => {
    const { wrongly, wrong } = begin()
    expect(wrongly(WRONG_MAX, ADA)).toBeNull()
    expect(wrong(ADA)).toBe(WRONG_WINDOW_MS / SECOND)
    expect(wrong(GUS)).toBeNull()
  })

  test('waits for the rest of its time window, in whole seconds, and may then start again', () => {
    const { wrongly, wrong, pass } = begin()
    wrongly(WRONG_MAX, ADA)
    pass(WRONG_WINDOW_MS - 1_500)
    expect(wrong(ADA)).toBe(2)
    pass(1_499)
    expect(wrong(ADA)).toBe(1)
    pass(1)
    expect(wrongly(WRONG_MAX, ADA)).toBeNull()
    expect(wrong(ADA)).toBe(WRONG_WINDOW_MS / SECOND)
  })

  test.each([
    ['counts as one with its neighbours in IPv6', '2001:db8:1:2::1', '2001:db8:1:2:ffff:0:0:9', true],
    ['differs from one in the next network in IPv6', '2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['counts as one with its neighbours in IPv6 without zeros', '2001:db8::1', '2001:db8:0:0:1::2', true],
    ['differs from one that begins alike in IPv6', '2001::5:1:2:3:4', '2001:db8::1', false],
    ['counts on its own if it is IPv4 written as IPv6', `::ffff:${ADA}`, `::ffff:${GUS}`, false],
  ])('%s', (_, one, other, isOne) => {
    const { wrongly, wrong } = begin()
    wrongly(WRONG_MAX, one)
    expect(wrong(other) !== null).toBe(isOne)
    expect(wrong(one)).not.toBeNull()
  })
})

test(`at most ${ADDRESSES_MAX} addresses are remembered, and the one without wrong secrets for longest is forgotten first`, () => {
  const { wrongly, wrong, size } = begin()
  wrongly(WRONG_MAX, ADA)
  wrongly(WRONG_MAX, GUS)
  for (let n = 2; n < ADDRESSES_MAX; n++) wrong(`198.51.${n >> 8}.${n & 255}`)
  expect(wrong(ADA)).not.toBeNull()
  expect(size()).toBe(ADDRESSES_MAX)
  wrong('192.0.2.1')
  expect(size()).toBe(ADDRESSES_MAX)
  expect(wrong(ADA)).not.toBeNull()
  expect(wrong(GUS)).toBeNull()
})
