import { describe, expect, test } from 'vitest'
import { confirmRequests } from '../../../src/features/builds/confirm.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { MINUTE, SECOND } from '../../support/build-events.ts'
import {
  grace,
  GRACE,
  lin,
  LIN,
  never,
  ofAttempt,
  openStage,
  outcomeInBrief,
  noProjects,
  through,
} from '../operations-stage.ts'

const STOPPED = 'stop 202'

describe('a stop', () => {
  test('calls CI once, and is confirmed by the next build event', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.running()
    const outcome = await stage.main.operations.stop(ofAttempt(ref), lin())
    expect(outcome).toMatchObject({ kind: 'requested', action: 'stop', newBuildId: null, build: { ref } })
    expect(await stage.requests()).toMatchObject([{ state: 'accepted', requestedBy: LIN, target: { buildUuid: uuid } }])
    await stage.clock.advance(2 * SECOND)
    expect(stage.thread()).toEqual([`ask stop ${ref.buildId} asked`])
    expect(stage.card()).toMatchObject({ shown: 'started', offers: [], request: { action: 'stop', stage: 'asked' } })
    await stage.deliver()
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', lookAt: null }])
    expect(stage.thread()).toContain(`ask stop ${ref.buildId} confirmed`)
    expect(stage.card()).toMatchObject({ shown: 'stopped', request: { by: LIN, stage: 'confirmed' } })
    expect(stage.writes()).toEqual([STOPPED])
  })

  test('of a build that has ended meanwhile does not call CI', async () => {
    await using stage = await openStage()
    const { ref } = await stage.ended()
    expect(await stage.main.operations.stop(ofAttempt(ref), lin())).toMatchObject({ kind: 'not-now', action: 'stop' })
    expect(stage.writes()).toEqual([])
    expect(await stage.requests()).toEqual([])
  })

  test('that comes too late is confirmed by the end that CI delivers', async () => {
    await using stage = await openStage({ switches: { stopStatus: 'error' } })
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.deliver()
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    expect(stage.card()).toMatchObject({ shown: 'failed' })
  })

  test('by the button of an earlier attempt does not stop the current one', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.ended()
    stage.ci.restart(uuid, 'none')
    await stage.deliver()
    expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2, ref: `11/${ref.buildId}.2` })
    expect((await stage.main.operations.stop(ofAttempt(ref), lin())).kind).toBe('not-now')
    expect(stage.writes()).toEqual([])
    expect((await stage.main.operations.stop(ofAttempt({ ...ref, attempt: 2 }), lin())).kind).toBe('requested')
  })

  test.each(['ends', 'is run again'])(
    'of a build that %s while its uuid is looked up does not call CI',
    async (what) => {
      await using stage = await openStage()
      const { ref, uuid } = await stage.running()
      const real = stage.main.deps.legacy!
      const slow: typeof real = {
        ...real,
        async getProject(...asked) {
          const seen = await real.getProject(...asked)
          stage.ci.finish(uuid, 'error')
          if (what === 'is run again') stage.ci.restart(uuid, 'none')
          await stage.deliver()
          return seen
        },
      }
      expect((await stage.another({ legacy: slow }).operations.stop(ofAttempt(ref), lin())).kind).toBe('not-now')
      expect([stage.writes(), await stage.requests()]).toEqual([[], []])
    },
  )

  test('by a person who may not stop does not call CI', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const permit = { kind: 'no', why: 'guest', who: [] } as const
    const { operations } = stage.another({ permits: async () => permit })
    expect(await operations.stop(ofAttempt(ref), lin())).toEqual({ kind: 'forbidden', action: 'stop', permit })
    const nobody = stage.another({ permits: async () => ({ kind: 'unknown-person', code: 'ratelimited' }) })
    expect(await nobody.operations.stop(ofAttempt(ref), lin())).toEqual({ kind: 'unknown-person', code: 'ratelimited' })
    expect([await stage.requests(), stage.writes()]).toEqual([[], []])
  })
})

