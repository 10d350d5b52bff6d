import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest, NEAREST_CHARS_MAX, NEAREST_KNOWN_MAX } from '../../src/lib/nearest.ts'
import { anyText } from '../support/any-text.ts'

const COMMANDS = [
  'help',
  'list',
  'status',
  'stop',
  'restart',
  'badge',
  'subscribe',
  'unsubscribe',
  'rules',
  'why',
  'me',
]

describe('the nearest name', () => {
  it.each<[typed: string, near: string]>([
    ['list', 'list'],
    ['LIST', 'list'],
    [' list ', 'list'],
    ['lits', 'list'],
    ['lsit', 'list'],
    ['lst', 'list'],
    ['llist', 'list'],
    ['lisst', 'list'],
    ['lizt', 'list'],
    ['restrat', 'restart'],
    ['rstrt', 'restart'],
    ['subcsribe', 'subscribe'],
    ['stauts', 'status'],
  ])('to %j is %s', (typed, near) => {
    expect(nearest(typed, COMMANDS)).toBe(near)
  })

  it.each(['', '  ', 'deploy', 'rstr', 'xyz', 'ла'])('to %j does not exist', (typed) => {
    expect(nearest(typed, COMMANDS)).toBeNull()
  })

  it('is the one that begins with the text, even if another is as close', () => {
    expect(nearest('sub', COMMANDS)).toBe('subscribe')
    expect(nearest('res', ['rest', 'restart'])).toBe('rest')
    expect(nearest('stat', ['stab', 'status'])).toBe('status')
  })

  it('is an exact match, even if another name begins with the text', () => {
    expect(nearest('rule', ['rules', 'rule'])).toBe('rule')
  })

  it('is the closest one, and the first of equally close ones', () => {
    expect(nearest('cast', ['cost', 'case'])).toBe('cost')
    expect(nearest('cast', ['case', 'cost'])).toBe('case')
    expect(nearest('castle', ['cattel', 'cattle'])).toBe('cattle')
  })

  it('may differ by two mistakes, or one in a word of up to three letters', () => {
    expect(nearest('abcd', ['axyd'])).toBe('axyd')
    expect(nearest('abcd', ['wxyd'])).toBeNull()
    expect(nearest('abc', ['axc'])).toBe('axc')
    expect(nearest('abc', ['axy'])).toBeNull()
  })

  it('counts two swapped letters as one mistake, and letters as people see them', () => {
    expect(nearest('wyh', COMMANDS)).toBe('why')
    expect(nearest('a😀b', ['a😎b'])).toBe('a😎b')
  })

  it('is searched only in texts and lists up to a limit', () => {
    const long = 'a'.repeat(NEAREST_CHARS_MAX)
    expect(nearest(long, [`b${long}`])).toBe(`b${long}`)
    expect(nearest(`${long}a`, [`${long}a`])).toBeNull()
    const names = Array.from({ length: NEAREST_KNOWN_MAX - 1 }, () => 'other')
    expect(nearest('list', [...names, 'list'])).toBe('list')
    expect(nearest('list', [...names, 'other', 'list'])).toBeNull()
  })

  it('is one of the known names, and each known name is closest to itself', () => {
    const name = fc.stringMatching(/^[a-d]{1,6}$/)
    fc.assert(
      fc.property(anyText(), fc.uniqueArray(name, { minLength: 1 }), (typed, known) => {
        expect([...known, null]).toContain(nearest(typed, known))
        for (const one of known) expect(nearest(one, known)).toBe(one)
      }),
    )
  })

  it('is symmetric for two names of which neither begins with the other', () => {
    const name = fc.stringMatching(/^[a-c]{4,7}$/)
    fc.assert(
      fc.property(name, name, (one, other) => {
        fc.pre(!one.startsWith(other) && !other.startsWith(one))
        expect(nearest(one, [other]) === null).toBe(nearest(other, [one]) === null)
      }),
    )
  })
})
