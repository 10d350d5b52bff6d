import { describe, expect, it } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { MissingCapability } from '../../../src/domain/cards/capabilities.ts'
import { OPEN_STATES, type Action, type Request, type RequestState } from '../../../src/domain/cards/request.ts'
import type { Attempt } from '../../../src/domain/builds/attempt.ts'
import { buildId, capabilitiesWith, request, attemptsOf, type Known } from '../../support/build-events.ts'

const PROJECT_UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const BUILD_UUID = toUuid('22222222-bbbb-0000-0000-000000000002')

const BASIC = { uuid: PROJECT_UUID, legacyId: '41', type: 'basic' }
const LISTED_BY_LEGACY = { uuid: PROJECT_UUID, legacyId: '41', type: null }
const PRO = { uuid: PROJECT_UUID, legacyId: null, type: 'pro' }
const UNTYPED = { uuid: PROJECT_UUID, legacyId: null, type: null }
const OF_A_NEW_TYPE = { uuid: PROJECT_UUID, legacyId: null, type: 'premium' }

const through = (v2: boolean, legacy: boolean, project: Known['project']): Known => ({ v2, legacy, project })
const EVERYTHING = through(true, true, BASIC)

/** The newest attempt of a build with this as CI's last word. */
const runWith = (word: string, details = {}): Attempt => attemptsOf({ word, details }).at(-1)!

type Shown = 'offered' | 'none' | MissingCapability

/** What is shown of one action: `none` if there is neither a button nor a reason. */
const shownOf =
  (action: Action) =>
  (attempt: Attempt, known: Known, requests: readonly Request[]): Shown => {
    const { offers, missing } = capabilitiesWith(known, [attempt], requests)
    return offers.includes(action) ? 'offered' : missing?.action === action ? missing.why : 'none'
  }
const stopOf = shownOf('stop')
const restartOf = shownOf('restart')

const BOTH_UUIDS = { projectUuid: PROJECT_UUID, buildUuid: BUILD_UUID }

describe('the possible action by status', () => {
  it.each<[word: string, stop: Shown, restart: Shown]>([
    ['initiated', 'offered', 'none'],
    ['testing', 'offered', 'none'],
    ['waiting', 'none', 'none'],
    ['success', 'none', 'offered'],
    ['error', 'none', 'offered'],
    ['failed', 'none', 'offered'],
    ['stopped', 'none', 'offered'],
    ['infrastructure_failure', 'none', 'offered'],
    ['ignored', 'none', 'offered'],
    ['blocked', 'none', 'offered'],
    ['hibernating', 'none', 'none'],
  ])('of a build that is %s, stop is %s and restart is %s', (word, stop, restart) => {
    const attempt = runWith(word, BOTH_UUIDS)
    expect(stopOf(attempt, EVERYTHING, [])).toBe(stop)
    expect(restartOf(attempt, EVERYTHING, [])).toBe(restart)
  })

  it('is a restart for a build with an unknown status once CI gives a finish time', () => {
    const attempt = runWith('timed_out', { ...BOTH_UUIDS, finishedAt: 1_000 })
    expect(stopOf(attempt, EVERYTHING, [])).toBe('none')
    expect(restartOf(attempt, EVERYTHING, [])).toBe('offered')
    expect(restartOf(runWith('waiting', { finishedAt: 1_000 }), EVERYTHING, [])).toBe('none')
  })

  it('gives no reason for an action that does not fit the status, even if nothing is configured', () => {
    expect(stopOf(runWith('error'), through(false, false, null), [])).toBe('none')
    expect(restartOf(runWith('initiated'), through(false, false, null), [])).toBe('none')
  })
})

describe('stopping a running build', () => {
  it.each<[claim: string, details: object, known: Known, offer: Shown]>([
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
  ])('when %s', (_, details, known, offer) => {
    expect(stopOf(runWith('initiated', details), known, [])).toBe(offer)
  })
})

describe('restarting a finished build', () => {
  it.each<[claim: string, known: Known, offer: Shown]>([
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
  ])('when %s', (_, known, offer) => {
    expect(restartOf(runWith('error', BOTH_UUIDS), known, [])).toBe(offer)
  })

  it.each<[claim: string, known: Known, offer: Shown]>([
    ['is not possible, since CI restarts builds by number', EVERYTHING, 'no-build-number'],
    ['is never possible in a Pro project', through(true, true, PRO), 'pro-project'],
    ['is never possible without the legacy interface', through(true, false, BASIC), 'no-legacy'],
  ])('with a UUID %s', (_, known, offer) => {
    const attempt = attemptsOf({ word: 'error', build: BUILD_UUID, details: BOTH_UUIDS }).at(-1)!
    expect(restartOf(attempt, known, [])).toBe(offer)
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
    expect(restartOf(failed, EVERYTHING, asked)).toBe(isOpen ? 'none' : 'offered')
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
    expect(restartOf(failed, EVERYTHING, [request(other)])).toBe('offered')
  })

  it('needs no reason, even if CI cannot be called now', () => {
    expect(restartOf(failed, through(false, false, null), [request()])).toBe('none')
    const running = runWith('initiated')
    expect(stopOf(running, through(false, false, null), [request({ action: 'stop' })])).toBe('none')
  })
})

describe('a build of another source', () => {
  const BY_TOKENS: Known = { v2: false, legacy: false, github: true, gitlab: true, project: null }

  it.each<[project: string, word: string, stop: Shown, restart: Shown]>([
    ['github:1:77', 'queued', 'offered', 'none'],
    ['github:1:77', 'waiting', 'offered', 'none'],
    ['gitlab:1', 'waiting', 'none', 'none'],
    ['gitlab:1', 'queued', 'offered', 'none'],
    ['github:1:77', 'action_required', 'none', 'none'],
    ['github:1:77', 'error', 'none', 'offered'],
    ['github:1:77', 'success', 'none', 'offered'],
    ['gitlab:7', 'initiated', 'offered', 'none'],
    ['gitlab:7', 'stopped', 'none', 'offered'],
    // GitLab would not run any job again.
    ['gitlab:7', 'success', 'none', 'none'],
  ])('%s that is %s: stop is %s and restart is %s', (project, word, stop, restart) => {
    const attempt = attemptsOf({ word, project }).at(-1)!
    expect(stopOf(attempt, BY_TOKENS, [])).toBe(stop)
    expect(restartOf(attempt, BY_TOKENS, [])).toBe(restart)
  })

  it('needs a token of its own source', () => {
    for (const [project, missing] of [
      ['github:1:77', 'no-github'],
      ['gitlab:7', 'no-gitlab'],
    ] as const) {
      expect(restartOf(attemptsOf({ word: 'error', project }).at(-1)!, EVERYTHING, [])).toBe(missing)
      expect(stopOf(attemptsOf({ word: 'initiated', project }).at(-1)!, EVERYTHING, [])).toBe(missing)
    }
  })
})
