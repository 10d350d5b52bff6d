import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { githubProjectId, idOrder, isIdDigits } from '../../../src/domain/ids.ts'
import {
  CLOCKS_DIFFER_MS,
  credible,
  isResultOf,
  isOpen,
  lastRequestOf,
  parseAttemptRef,
  restartRequests,
  attemptRefText,
  shownBy,
  type Request,
  type RequestState,
} from '../../../src/domain/cards/request.ts'
import { foldAttempts } from '../../../src/domain/builds/attempt.ts'
import { buildId, HOUR, MINUTE, projectId, request, story, T0, WEB, type Said } from '../../support/build-events.ts'

/** Lin makes the request ten minutes after the story begins. */
const REQUESTED_AT = 10 * MINUTE
const STATES: readonly RequestState[] = ['calling', 'accepted', 'unclear', 'confirmed', 'refused', 'unconfirmed']

const ran: readonly Said[] = [
  { word: 'initiated', after: 0 },
  { word: 'error', after: MINUTE },
]

/** The attempts of a story with these requests. */
const attemptsAsked = (requests: readonly Request[], ...said: readonly (string | Said)[]) =>
  foldAttempts(story(...said), restartRequests(requests))

const nameOf = (attempt: { buildId: string; n: number } | null) => attempt && `${attempt.buildId}.${attempt.n}`

describe('the name of an attempt', () => {
  it('is read back as it was written', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 20n - 1n }).map(String)
    const anyRun = fc.record({ project: digits, build: digits, attempt: fc.integer({ min: 1, max: 999_999_999 }) })
    fc.assert(
      fc.property(anyRun, ({ project, build, attempt }) => {
        const ref = { projectId: projectId(project), buildId: buildId(build), attempt }
        expect(parseAttemptRef(attemptRefText(ref))).toEqual(ref)
      }),
    )
  })

  it('is short enough to be read in a log', () => {
    expect(attemptRefText({ projectId: projectId(WEB), buildId: buildId('512'), attempt: 1 })).toBe('41/512.1')
  })

  it.each([
    ['nothing', ''],
    ['words', 'restart it'],
    ['no project', '/512.1'],
    ['no attempt', '41/512'],
    ['an empty attempt', '41/512.'],
    ['no build', '41/.1'],
    ['a sign', '41/-512.1'],
    ['a fraction', '41/512.1.5'],
    ['an exponent', '41/512.1e3'],
    ['another number before', '0x41/512.1'],
    ['blanks around', ' 41/512.1 '],
    ['a line end after', '41/512.1\n'],
    ['a second line', '41/512.1\n42/7.1'],
    ['digits of another script', '٤١/٥١٢.١'],
    ['a path with ..', '../41/512.1'],
    ['a further part', '41/512.1/stop'],
    ['SQL', "41/512.1'; drop table request; --"],
    ['an id of 21 digits', `${'9'.repeat(21)}/512.1`],
    ['a build of 21 digits', `41/${'9'.repeat(21)}.1`],
    ['an attempt of 10 digits', `41/512.${'9'.repeat(10)}`],
    ['a megabyte', '9'.repeat(1_000_000)],
  ])('cannot be read from %s', (_, text) => {
    expect(parseAttemptRef(text)).toBeNull()
  })

  it('can be read up to the longest ids', () => {
    const longest = '9'.repeat(20)
    expect(parseAttemptRef(`${longest}/${longest}.999999999`)).toEqual({
      projectId: longest,
      buildId: longest,
      attempt: 999_999_999,
    })
  })

  it('consists of digits only, whatever people type', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d/.\s-]{0,40}$/)), (text) => {
        const ref = parseAttemptRef(text)
        if (!ref) return
        expect(text).toBe(`${ref.projectId}/${ref.buildId}.${text.split('.')[1]}`)
        for (const id of [ref.projectId, ref.buildId]) expect(isIdDigits(id.replace(/^0+(?=\d)/, ''))).toBe(true)
        expect(Number.isSafeInteger(ref.attempt)).toBe(true)
      }),
    )
  })
})

describe('a request', () => {
  it.each(STATES.map((state) => [state, ['calling', 'accepted', 'unclear'].includes(state)] as const))(
    'that is %s is open: %s',
    (state, open) => {
      expect(isOpen(request({ state }))).toBe(open)
    },
  )
})

