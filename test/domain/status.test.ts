import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAccountNotice, isFinal, isRed, isVerdict, toStatus, type Status } from '../../src/domain/status.ts'

const DOCUMENTED: [word: string, status: Status][] = [
  ['initiated', 'started'],
  ['error', 'failed'],
  ['success', 'success'],
  ['stopped', 'stopped'],
  ['waiting', 'waiting'],
  ['ignored', 'ignored'],
  ['blocked', 'blocked'],
  ['infrastructure_failure', 'infrastructure_failure'],
]

const SYNONYMS: [word: string, status: Status][] = [
  ['testing', 'started'],
  ['failed', 'failed'],
]

describe('toStatus', () => {
  it.each(DOCUMENTED)('reads the documented word %s as %s', (word, status) => {
    expect(toStatus(word)).toBe(status)
  })

  it.each(SYNONYMS)('reads the synonym %s as %s', (word, status) => {
    expect(toStatus(word)).toBe(status)
  })

  it.each(['SUCCESS', ' success ', 'Success\n'])('forgives case and outer blanks: %j', (word) => {
    expect(toStatus(word)).toBe('success')
  })

  it.each([
    ['an empty word', ''],
    ['a word of a newer service', 'canceled'],
    ['the name of our own status, which CI never says', 'started'],
    ['the computed event', 'recovered'],
    ['the word for unknown itself', 'unknown'],
    ['two words that are one only together', 'infrastructure failure'],
    ['a word in another script', 'неудача'],
    ['a name that every object has', 'constructor'],
    ['another one', '__proto__'],
  ])('reads %s as unknown, never as an error', (_, word) => {
    expect(toStatus(word)).toBe('unknown')
  })

  it('reads every other word as unknown', () => {
    const known = new Set([...DOCUMENTED, ...SYNONYMS].map(([word]) => word))
    const strange = fc.string({ unit: 'binary' }).filter((word) => !known.has(word.trim().toLowerCase()))
    fc.assert(fc.property(strange, (word) => toStatus(word) === 'unknown'))
  })
})

describe('what a status means', () => {
  it.each<[Status, string]>([
    ['started', ''],
    ['waiting', ''],
    ['unknown', ''],
    ['success', 'final verdict'],
    ['failed', 'final verdict red'],
    ['infrastructure_failure', 'final verdict red'],
    ['stopped', 'final'],
    ['ignored', 'final account'],
    ['blocked', 'final account'],
  ])('%s is [%s]', (status, meaning) => {
    const names = [
      isFinal(status) && 'final',
      isVerdict(status) && 'verdict',
      isRed(status) && 'red',
      isAccountNotice(status) && 'account',
    ]
    expect(names.filter(Boolean).join(' ')).toBe(meaning)
  })
})
