import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAccountNotice, isFinal, isRed, isVerdict, toStatus, type Status } from '../../../src/domain/builds/status.ts'
import { anyText } from '../../support/any-text.ts'

const DOCUMENTED: [word: string, status: Status][] = [
  ['initiated', 'started'],
  ['error', 'failed'],
  ['success', 'success'],
  ['stopped', 'stopped'],
  ['waiting', 'waiting'],
  ['ignored', 'ignored'],
  ['blocked', 'blocked'],
  ['quota_exceeded', 'quota_exceeded'],
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

  it.each(['SUCCESS', ' success ', 'Success\n'])('ignores case and outer blanks: %j', (word) => {
    expect(toStatus(word)).toBe('success')
  })

  it.each([
    ['an empty word', ''],
    ['a word of a newer service', 'canceled'],
    ['our own name for a status, which CI never uses', 'started'],
    ['the event "recovered"', 'recovered'],
    ['the word "unknown"', 'unknown'],
    ['two words that count only if they are joined', 'infrastructure failure'],
    ['a word in another script', 'неудача'],
    ['the name of a property of every object', 'constructor'],
    ['another such name', '__proto__'],
  ])('reads %s as unknown, never as an error', (_, word) => {
    expect(toStatus(word)).toBe('unknown')
  })

  it('reads every other word as unknown', () => {
    const known = new Set([...DOCUMENTED, ...SYNONYMS].map(([word]) => word))
    const strange = anyText().filter((word) => !known.has(word.trim().toLowerCase()))
    fc.assert(fc.property(strange, (word) => toStatus(word) === 'unknown'))
  })
})

describe('the meaning of a status', () => {
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
    ['quota_exceeded', 'final account'],
  ])('of %s is [%s]', (status, meaning) => {
    const names = [
      isFinal(status) && 'final',
      isVerdict(status) && 'verdict',
      isRed(status) && 'red',
      isAccountNotice(status) && 'account',
    ]
    expect(names.filter(Boolean).join(' ')).toBe(meaning)
  })
})
