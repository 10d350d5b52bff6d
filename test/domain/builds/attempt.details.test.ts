import { describe, expect, it } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { HOUR, MINUTE, attemptsOf, SECOND, T0, type Said } from '../../support/build-events.ts'

describe('an attempt', () => {
  it('began and ended when its events were received', () => {
    const [attempt] = attemptsOf('initiated', { word: 'error', after: 7 * MINUTE })
    expect(attempt).toMatchObject({ firstAt: T0, startedAt: T0, finalAt: T0 + 7 * MINUTE, firstSeq: 1, finalSeq: 2 })
  })

  it("began and ended at CI's own times, if CI gave them", () => {
    const [attempt] = attemptsOf('initiated', {
      word: 'error',
      after: 7 * MINUTE,
      details: { startedAt: T0 - SECOND, finishedAt: T0 + 6 * MINUTE },
    })
    expect(attempt).toMatchObject({ startedAt: T0 - SECOND, finalAt: T0 + 6 * MINUTE })
  })

  it('ran as long as the source says, since its start, however late we receive either', () => {
    const said = { finishedAt: T0 - HOUR, durationMs: 20 * MINUTE }
    const startedAt = T0 - 2 * HOUR
    const [alone] = attemptsOf({ word: 'error', details: said })
    expect(alone).toMatchObject({ startedAt: T0 - HOUR - 20 * MINUTE, finalAt: T0 - HOUR, durationMs: 20 * MINUTE })
    const [both] = attemptsOf('initiated', { word: 'error', after: SECOND, details: said })
    expect(both).toMatchObject({ startedAt: T0 - HOUR - 20 * MINUTE, finalAt: T0 - HOUR, durationMs: 20 * MINUTE })
    const [known] = attemptsOf({ word: 'initiated', details: { startedAt } }, { word: 'error', details: said })
    expect(known).toMatchObject({ startedAt, finalAt: T0 - HOUR, durationMs: 20 * MINUTE })
    const [running] = attemptsOf({ word: 'initiated', details: { startedAt } })
    expect(running).toMatchObject({ startedAt, durationMs: null })
  })

  it.each([
    ["ended at Go's zero time", { startedAt: T0, finishedAt: Date.parse('0001-01-01T00:00:00Z') }, T0],
    ['ended in 1970', { startedAt: T0, finishedAt: 0 }, T0],
    ['ended before its start', { startedAt: T0 - SECOND, finishedAt: T0 - MINUTE }, T0 - SECOND],
    ['ended before the start that we received', { startedAt: null, finishedAt: T0 - MINUTE }, T0],
    ['ended two hours after we received that', { startedAt: T0 - SECOND, finishedAt: T0 + 2 * HOUR }, T0],
    ['began two hours after we received its end', { startedAt: T0 + 2 * HOUR, finishedAt: T0 }, T0],
  ])('has the times of receipt instead of impossible ones: it %s', (_, details, startedAt) => {
    const [attempt] = attemptsOf('initiated', { word: 'error', after: 7 * MINUTE, details })
    expect(attempt).toMatchObject({ startedAt, finalAt: T0 + 7 * MINUTE })
  })

  it('keeps times of a clock that is a little ahead', () => {
    const details = { startedAt: T0, finishedAt: T0 + 10 * MINUTE }
    const [attempt] = attemptsOf('initiated', { word: 'error', after: 7 * MINUTE, details })
    expect(attempt).toMatchObject({ startedAt: T0, finalAt: T0 + 10 * MINUTE })
  })

  it('has no start time from a late start event', () => {
    expect(attemptsOf('success', 'initiated')[0]!.startedAt).toBeNull()
  })

  it('has not begun while it is only waiting', () => {
    expect(attemptsOf('waiting')[0]!.startedAt).toBeNull()
  })

  it('begins with its first start, even if it waits later', () => {
    expect(attemptsOf('initiated', 'waiting', 'initiated')[0]!.startedAt).toBe(T0)
  })

  it('takes no times and details from another attempt', () => {
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
const WHOLE = { isWhole: true, how: 'then-cancelled', says: [] } as const
const READ: Said = { word: 'error', details: { attempt: 1, failedJobs: ['unit'], end: WHOLE } }
const STOPPED: Said = { word: 'stopped', details: { attempt: 1 } }
const buildUuid = toUuid('3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8')

describe('a repeated or late build event', () => {
  it.each<[claim: string, said: (string | Said)[]]>([
    ['a late start', ['success', { word: 'initiated', details: ADA }]],
    ['a late pause', ['initiated', 'success', { word: 'waiting', details: ADA }]],
    ['a late unknown word', ['initiated', 'success', { word: 'paused', details: ADA }]],
    ['a repeated start', ['initiated', { word: 'initiated', details: ADA }]],
    ['a synonym of the start', ['initiated', { word: 'testing', details: ADA }]],
    ['a repeated end', ['initiated', 'success', { word: 'success', details: ADA }]],
    ['a repeated start, before the attempt ends', ['initiated', { word: 'initiated', details: ADA }, 'success']],
  ])('fills in missing details: %s', (_, said) => {
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
      'a repeated start, if only the end has the details',
      ['initiated', { word: 'initiated', details: GRACE }, { word: 'success', details: ADA }],
    ],
  ])('overwrites no known details: %s', (_, said) => {
    expect(attemptsOf(...said)).toMatchObject([{ details: ADA }])
  })

  it('does not prevent a later event that changes the attempt from overwriting its details', () => {
    const [attempt] = attemptsOf({ word: 'initiated', details: GRACE }, { word: 'success', details: ADA })
    expect(attempt!.details).toMatchObject(ADA)
  })

  it('fills in one detail and leaves another as it is', () => {
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

  it('adds details to the attempt that it was received for, and to no other', () => {
    const attempts = attemptsOf('initiated', 'error', 'initiated', { word: 'testing', details: ADA })
    expect(attempts.map(({ details }) => details.committer)).toEqual([null, 'Ada'])
    const [first, second] = attemptsOf('initiated', 'error', { word: 'error', details: ADA }, 'initiated')
    expect([first, second].map((attempt) => attempt!.details.committer)).toEqual(['Ada', null])
  })

  it('adds details to the attempt whose number it has, and confirms no other', () => {
    const first = { attempt: 1, failedJobs: ['lint'], finishedAt: T0 }
    const ours: Said = { word: 'initiated', details: { attempt: 2 }, origin: 'action' }
    const attempts = attemptsOf({ word: 'error', details: { attempt: 1 } }, ours, { word: 'error', details: first })
    expect(attempts).toMatchObject([
      { n: 1, details: first },
      { n: 2, details: { failedJobs: null, finishedAt: null }, isConfirmedByCi: false },
    ])
    const [, second] = attemptsOf(ours, { word: 'error', details: first })
    expect(second).toMatchObject({ n: 2, details: { failedJobs: null }, isConfirmedByCi: false })
  })

  it.each<[when: string, said: Said[]]>([
    ['before', [READ, STOPPED]],
    ['after', [STOPPED, READ]],
    ['between two of', [STOPPED, READ, STOPPED]],
  ])('ends as its jobs say, if they were read %s the deliveries of its end', (_, said) => {
    const attempts = attemptsOf({ word: 'initiated', details: { attempt: 1 } }, ...said)
    expect(attempts).toMatchObject([{ n: 1, status: 'failed', details: { failedJobs: ['unit'], end: WHOLE } }])
  })

  it("gives the attempt CI's own start and end times, but not the time of its receipt", () => {
    const times = { startedAt: T0 - 9 * SECOND, finishedAt: T0 - SECOND }
    const [told] = attemptsOf('success', { word: 'initiated', details: times })
    expect(told).toMatchObject({ startedAt: T0 - 9 * SECOND, finalAt: T0 - SECOND })
    const [unreached] = attemptsOf('success', 'initiated', 'success')
    expect(unreached).toMatchObject({ startedAt: null, finalAt: T0 })
  })

  it('is not among the build events of the attempt', () => {
    const [attempt] = attemptsOf('initiated', 'testing', 'success', 'waiting', 'success')
    expect(attempt!.buildEvents.map(({ seq }) => seq)).toEqual([1, 3])
  })

  // If a second repetition overwrote what the first filled in, the card of a finished build would change with each
  // repetition that says something else.
  it('does not overwrite a detail that an earlier one has filled in', () => {
    const [attempt] = attemptsOf('success', { word: 'success', details: ADA }, { word: 'success', details: GRACE })
    expect(attempt!.details).toMatchObject(ADA)
  })
})
