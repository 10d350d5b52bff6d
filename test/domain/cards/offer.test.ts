import { describe, expect, it } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { offerOf, offerOfRestart, offerOfStop, type Facilities, type Offer } from '../../../src/domain/cards/offer.ts'
import { OPEN_STATES, type Request, type RequestState } from '../../../src/domain/cards/request.ts'
import type { Attempt } from '../../../src/domain/builds/attempt.ts'
import { buildId, request, attemptsOf } from '../../support/build-events.ts'

const PROJECT_UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const BUILD_UUID = toUuid('22222222-bbbb-0000-0000-000000000002')

const BASIC = { uuid: PROJECT_UUID, legacyId: '41', type: 'basic' }
const LISTED_BY_LEGACY = { uuid: PROJECT_UUID, legacyId: '41', type: null }
const PRO = { uuid: PROJECT_UUID, legacyId: null, type: 'pro' }
const UNTYPED = { uuid: PROJECT_UUID, legacyId: null, type: null }
const OF_A_NEW_TYPE = { uuid: PROJECT_UUID, legacyId: null, type: 'premium' }

type Known = Facilities['project']

const through = (v2: boolean, legacy: boolean, project: Known): Facilities => ({ v2, legacy, project })
const EVERYTHING = through(true, true, BASIC)

/** The newest attempt of a build with this as CI's last word. */
const runWith = (word: string, details = {}): Attempt => attemptsOf({ word, details }).at(-1)!
const BOTH_UUIDS = { projectUuid: PROJECT_UUID, buildUuid: BUILD_UUID }

describe('the offer by status', () => {
  it.each<[word: string, stop: Offer, restart: Offer]>([
    ['initiated', 'offered', 'not-now'],
    ['testing', 'offered', 'not-now'],
    ['waiting', 'not-now', 'not-now'],
    ['success', 'not-now', 'offered'],
    ['error', 'not-now', 'offered'],
    ['failed', 'not-now', 'offered'],
    ['stopped', 'not-now', 'offered'],
    ['infrastructure_failure', 'not-now', 'offered'],
    ['ignored', 'not-now', 'offered'],
    ['blocked', 'not-now', 'offered'],
    ['hibernating', 'not-now', 'not-now'],
  ])('of a build that is %s, stop is %s and restart is %s', (word, stop, restart) => {
    const attempt = runWith(word, BOTH_UUIDS)
    expect(offerOfStop(attempt, EVERYTHING, [])).toBe(stop)
    expect(offerOfRestart(attempt, EVERYTHING, [])).toBe(restart)
  })

  it('is a restart for a build with an unknown status once CI gives a finish time', () => {
    const attempt = runWith('timed_out', { ...BOTH_UUIDS, finishedAt: 1_000 })
    expect(offerOfStop(attempt, EVERYTHING, [])).toBe('not-now')
    expect(offerOfRestart(attempt, EVERYTHING, [])).toBe('offered')
    expect(offerOfRestart(runWith('waiting', { finishedAt: 1_000 }), EVERYTHING, [])).toBe('not-now')
  })

  it('gives no reason for an action that does not fit the status, even if nothing is configured', () => {
    expect(offerOfStop(runWith('error'), through(false, false, null), [])).toBe('not-now')
    expect(offerOfRestart(runWith('initiated'), through(false, false, null), [])).toBe('not-now')
  })

  it('is made for the action that is asked about', () => {
    expect(offerOf('stop')(runWith('initiated', BOTH_UUIDS), EVERYTHING, [])).toBe('offered')
    expect(offerOf('restart')(runWith('error'), EVERYTHING, [])).toBe('offered')
  })
})

describe('stopping a running build', () => {
  it.each<[claim: string, details: object, facilities: Facilities, offer: Offer]>([
    ['both uuids were delivered', BOTH_UUIDS, through(true, false, null), 'offered'],
    [
      'the build uuid was delivered and CI lists the project',
      { buildUuid: BUILD_UUID },
      through(true, false, PRO),
      'offered',
    ],
    ['no uuid was delivered, but CI can be asked for a Basic project', {}, through(true, true, BASIC), 'offered'],
    [
      'no uuid was delivered, but the legacy interface lists the project',
      {},
      through(true, true, LISTED_BY_LEGACY),
      'offered',
    ],
    ['only the project uuid was delivered', { projectUuid: PROJECT_UUID }, through(true, false, PRO), 'no-build-uuid'],
    [
      'the project is Basic, but the legacy interface is not configured',
      {},
      through(true, false, BASIC),
      'no-build-uuid',
    ],
    ['the project is Pro', {}, through(true, true, PRO), 'no-build-uuid'],
    ['CI gives no type', {}, through(true, true, UNTYPED), 'no-build-uuid'],
    ['the project is unknown', {}, through(true, true, null), 'no-build-uuid'],
    [
      'the build uuid was delivered, but CI does not list the project',
      { buildUuid: BUILD_UUID },
      through(true, true, null),
      'project-unknown',
    ],
    ['v2 is not configured', BOTH_UUIDS, through(false, true, BASIC), 'no-v2'],
    ['nothing is configured', {}, through(false, false, null), 'no-v2'],
  ])('when %s', (_, details, facilities, offer) => {
    expect(offerOfStop(runWith('initiated', details), facilities, [])).toBe(offer)
  })
})

