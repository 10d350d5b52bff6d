import { describe, expect, it } from 'vitest'
import {
  beganBy,
  isFinalEvent,
  mergeDetails,
  NO_DETAILS,
  revisionKey,
  toBuildEvent,
} from '../../../src/domain/builds/build-event.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { buildId, projectId, story, T0 } from '../../support/build-events.ts'

const seen = {
  projectId: projectId('9007199254740993'),
  buildId: buildId('18446744073709551615'),
  branch: null,
  commitId: null,
  rawStatus: 'Error',
  details: NO_DETAILS,
}

describe('toBuildEvent', () => {
  it('gives a received event its sequence number, time, status, origin and revision, and no card yet', () => {
    const buildEvent = {
      ...seen,
      seq: 7,
      at: T0,
      status: 'failed',
      buildOrder: seen.buildId,
      revisionKey: revisionKey(seen),
    }
    const unplaced = { cardNumber: null, isAcknowledged: false, isOutcome: false }
    expect(toBuildEvent(seen, 7, T0)).toEqual({ ...buildEvent, ...unplaced, origin: 'delivery' })
    expect(toBuildEvent(seen, 7, T0, 'poll')).toEqual({ ...buildEvent, ...unplaced, origin: 'poll' })
  })

  it("keeps CI's own word and ids beyond 2^53 unchanged", () => {
    expect(toBuildEvent(seen, 7, T0)).toMatchObject({
      rawStatus: 'Error',
      projectId: '9007199254740993',
      buildId: '18446744073709551615',
    })
  })

  it.each([
    ['error', true],
    ['initiated', false],
    ['paused', false],
  ])('knows whether %s ends an attempt: %s', (word, isFinal) => {
    expect(story(word).map(isFinalEvent)).toEqual([isFinal])
  })
})

describe('beganBy', () => {
  it.each([
    ['when it was received, if CI gives no time', {}, T0],
    ['when it started', { startedAt: T0 - 7, finishedAt: T0 - 3 }, T0 - 7],
    ['when it finished at the latest, if CI gives no start', { finishedAt: T0 - 3 }, T0 - 3],
    ["when it was received, if CI's clock is ahead", { startedAt: T0 + 7 }, T0],
    ["when it was received, if CI's time is that of an unset field", { startedAt: -62_135_596_800_000 }, T0],
    ["when it was received, if CI's time is zero", { startedAt: 0 }, T0],
  ])('says that a build began %s', (_, details, at) => {
    expect(beganBy({ ...NO_DETAILS, ...details }, T0)).toBe(at)
  })
})

describe('mergeDetails', () => {
  it('takes the newest value of each detail', () => {
    const buildEvents = story(
      { word: 'initiated', details: { message: 'fix login', committer: 'Ada' } },
      { word: 'success', details: { message: 'fix login again' } },
    )
    expect(mergeDetails(buildEvents)).toEqual({ ...NO_DETAILS, message: 'fix login again', committer: 'Ada' })
  })

  it('keeps the first value of what says which build it is', () => {
    const first = { projectName: 'acme/web CI', projectFullName: 'acme/web', number: '12', shortCommitId: 'a1b2c3d' }
    const uuids = { projectUuid: toUuid('1'.repeat(8)), buildUuid: toUuid('2'.repeat(8)) }
    const later = { projectName: 'acme/api CI', projectFullName: 'acme/api', number: '13', shortCommitId: 'ffffff0' }
    const buildEvents = story(
      'initiated',
      { word: 'initiated', details: { ...first, ...uuids } },
      { word: 'error', details: { ...later, projectUuid: uuids.buildUuid, buildUuid: uuids.projectUuid } },
    )
    expect(mergeDetails(buildEvents)).toMatchObject({ ...first, ...uuids })
  })

  it('keeps a detail that a later delivery leaves out', () => {
    const buildEvents = story({ word: 'initiated', details: { committer: 'Ada' } }, 'success')
    expect(mergeDetails(buildEvents).committer).toBe('Ada')
  })

  it('keeps an empty text and the time 0, which are values', () => {
    const buildEvents = story({ word: 'success', details: { message: '', lastEndAt: 0 } })
    expect(mergeDetails(buildEvents)).toMatchObject({ message: '', lastEndAt: 0 })
  })

  it('has no details for no build events, even after other calls', () => {
    expect(Object.values(mergeDetails([])).every((detail) => detail === null)).toBe(true)
    expect(mergeDetails(story({ word: 'success', details: { message: 'fix login' } })).message).toBe('fix login')
    expect(mergeDetails([])).toEqual(NO_DETAILS)
  })
})
