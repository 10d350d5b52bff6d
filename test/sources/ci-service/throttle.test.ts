import { describe, expect, test } from 'vitest'
import { ADDRESSES_MAX, createThrottle, WRONG_MAX, WRONG_WINDOW_MS } from '../../../src/sources/webhook-route.ts'
import { SECOND, T0 } from '../../support/build-events.ts'

function begin() {
  let now = T0
  const { wrong, size } = createThrottle(() => now)
  return {
    wrong,
    size,
    pass: (ms: number) => void (now += ms),
    /** So many wrong secrets. @returns what the last one is told */
    wrongly: (times: number, address: string) => {
      for (let n = 1; n < times; n++) wrong(address)
      return wrong(address)
    },
  }
}

const ADA = '203.0.113.7'
const GUS = '203.0.113.8'

describe('an address that sends wrong secrets', () => {
  test(`may send ${WRONG_MAX}, and is told to wait after one more; another one is not`, () => {
    const { wrongly, wrong } = begin()
    expect(wrongly(WRONG_MAX, ADA)).toBeNull()
    expect(wrong(ADA)).toBe(WRONG_WINDOW_MS / SECOND)
    expect(wrong(GUS)).toBeNull()
  })

  test('waits for what is left of its window, in whole seconds, and may then begin again', () => {
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
    ['of IPv6 is one with its neighbours', '2001:db8:1:2::1', '2001:db8:1:2:ffff:0:0:9', true],
    ['of IPv6 is another one than who has the next network', '2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['of IPv6 is one with its neighbours where zeros are left out', '2001:db8::1', '2001:db8:0:0:1::2', true],
    ['of IPv6 is no neighbour of whoever begins as it does', '2001::5:1:2:3:4', '2001:db8::1', false],
    ['of IPv4 stands for itself where it is written as IPv6 too', `::ffff:${ADA}`, `::ffff:${GUS}`, false],
  ])('%s', (_, one, other, isOne) => {
    const { wrongly, wrong } = begin()
    wrongly(WRONG_MAX, one)
    expect(wrong(other) !== null).toBe(isOne)
    expect(wrong(one)).not.toBeNull()
  })
})

test(`no more than ${ADDRESSES_MAX} addresses are remembered: who was quiet longest is forgotten`, () => {
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