describe('the uuids of a stop are found', () => {
  const legacyReads = (stage: Awaited<ReturnType<typeof openStage>>) =>
    stage.ci.calls().filter(({ path }) => /projects\/\d+\.json$/.test(path)).length

  test('in the delivery itself, even for a Pro project, without asking CI', async () => {
    await using stage = await openStage({ switches: { extraFields: true } })
    const { ref, uuid } = await stage.running({}, 'acme/ios')
    expect(stage.card()?.offers).toEqual(['stop'])
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('requested')
    expect(stage.ci.calls().at(-1)?.path).toContain(`/builds/${uuid}/stop`)
    expect(legacyReads(stage)).toBe(0)
  })

  test("in the build's address", async () => {
    await using stage = await openStage({ switches: { buildUrlForm: 'uuids' }, legacy: false })
    const { ref, uuid } = await stage.running({}, 'acme/ios')
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('requested')
    expect(stage.ci.calls().at(-1)?.path).toContain(`/builds/${uuid}/stop`)
  })

  test('through the legacy project for a Basic one', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.running({ branch: 'fix/a b&c=ü?#' })
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('requested')
    expect(stage.ci.calls().at(-1)?.path).toContain(`/builds/${uuid}/stop`)
    expect(legacyReads(stage)).toBe(1)
  })

  test('nowhere for a Pro project that delivers none: the card has no button but a reason', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running({}, 'acme/ios')
    expect(stage.card()).toMatchObject({ offers: [], missing: { action: 'stop', why: 'no-build-uuid' } })
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('impossible no-build-uuid')
    expect(stage.writes()).toEqual([])
  })

  test('nowhere if CI no longer lists the build', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const real = stage.main.deps.legacy!
    const forgetful = { ...real, getProject: async () => ({ ...(await real.getProject(ref.projectId)), builds: [] }) }
    const { operations } = stage.another({ legacy: forgetful })
    expect(outcomeInBrief(await operations.stop(ofAttempt(ref), lin()))).toBe('not-confirmed')
    expect([stage.writes(), await stage.requests()]).toEqual([[], []])
  })

  test('not while CI is down: nothing was done, and it can be requested again', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    stage.ci.addFault({ kind: 'status', statusCode: 502, where: 'legacy' })
    const again = lin()
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), again))).toBe('ci-trouble server')
    expect([stage.writes(), await stage.requests()]).toEqual([[], []])
    stage.ci.clearFaults()
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), again))).toBe('requested')
  })
})

test('without the v2 interface no stop is offered or sent', async () => {
  await using stage = await openStage({ v2: false })
  const { ref } = await stage.running()
  expect(stage.card()).toMatchObject({ offers: [], missing: { action: 'stop', why: 'no-v2' } })
  expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('impossible no-v2')
})

describe("CI's refusal of a stop", () => {
  test.each([
    [400, 'bad-request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [429, 'rate-limited'],
  ])('%i means that nothing was done, and a new request is possible', async (statusCode, code) => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    stage.ci.addFault({ kind: 'status', statusCode, where: 'v2', reason: 'Told sandbox-api-key no' })
    const outcome = await stage.main.operations.stop(ofAttempt(ref), lin())
    expect(outcomeInBrief(outcome)).toBe(`ci-refused ${code}`)
    expect(await stage.requests()).toMatchObject([{ state: 'refused', code, lookAt: null }])
    await stage.clock.advance(2 * SECOND)
    expect(stage.thread()).toEqual([`ask stop ${ref.buildId} refused`])
    expect(stage.card()?.offers).toEqual(['stop'])
    stage.ci.clearFaults()
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('requested')
  })

  test.each([
    ['500', { kind: 'status', statusCode: 500 } as const, 'server'],
    ['a lost answer', { kind: 'lost-answer' } as const, 'unreachable'],
    ['a closed connection', { kind: 'down' } as const, 'unreachable'],
    ['no answer', { kind: 'hang' } as const, 'timeout'],
  ])('%s makes a stop unclear, and it is not simply requested again', async (_, fault, code) => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    stage.ci.addFault({ ...fault, where: 'v2' })
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe(`unclear ${code}`)
    stage.ci.clearFaults()
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), grace()))).toBe(
      `asked-already by ${LIN} unclear`,
    )
    await stage.pass(MINUTE)
    expect(stage.writes()).toHaveLength(1)
  })

  test('is shown without secrets', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const reason = 'api_key=sandbox-api-key and sandbox-token-everything are wrong'
    stage.ci.addFault({ kind: 'status', statusCode: 403, where: 'v2', reason })
    const outcome = await stage.main.operations.stop(ofAttempt(ref), lin())
    const [request] = await stage.requests()
    for (const said of [outcome, request, stage.reconcile.log.map(({ fields }) => fields)])
      expect(JSON.stringify(said)).not.toMatch(/sandbox-token|sandbox-api-key/)
    expect(request?.reason).toContain('are wrong')
  })

  test('with 400, for a build whose end was not delivered, leads to a look-up and a corrected card', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.running()
    stage.ci.finish(uuid, 'success')
    stage.lose()
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), lin()))).toBe('ci-refused bad-request')
    await stage.clock.advance(2 * SECOND)
    expect(stage.card()).toMatchObject({ shown: 'passed', offers: ['restart'] })
    expect(await stage.requests()).toMatchObject([{ state: 'refused' }])
  })
})