describe('a restart', () => {
  const restart = (change: Partial<Request> = {}) => request({ state: 'accepted', ...change })
  const again = (word: string, after: number, build = '512'): Said => ({ word, after, build })

  it.each<[claim: string, change: Partial<Request>, said: Said[], shown: string | null]>([
    ['nothing while no event arrives', {}, [], null],
    ['the next attempt of the same build', {}, [again('initiated', REQUESTED_AT + MINUTE)], '512.2'],
    ['an attempt that began at the very moment of the request', {}, [again('initiated', REQUESTED_AT)], '512.2'],
    ['an attempt of which only a different end arrives', {}, [again('success', REQUESTED_AT + MINUTE)], '512.2'],
    ['no attempt that began before the request', {}, [again('initiated', REQUESTED_AT - 1)], null],
    [
      'the first attempt of the build that CI named',
      { newBuildId: buildId('513') },
      [again('initiated', REQUESTED_AT, '514'), again('initiated', REQUESTED_AT + 1, '513')],
      '513.1',
    ],
    [
      'that attempt even if it seems to begin before the request',
      { newBuildId: buildId('513') },
      [again('initiated', REQUESTED_AT - 1, '513')],
      '513.1',
    ],
    [
      'no build other than the one that CI named',
      { newBuildId: buildId('513') },
      [again('initiated', REQUESTED_AT, '514')],
      null,
    ],
    [
      'the newer build that began since, if CI named none',
      { state: 'unclear' },
      [again('initiated', REQUESTED_AT, '513')],
      '513.1',
    ],
    ['a newer build with a longer id', { state: 'unclear' }, [again('initiated', REQUESTED_AT, '1000')], '1000.1'],
    ['no newer build that began earlier', { state: 'unclear' }, [again('initiated', REQUESTED_AT - 1, '513')], null],
    ['no older build', { state: 'unclear' }, [again('initiated', REQUESTED_AT, '511')], null],
    ['nothing after a refusal', { state: 'refused' }, [again('initiated', REQUESTED_AT + HOUR)], null],
    ['no newer build after a refusal either', { state: 'refused' }, [again('initiated', REQUESTED_AT, '513')], null],
  ])('is shown by %s', (_, change, said, shown) => {
    const asked = restart(change)
    expect(nameOf(shownBy(asked, attemptsAsked([asked], ...ran, ...said)))).toBe(shown)
  })

  it('is not shown by our own event, although that opens the attempt', () => {
    const asked = restart()
    const ours: Said = { word: 'initiated', after: REQUESTED_AT, origin: 'action' }
    const attempts = attemptsAsked([asked], ...ran, ours)
    expect(nameOf(attempts.find((attempt) => isResultOf(asked, attempt)) ?? null)).toBe('512.2')
    expect(shownBy(asked, attempts)).toBeNull()
    expect(nameOf(shownBy(asked, attemptsAsked([asked], ...ran, ours, again('initiated', REQUESTED_AT + 1))))).toBe(
      '512.2',
    )
    const snapshot: Said = { word: 'initiated', after: REQUESTED_AT + 1, origin: 'poll' }
    expect(nameOf(shownBy(asked, attemptsAsked([asked], ...ran, ours, snapshot)))).toBe('512.2')
  })

  it('is not shown by a newer build that CI named in answer to another request', () => {
    const asked = restart({ state: 'unclear' })
    const other = restart({ id: 'request-2', newBuildId: buildId('513') })
    const attempts = attemptsAsked([], ...ran, again('initiated', REQUESTED_AT, '513'))
    expect(shownBy(asked, attempts, [asked, other])).toBeNull()
    expect(nameOf(shownBy(other, attempts, [asked, other]))).toBe('513.1')
    const elsewhere = { ...other, newBuildId: buildId('514') }
    expect(nameOf(shownBy(asked, attempts, [asked, elsewhere]))).toBe('513.1')
  })

  it('is still shown by the newer build that confirmed it if CI then names that build in another answer', () => {
    const asked = restart({ state: 'confirmed', endedAt: T0 + REQUESTED_AT + MINUTE })
    const other = restart({ id: 'request-2', newBuildId: buildId('513') })
    const attempts = attemptsAsked([], ...ran, again('initiated', REQUESTED_AT, '513'))
    expect(nameOf(shownBy(asked, attempts, [asked, other]))).toBe('513.1')
  })

  it.each<[by: string, change: Partial<Request>, build: string, n: number]>([
    ['the same build', {}, '512', 2],
    ['the build that CI named', { newBuildId: buildId('513') }, '513', 1],
    ['a newer build, if CI named none', {}, '513', 1],
  ])('leads to one attempt only: %s may run again for other reasons', (_, change, build, n) => {
    const endedAt = T0 + REQUESTED_AT + MINUTE
    const run = (firstAt: number) => ({ buildId: buildId(build), buildOrder: idOrder(build), n, firstAt })
    const done = restart({ ...change, state: 'confirmed', endedAt })
    expect(isResultOf(done, run(endedAt + CLOCKS_DIFFER_MS))).toBe(true)
    expect(isResultOf(done, run(endedAt + CLOCKS_DIFFER_MS + 1))).toBe(false)
    // A request that was given up has not ended: a late event may still confirm it.
    const givenUp = { ...done, state: 'unconfirmed' } as const
    expect(isResultOf(givenUp, run(endedAt + CLOCKS_DIFFER_MS + 1))).toBe(true)
  })

  it('is still shown by the newer build if that is restarted too and CI names it in answer', () => {
    const asked = restart({ state: 'unclear' })
    const other = restart({
      id: 'request-2',
      buildId: buildId('513'),
      newBuildId: buildId('513'),
      requestedAt: T0 + HOUR,
    })
    const attempts = attemptsAsked(
      [other],
      ...ran,
      again('error', REQUESTED_AT, '513'),
      again('initiated', HOUR + MINUTE, '513'),
    )
    expect(nameOf(shownBy(asked, attempts, [asked, other]))).toBe('513.1')
    expect(nameOf(shownBy(other, attempts, [asked, other]))).toBe('513.2')
    const nextCard = attemptsAsked([], again('initiated', HOUR + MINUTE, '513'))
    expect(shownBy(asked, nextCard, [asked, other])).toBeNull()
    expect(nameOf(shownBy(other, nextCard, [asked, other]))).toBe('513.1')
  })

  it('leads to attempt 1 of the next card after a long rest, where attempts are counted anew', () => {
    const asked = restart()
    const onNextCard = attemptsAsked([], again('initiated', REQUESTED_AT))
    expect(nameOf(shownBy(asked, onNextCard))).toBe('512.1')
    expect(shownBy(asked, attemptsAsked([], again('initiated', REQUESTED_AT - 1)))).toBeNull()
  })

  it('leads only to the next attempt', () => {
    const asked = restart()
    const attempts = attemptsAsked(
      [asked],
      ...ran,
      again('initiated', REQUESTED_AT),
      again('error', REQUESTED_AT + 1),
      again('testing', HOUR),
    )
    expect(attempts.filter((attempt) => isResultOf(asked, attempt)).map(nameOf)).toEqual(['512.2'])
  })

  it('leads to a later attempt if the source numbers attempts and the one before never arrived', () => {
    const asked = restart({ projectId: githubProjectId('1', '77'), newBuildId: buildId('512') })
    const named = (word: string, n: number, after: number, origin: Said['origin'] = 'delivery'): Said => ({
      word,
      after,
      details: { attempt: n },
      origin,
    })
    const ours = named('initiated', 2, REQUESTED_AT, 'action')
    const third = named('initiated', 3, REQUESTED_AT + 1)
    const attempts = attemptsAsked([asked], named('error', 1, 0), ours, third)
    expect(nameOf(shownBy(asked, attempts))).toBe('512.3')
    expect(lastRequestOf(attempts.at(-1)!, [asked], attempts)).toBe(asked)
    // A further attempt, made by another restart, does not belong to this request.
    const more = attemptsAsked([asked], named('error', 1, 0), named('error', 2, REQUESTED_AT), third)
    expect(nameOf(shownBy(asked, more))).toBe('512.2')
    expect(lastRequestOf(more.at(-1)!, [asked], more)).toBeNull()
    expect(shownBy(restart({ newBuildId: buildId('512') }), attempts)).toBeNull()
  })

  it('is not meant by a request to stop', () => {
    const asked = request({ action: 'stop' })
    const attempts = attemptsAsked([], ...ran, again('initiated', REQUESTED_AT))
    expect(attempts.some((attempt) => isResultOf(asked, attempt))).toBe(false)
  })
})