describe('restarting a finished build', () => {
  it.each<[claim: string, facilities: Facilities, offer: Offer]>([
    ['the project is Basic', through(false, true, BASIC), 'offered'],
    ['the legacy interface lists the project', through(false, true, LISTED_BY_LEGACY), 'offered'],
    ['v2 alone calls the project Basic', through(true, true, { ...BASIC, legacyId: null }), 'offered'],
    ['the project is Pro', through(true, true, PRO), 'pro-project'],
    ['the project is Pro, even if its id is known', through(true, true, { ...PRO, legacyId: '41' }), 'pro-project'],
    ['CI gives no type', through(true, true, UNTYPED), 'project-unknown'],
    ['CI gives a type that Buildline does not know', through(true, true, OF_A_NEW_TYPE), 'project-unknown'],
    ['CI does not list the project', through(true, true, null), 'project-unknown'],
    ['the legacy interface is not configured', through(true, false, BASIC), 'no-legacy'],
    ['nothing is configured', through(false, false, null), 'no-legacy'],
  ])('when %s', (_, facilities, offer) => {
    expect(offerOfRestart(runWith('error', BOTH_UUIDS), facilities, [])).toBe(offer)
  })

  it.each<[claim: string, facilities: Facilities, offer: Offer]>([
    ['is not possible, since CI restarts builds by number', EVERYTHING, 'no-build-number'],
    ['is never possible in a Pro project', through(true, true, PRO), 'pro-project'],
    ['is never possible without the legacy interface', through(true, false, BASIC), 'no-legacy'],
  ])('with a UUID %s', (_, facilities, offer) => {
    const attempt = attemptsOf({ word: 'error', build: BUILD_UUID, details: BOTH_UUIDS }).at(-1)!
    expect(offerOfRestart(attempt, facilities, [])).toBe(offer)
  })
})

describe('an earlier request', () => {
  const failed = runWith('error')
  const STATES: Record<RequestState, boolean> = {
    calling: true,
    accepted: true,
    unclear: true,
    confirmed: false,
    refused: false,
    unconfirmed: false,
  }

  it.each(Object.entries(STATES))('that is %s prevents another one: %s', (state, isOpen) => {
    const asked = [request({ state: state as RequestState })]
    expect(offerOfRestart(failed, EVERYTHING, asked)).toBe(isOpen ? 'asked' : 'offered')
  })

  it('is open in the states that the database queries as open', () => {
    expect([...OPEN_STATES].sort()).toEqual(
      Object.keys(STATES)
        .filter((state) => STATES[state as RequestState])
        .sort(),
    )
  })

  it.each<[claim: string, other: Partial<Request>]>([
    ['another action', { action: 'stop' }],
    ['another build', { buildId: buildId('511') }],
    ['another attempt of the build', { attempt: 2 }],
  ])('does not prevent one about %s', (_, other) => {
    expect(offerOfRestart(failed, EVERYTHING, [request(other)])).toBe('offered')
  })

  it('is the reason even if CI cannot be called now', () => {
    expect(offerOfRestart(failed, through(false, false, null), [request()])).toBe('asked')
    const running = runWith('initiated')
    expect(offerOfStop(running, through(false, false, null), [request({ action: 'stop' })])).toBe('asked')
  })
})

describe('a build of another source', () => {
  const BY_TOKENS: Facilities = { v2: false, legacy: false, github: true, gitlab: true, project: null }

  it.each<[project: string, word: string, stop: Offer, restart: Offer]>([
    ['github:1:77', 'queued', 'offered', 'not-now'],
    ['github:1:77', 'waiting', 'offered', 'not-now'],
    ['gitlab:1', 'waiting', 'not-now', 'not-now'],
    ['gitlab:1', 'queued', 'offered', 'not-now'],
    ['github:1:77', 'action_required', 'not-now', 'not-now'],
    ['github:1:77', 'error', 'not-now', 'offered'],
    ['github:1:77', 'success', 'not-now', 'offered'],
    ['gitlab:7', 'initiated', 'offered', 'not-now'],
    ['gitlab:7', 'stopped', 'not-now', 'offered'],
    // GitLab would not run any job again.
    ['gitlab:7', 'success', 'not-now', 'not-now'],
  ])('%s that is %s: stop is %s and restart is %s', (project, word, stop, restart) => {
    const attempt = attemptsOf({ word, project }).at(-1)!
    expect(offerOfStop(attempt, BY_TOKENS, [])).toBe(stop)
    expect(offerOfRestart(attempt, BY_TOKENS, [])).toBe(restart)
  })

  it('needs a token of its own source', () => {
    for (const [project, missing] of [
      ['github:1:77', 'no-github'],
      ['gitlab:7', 'no-gitlab'],
    ] as const) {
      expect(offerOfRestart(attemptsOf({ word: 'error', project }).at(-1)!, EVERYTHING, [])).toBe(missing)
      expect(offerOfStop(attemptsOf({ word: 'initiated', project }).at(-1)!, EVERYTHING, [])).toBe(missing)
    }
  })
})