describe('a stop without confirmation', () => {
  test('is looked up after two minutes, and what CI shows is ingested', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.clock.advance(SECOND)
    stage.lose()
    await stage.pass(MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'accepted' }])
    await stage.pass(MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', lookAt: null }])
    expect(stage.card()).toMatchObject({ shown: 'stopped' })
    expect(stage.writes()).toEqual([STOPPED])
  })

  test('that CI does not show either is called unconfirmed, and can be requested again', async () => {
    await using stage = await openStage({ switches: { stopIsForgotten: true } })
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.pass(2 * MINUTE - 5 * SECOND)
    expect(await stage.requests()).toMatchObject([{ state: 'accepted' }])
    await stage.pass(5 * SECOND)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'still-running', lookAt: null }])
    expect(stage.thread()).toEqual([`ask stop ${ref.buildId} unconfirmed`])
    expect(stage.card()?.offers).toEqual(['stop'])
    expect(stage.writes()).toEqual([STOPPED])
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(ref), grace()))).toBe('requested')
  })

  test('of a Pro project, which no interface shows, is unconfirmed after two minutes', async () => {
    await using stage = await openStage({ switches: { extraFields: true, stopIsForgotten: true } })
    const { ref } = await stage.running({}, 'acme/ios')
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.pass(2 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look' }])
  })

  test('of a build that CI no longer shows is not called still running', async () => {
    await using stage = await openStage({ switches: { stopIsForgotten: true } })
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.clock.advance(2 * MINUTE)
    const real = stage.main.deps.legacy!
    const legacy = { getProject: async () => ({ ...(await real.getProject(ref.projectId)), builds: [] }) }
    await confirmRequests(through({ ...stage.main.deps, legacy }))
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look' }])
  })

  test('is looked up while CI is away, until it is given up', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.clock.advance(SECOND)
    stage.lose()
    stage.ci.addFault({ kind: 'status', statusCode: 503, where: 'legacy' })
    await stage.pass(5 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'accepted' }])
    stage.ci.clearFaults()
    await stage.pass(15 * SECOND)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
  })

  test('is called unconfirmed in the end', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    stage.lose()
    stage.ci.addFault({ kind: 'status', statusCode: 503, where: 'legacy' })
    await stage.pass(13 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look', lookAt: null }])
  })

  test('stays confirmed if its delivery arrives during the look-up', async () => {
    await using stage = await openStage({ switches: { stopIsForgotten: true } })
    const { ref, uuid } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.clock.advance(2 * MINUTE)
    const real = stage.main.deps.legacy!
    const slow: typeof real = {
      ...real,
      async getProject(...asked) {
        const seen = await real.getProject(...asked)
        stage.ci.finish(uuid, 'stopped')
        await stage.deliver()
        return seen
      },
    }
    await confirmRequests(through({ ...stage.main.deps, legacy: slow }))
    await stage.pass(MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', code: null, lookAt: null }])
    expect(stage.thread()).toContain(`ask stop ${ref.buildId} confirmed`)
  })
})