describe('a stop', () => {
  const stop = (change: Partial<Request> = {}) => request({ action: 'stop', state: 'accepted', ...change })

  it.each<[claim: string, change: Partial<Request>, said: (string | Said)[], shown: string | null]>([
    ['nothing while the attempt runs', {}, ['initiated'], null],
    ['nothing while the attempt waits', {}, ['initiated', 'waiting'], null],
    ['the attempt that was stopped', {}, ['initiated', 'stopped'], '512.1'],
    ['the attempt that ended otherwise', {}, ['initiated', 'success'], '512.1'],
    ['no end of another build', {}, ['initiated', { word: 'stopped', build: '513' }], null],
    ['no end of an earlier attempt', { attempt: 2 }, ['initiated', 'error', 'initiated'], null],
    ['the end of the requested attempt', { attempt: 2 }, ['initiated', 'error', 'initiated', 'stopped'], '512.2'],
    ['the end of that attempt, whatever runs later', {}, ['initiated', 'stopped', 'initiated', 'error'], '512.1'],
    ['nothing after a refusal', { state: 'refused' }, ['initiated', 'stopped'], null],
  ])('is shown by %s', (_, change, said, shown) => {
    expect(nameOf(shownBy(stop(change), attemptsAsked([], ...said)))).toBe(shown)
  })
})

