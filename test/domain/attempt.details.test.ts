import { describe, expect, it } from 'vitest'
import { toUuid } from '../../src/domain/ids.ts'
import { MINUTE, attemptsOf, SECOND, T0, type Said } from '../support/build-events.ts'

describe('what is known of an attempt', () => {
  it('is when it began and ended as we saw it', () => {
    const [attempt] = attemptsOf('initiated', { word: 'error', after: 7 * MINUTE })
    expect(attempt).toMatchObject({ firstAt: T0, startedAt: T0, finalAt: T0 + 7 * MINUTE, firstSeq: 1, finalSeq: 2 })
  })

  it("is CI's own times where CI gave them", () => {
    const [attempt] = attemptsOf('initiated', {
      word: 'error',
      after: 7 * MINUTE,
      details: { startedAt: T0 - SECOND, finishedAt: T0 + 6 * MINUTE },
    })
    expect(attempt).toMatchObject({ startedAt: T0 - SECOND, finalAt: T0 + 6 * MINUTE })
  })

  it('does not take the arrival of a late start for the time it started', () => {
    expect(attemptsOf('success', 'initiated')[0]!.startedAt).toBeNull()
  })

  it('does not begin when it is only waiting', () => {
    expect(attemptsOf('waiting')[0]!.startedAt).toBeNull()
  })

  it('begins with its first start, though it waited in between', () => {
    expect(attemptsOf('initiated', 'waiting', 'initiated')[0]!.startedAt).toBe(T0)
  })

  it('does not reach from one attempt into the next', () => {
    const [first, second] = attemptsOf(
      { word: 'initiated', details: { message: 'fix login', startedAt: T0 } },
      { word: 'error', details: { finishedAt: T0 + MINUTE } },
      { word: 'initiated', after: 5 * MINUTE },
    )
    expect(first).toMatchObject({ startedAt: T0, finalAt: T0 + MINUTE })
    expect(second).toMatchObject({ startedAt: T0 + 5 * MINUTE, finalAt: null })
    expect(second!.details.message).toBeNull()
  })
})

const ADA = { message: 'fix login', committer: 'Ada' }
const GRACE = { message: 'wip', committer: 'Grace' }
const buildUuid = toUuid('3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8')

describe('what a repeated or late build event knows', () => {
  it.each<[claim: string, said: (string | Said)[]]>([
    ['a late start', ['success', { word: 'initiated', details: ADA }]],
    ['a late pause', ['initiated', 'success', { word: 'waiting', details: ADA }]],
    ['a late unknown word', ['initiated', 'success', { word: 'paused', details: ADA }]],
    ['a repeated start', ['initiated', { word: 'initiated', details: ADA }]],
    ['a synonym of the start', ['initiated', { word: 'testing', details: ADA }]],
    ['a repeated end', ['initiated', 'success', { word: 'success', details: ADA }]],
    ['a repeated start, after which the run has ended', ['initiated', { word: 'initiated', details: ADA }, 'success']],
  ])('fills in what was not known: %s', (_, said) => {
    expect(attemptsOf(...said)).toMatchObject([{ details: ADA }])
  })

  it.each<[claim: string, said: (string | Said)[]]>([
    [
      'a late start',
      [
        { word: 'success', details: ADA },
        { word: 'initiated', details: GRACE },
      ],
    ],
    ['a late pause', ['initiated', { word: 'success', details: ADA }, { word: 'waiting', details: GRACE }]],
    [
      'a repeated start',
      [
        { word: 'initiated', details: ADA },
        { word: 'initiated', details: GRACE },
      ],
    ],
    ['a repeated end', ['initiated', { word: 'success', details: ADA }, { word: 'success', details: GRACE }]],
    [
      'a repeated start, where only the end says it',
      ['initiated', { word: 'initiated', details: GRACE }, { word: 'success', details: ADA }],
    ],
  ])('overwrites nothing that is known: %s', (_, said) => {
    expect(attemptsOf(...said)).toMatchObject([{ details: ADA }])
  })

  it('does not keep a build event that moves the attempt from overwriting', () => {
    const [attempt] = attemptsOf({ word: 'initiated', details: GRACE }, { word: 'success', details: ADA })
    expect(attempt!.details).toMatchObject(ADA)
  })

  it('fills in one detail and leaves the next as it is', () => {
    const [attempt] = attemptsOf(
      { word: 'success', details: { message: 'fix login' } },
      { word: 'success', details: GRACE },
    )
    expect(attempt!.details).toMatchObject({ message: 'fix login', committer: 'Grace' })
  })

  it('fills in the uuids that a build step posts after the start', () => {
    const [attempt] = attemptsOf('initiated', { word: 'initiated', details: { buildUuid } })
    expect(attempt!.details.buildUuid).toBe(buildUuid)
    expect(attemptsOf('initiated', 'initiated')[0]!.details.buildUuid).toBeNull()
  })

  it('belongs to the attempt that it came to, and to no other', () => {
    const attempts = attemptsOf('initiated', 'error', 'initiated', { word: 'testing', details: ADA })
    expect(attempts.map(({ details }) => details.committer)).toEqual([null, 'Ada'])
    const [first, second] = attemptsOf('initiated', 'error', { word: 'error', details: ADA }, 'initiated')
    expect([first, second].map((attempt) => attempt!.details.committer)).toEqual(['Ada', null])
  })

  it('belongs to the attempt that it names, and confirms no other', () => {
    const first = { attempt: 1, failedJobs: ['lint'], finishedAt: T0 }
    const ours: Said = { word: 'initiated', details: { attempt: 2 }, origin: 'action' }
    const attempts = attemptsOf({ word: 'error', details: { attempt: 1 } }, ours, { word: 'error', details: first })
    expect(attempts).toMatchObject([
      { n: 1, details: first },
      { n: 2, details: { failedJobs: null, finishedAt: null }, isConfirmedByCi: false },
    ])
    const [second] = attemptsOf(ours, { word: 'error', details: first })
    expect(second).toMatchObject({ n: 2, details: { failedJobs: null }, isConfirmedByCi: false })
  })

  it("is when the attempt started and ended, by CI's own times, but not by the time we received it", () => {
    const times = { startedAt: T0 - 9 * SECOND, finishedAt: T0 - SECOND }
    const [told] = attemptsOf('success', { word: 'initiated', details: times })
    expect(told).toMatchObject({ startedAt: T0 - 9 * SECOND, finalAt: T0 - SECOND })
    const [unreached] = attemptsOf('success', 'initiated', 'success')
    expect(unreached).toMatchObject({ startedAt: null, finalAt: T0 })
  })

  it('is not among the build events that made the attempt what it is', () => {
    const [attempt] = attemptsOf('initiated', 'testing', 'success', 'waiting', 'success')
    expect(attempt!.buildEvents.map(({ seq }) => seq)).toEqual([1, 3])
  })

  // The second echo overwrites what the first one filled in: then the card of a finished build changes with each
  // repetition that words it differently.
  it('does not overwrite what an earlier one has filled in', () => {
    const [attempt] = attemptsOf('success', { word: 'success', details: ADA }, { word: 'success', details: GRACE })
    expect(attempt!.details).toMatchObject(ADA)
  })
})
