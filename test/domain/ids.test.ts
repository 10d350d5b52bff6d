import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildId, T0 } from '../support/build-events.ts'
import {
  compareOrders,
  ID_DIGITS_MAX,
  idOrder,
  isChannelId,
  isIdDigits,
  isShortId,
  isUuid,
  orderOf,
  shortId,
  toUuid,
} from '../../src/domain/ids.ts'

describe('ids of the CI service', () => {
  it.each(['0', '7', '512', '9007199254740993', '18446744073709551615'])('may be the digits %s', (digits) => {
    expect(isIdDigits(digits)).toBe(true)
  })

  it.each(['', ' 7', '7 ', '-7', '+7', '007', '7.0', '1e3', '0x1f', '٧', '7\n', '9'.repeat(ID_DIGITS_MAX + 1)])(
    'cannot be %j',
    (text) => {
      expect(isIdDigits(text)).toBe(false)
    },
  )

  it('are sorted as numbers, even beyond 2^53', () => {
    const id = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    fc.assert(fc.property(id, id, (a, b) => idOrder(`${a}`) < idOrder(`${b}`) === a < b))
  })

  it('are distinct even if they are equal as doubles', () => {
    expect(Number('9007199254740993')).toBe(Number('9007199254740992'))
    expect(idOrder('9007199254740993') > idOrder('9007199254740992')).toBe(true)
  })
})

describe('the order of builds', () => {
  const [A, B] = ['ffffffff-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'].map(buildId)
  const number = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => buildId(`${n}`))

  it('is that of their numbers, whatever was built before', () => {
    fc.assert(fc.property(number, fc.nat(), (id, at) => orderOf(id, at, orderOf(A!, at)) === idOrder(id)))
  })

  it('is that of their start times if their ids are UUIDs, and that of the UUIDs if the times are equal', () => {
    expect(orderOf(A!, T0) < orderOf(B!, T0 + 1)).toBe(true)
    expect(orderOf(A!, 9) < orderOf(B!, 10)).toBe(true)
    expect(orderOf(A!, T0) > orderOf(B!, T0)).toBe(true)
    expect(compareOrders(orderOf(A!, T0), orderOf(A!, T0))).toBe(0)
  })

  it('puts a UUID after the newest known number and before the next one, whichever kind was built last', () => {
    fc.assert(
      fc.property(number, fc.nat(), fc.nat(), (id, at, later) => {
        const first = orderOf(A!, at, idOrder(id))
        const second = orderOf(B!, at + 1 + later, first)
        const next = idOrder(`${BigInt(id) + 1n}`)
        const inOrder = [idOrder(id), first, second, next]
        expect(inOrder.toSorted(compareOrders)).toEqual(inOrder)
      }),
    )
  })
})

describe('the short form', () => {
  it.each([
    ['512', '512'],
    ['18446744073709551615', '18446744073709551615'],
    ['3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8', '3f2a1b4c'],
  ])('of %s is %s, and can be entered', (id, seen) => {
    expect(shortId(id)).toBe(seen)
    expect(isShortId(seen)).toBe(true)
  })

  it.each(['', '0512', '3f2a1b4', '3f2a1b4cd', '3F2A1B4C', 'login'])('cannot be %j', (text) => {
    expect(isShortId(text)).toBe(false)
  })
})

describe('the uuid check', () => {
  it.each([
    ['a random one', '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8'],
    ['one without a standard version and variant', '01234567-89ab-cdef-0123-456789abcdef'],
    ['all zeros', '00000000-0000-0000-0000-000000000000'],
    ['capital letters', '3F2A1B4C-5D6E-4F70-8192-A3B4C5D6E7F8'],
  ])('accepts %s', (_, text) => {
    expect(isUuid(text)).toBe(true)
  })

  it.each(['', '3f2a1b4c5d6e4f708192a3b4c5d6e7f8', '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7fg', '../3f2a1b4c', '512'])(
    'refuses %j',
    (text) => {
      expect(isUuid(text)).toBe(false)
    },
  )

  it('treats capital and small letters as equal', () => {
    expect(toUuid('3F2A1B4C-5D6E-4F70-8192-A3B4C5D6E7F8')).toBe(toUuid('3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8'))
  })
})

describe('the channel id check', () => {
  it('accepts the id of #builds', () => {
    expect(isChannelId('C0BUILDS01')).toBe(true)
  })

  it.each(['', '#builds', 'builds', 'c0builds01', 'U0ADA00001', 'C0BUILDS01 '])('refuses %j', (text) => {
    expect(isChannelId(text)).toBe(false)
  })
})