describe('the last request of an attempt', () => {
  const first = request({ id: 'first', state: 'refused' })
  const second = request({ id: 'second', state: 'accepted', requestedBy: 'U0ADA00001' })
  const attempts = attemptsAsked([second], ...ran, { word: 'initiated', after: REQUESTED_AT })

  it('is the latest request about it', () => {
    expect(lastRequestOf(attempts[0]!, [first, second])?.id).toBe('second')
    expect(lastRequestOf(attempts[0]!, [first])?.id).toBe('first')
  })

  it('is the request that led to it, until another is made about it', () => {
    expect(lastRequestOf(attempts[1]!, [first, second])?.id).toBe('second')
    const stop = request({ id: 'stop', action: 'stop', attempt: 2 })
    expect(lastRequestOf(attempts[1]!, [first, second, stop])?.id).toBe('stop')
  })

  it('does not exist if nobody made one, and a refused request leads to no attempt', () => {
    expect(lastRequestOf(attempts[0]!, [])).toBeNull()
    expect(lastRequestOf(attempts[1]!, [first])).toBeNull()
    expect(lastRequestOf(attempts[0]!, [request({ buildId: buildId('511') })])).toBeNull()
  })
})

describe('the restarts that make a start a new attempt', () => {
  it.each(STATES.map((state) => [state, state !== 'refused'] as const))('include a %s one: %s', (state, counts) => {
    const asked = restartRequests([request({ state })])
    expect(asked).toEqual(counts ? [{ buildId: '512', at: T0 + REQUESTED_AT }] : [])
  })

  it('include no stop', () => {
    expect(restartRequests([request({ action: 'stop' })])).toEqual([])
  })

  it('leave out one that never happened according to CI, but include one that CI could not be asked about', () => {
    const gaveUp = (code: string) => restartRequests([request({ state: 'unconfirmed', code })])
    expect(gaveUp('not-restarted')).toEqual([])
    expect(gaveUp('cannot-look')).toHaveLength(1)
  })
})

describe('the credible build events', () => {
  const neverShown = request({ state: 'unconfirmed', code: 'not-restarted', newBuildId: buildId('513') })
  const [ours, delivered, other] = story(
    { word: 'initiated', build: '513', origin: 'action' },
    { word: 'error', build: '513' },
    { word: 'initiated', build: '514', origin: 'action' },
  )
  const buildEvents = [ours!, delivered!, other!]

  it("leave out our own event of a build that CI never showed, and keep CI's events and other builds", () => {
    expect(credible(buildEvents, [neverShown])).toEqual([delivered, other])
  })

  it.each<[claim: string, change: Partial<Request>]>([
    ['may still be shown', { state: 'accepted', code: null }],
    ['could not be looked up', { code: 'cannot-look' }],
    ['was shown after all', { state: 'confirmed' }],
  ])('are all of them if the new build %s', (_, change) => {
    expect(credible(buildEvents, [{ ...neverShown, ...change }])).toEqual(buildEvents)
  })
})