describe('CI gets one stop for an attempt', () => {
  test('if people click twice', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const stop = (by = lin()) => stage.main.operations.stop(ofAttempt(ref), by)
    const outcomes = await Promise.all([stop(), stop(), stop(grace())])
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['asked-already', 'asked-already', 'requested'])
    expect(stage.writes()).toEqual([STOPPED])
    expect(await stage.requests()).toHaveLength(1)
  })

  test('if two processes get requests', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const [one, other] = [stage.another(), stage.another()]
    const outcomes = await Promise.all([
      one.operations.stop(ofAttempt(ref), lin()),
      other.operations.stop(ofAttempt(ref), grace()),
    ])
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['asked-already', 'requested'])
    expect(stage.writes()).toEqual([STOPPED])
  })

  test('if Slack sends the same request several times, at once and later', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const by = lin({ user: GRACE })
    const stop = () => stage.main.operations.stop(ofAttempt(ref), by)
    const outcomes = await Promise.all([stop(), stop()])
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['repeated', 'requested'])
    await stage.deliver()
    expect(outcomeInBrief(await stop())).toBe('repeated confirmed')
    expect(stage.writes()).toEqual([STOPPED])
  })

  test('if the attempt is named by its button, card, number, uuid or project', async () => {
    await using stage = await openStage({ switches: { extraFields: true } })
    const { ref, uuid } = await stage.running()
    const { channel, ts } = stage.reconcile.slack.messages[0]!
    const targets = [
      ofAttempt(ref),
      { kind: 'message', channel, ts },
      { kind: 'build-number', number: ref.buildId, project: null },
      { kind: 'uuid', uuid: toUuid(uuid) },
      { kind: 'build-url', url: `${stage.ci.url}/projects/11/builds/${ref.buildId}` },
      { kind: 'project', project: 'web', branch: 'main' },
      { kind: 'project', project: 'acme/web', branch: null },
    ] as const
    const outcomes = []
    for (const target of targets) outcomes.push(await stage.main.operations.stop(target, lin()))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['requested', ...Array(6).fill('asked-already')])
    expect(stage.writes()).toEqual([STOPPED])
  })

  test.each(['before', 'after'])('if the process dies %s CI gets the call, and another one starts', async (when) => {
    await using stage = await openStage({ switches: { stopMs: MINUTE } })
    const { ref } = await stage.running()
    const real = stage.main.deps.v2!
    const dying = stage.another({
      v2: {
        listProjects: noProjects,
        async stopBuild(build) {
          if (when === 'after') await real.stopBuild(build)
          return never()
        },
      },
    })
    void dying.operations.stop(ofAttempt(ref), lin())
    await expect.poll(async () => (await stage.requests()).map(({ state }) => state)).toEqual(['calling'])
    if (when === 'after') await expect.poll(stage.writes).toEqual([STOPPED])
    const next = stage.another()
    expect(outcomeInBrief(await next.operations.stop(ofAttempt(ref), grace()))).toBe(`asked-already by ${LIN} calling`)
    await stage.pass(5 * SECOND, next)
    expect(await stage.requests()).toMatchObject([{ state: 'unclear', code: 'interrupted' }])
    await stage.pass(2 * MINUTE, next)
    const end = when === 'after' ? { state: 'confirmed' } : { state: 'unconfirmed', code: 'still-running' }
    expect(await stage.requests()).toMatchObject([{ ...end, lookAt: null }])
    expect(stage.card()).toMatchObject({ shown: when === 'after' ? 'stopped' : 'started' })
    expect(stage.writes()).toEqual(when === 'after' ? [STOPPED] : [])
  })

  test('if the call is slow: its own process does not treat it as dead', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const slow = stage.another({ v2: { listProjects: noProjects, stopBuild: never } })
    void slow.operations.stop(ofAttempt(ref), lin())
    await expect.poll(async () => (await stage.requests()).length).toBe(1)
    await stage.pass(85 * SECOND, slow)
    expect(await stage.requests()).toMatchObject([{ state: 'calling' }])
    await stage.pass(5 * SECOND, slow)
    expect(await stage.requests()).toMatchObject([{ state: 'unclear' }])
  })

  test('if the answer cannot be recorded', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    let writes = 0
    const { store } = stage.main.deps
    const failing: typeof store = {
      ...store,
      write: (work) => (++writes === 1 ? store.write(work) : Promise.reject(new Error('the disk is full'))),
    }
    const { operations } = stage.another({ store: failing })
    expect(outcomeInBrief(await operations.stop(ofAttempt(ref), lin()))).toBe('unclear fault')
    await stage.pass(5 * SECOND)
    await stage.deliver()
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    expect(stage.writes()).toEqual([STOPPED])
  })
})
