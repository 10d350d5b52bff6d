import { describe, expect, test } from 'vitest'
import type { ClientLegacy } from '../../../src/sources/ci-service/client-legacy.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import { confirmRequests } from '../../../src/features/builds/confirm.ts'
import { HOUR, MINUTE, SECOND } from '../../support/build-events.ts'
import {
  grace,
  hear,
  lin,
  LIN,
  never,
  ofAttempt,
  openStage,
  outcomeInBrief,
  type Built,
  type Stage,
  through,
} from '../operations-stage.ts'

const RESTARTED = 'restart.json 200'
const SAME = { restartKeepsId: true, restartOutcome: 'none' } as const
const NEW = { restartKeepsId: false, restartOutcome: 'none' } as const
const FORMS = [
  ['the same id', SAME],
  ['a new id', NEW],
] as const

const restart = (stage: Stage, { ref }: Built, by = lin()) => stage.main.operations.restart(ofAttempt(ref), by)

/** The newest build at CI, which is the one that a restart made. */
const newest = (stage: Stage) => stage.ci.state().builds.at(-1)!

describe.each(FORMS)('a restart that CI answers with %s', (_, switches) => {
  test('is called once, runs on the card, and is confirmed by a delivery after the answer', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    expect(stage.card()).toMatchObject({ shown: 'failed', offers: ['restart'] })
    const outcome = await restart(stage, built)
    const { id, uuid } = newest(stage)
    expect(outcome).toMatchObject({ kind: 'requested', newBuildId: id })
    await stage.clock.advance(2 * SECOND)
    expect(stage.card()).toMatchObject({ shown: 'requested', attemptNumber: 2, build: { buildId: id } })
    expect(await stage.requests()).toMatchObject([{ state: 'accepted', newBuildId: id, newBuildUuid: uuid }])
    await stage.deliver()
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', lookAt: null }])
    stage.ci.finish(uuid, 'success')
    await stage.deliver()
    expect(stage.card()).toMatchObject({ shown: 'flaky', attemptNumber: 2 })
    expect(stage.thread()).toEqual(expect.arrayContaining([`ask restart ${built.ref.buildId} confirmed`]))
    expect(stage.reconcile.slack.messages.filter(({ thread }) => thread === null)).toHaveLength(1)
    expect(stage.writes()).toEqual([RESTARTED])
  })

  test('has the same result if the deliveries come before the answer', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const { operations } = withRestart(stage, async (restartBuild, id) => {
      const answer = await restartBuild(id)
      await stage.deliver()
      expect(await stage.requests()).toMatchObject([{ state: 'calling' }])
      return answer
    })
    expect(outcomeInBrief(await operations.restart(ofAttempt(built.ref), lin()))).toBe('requested')
    await stage.clock.advance(2 * SECOND)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', newBuildId: newest(stage).id }])
    expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2 })
  })

  test('has the same result if the new attempt ends before the answer', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const { operations } = withRestart(stage, async (restartBuild, id) => {
      const answer = await restartBuild(id)
      stage.ci.finish(newest(stage).uuid, 'success')
      await stage.deliver()
      return answer
    })
    await operations.restart(ofAttempt(built.ref), lin())
    await stage.pass(3 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    expect(stage.card()).toMatchObject({ shown: 'flaky', attemptNumber: 2, offers: ['restart'] })
    expect(await running(stage)).toEqual([])
  })

  test('is looked up if no delivery comes', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    await restart(stage, built)
    stage.ci.finish(newest(stage).uuid, 'error')
    stage.lose()
    await stage.pass(2 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', lookAt: null }])
    expect(stage.card()).toMatchObject({ shown: 'failed', attemptNumber: 2, build: { buildId: newest(stage).id } })
    expect(stage.thread()).toEqual(
      expect.arrayContaining([`reply ${built.ref.buildId} failed`, `ask restart ${built.ref.buildId} confirmed`]),
    )
    expect(await running(stage)).toEqual([])
  })

  test('keeps its looked-up state when deliveries come late', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    await restart(stage, built)
    stage.ci.finish(newest(stage).uuid, 'error')
    await stage.pass(2 * MINUTE)
    const { card, thread } = { card: stage.card(), thread: stage.thread() }
    expect(card).toMatchObject({ shown: 'failed', attemptNumber: 2 })
    await stage.deliver()
    expect(stage.card()).toMatchObject({ shown: 'failed', attemptNumber: 2, ref: card!.ref, offers: ['restart'] })
    expect(stage.thread()).toEqual(thread)
  })

  test('ends as CI says if it was looked up while it ran and deliveries come late', async () => {
    await using stage = await openStage({ switches })
    await restart(stage, await stage.ended())
    await stage.pass(2 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    stage.ci.finish(newest(stage).uuid, 'success')
    await stage.deliver()
    expect(stage.card()).toMatchObject({ shown: 'flaky', attemptNumber: 2 })
  })

  test('ends as CI says if only its end is delivered', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    await restart(stage, built)
    stage.ci.finish(newest(stage).uuid, 'success')
    await stage.deliver(['success'])
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    expect(stage.card()).toMatchObject({ shown: 'flaky', attemptNumber: 2 })
  })

  test('is found if its answer is lost and nothing is delivered', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    stage.ci.addFault({ kind: 'lost-answer', where: 'legacy', method: 'POST', times: 1 })
    expect(outcomeInBrief(await restart(stage, built))).toBe('unclear unreachable')
    stage.lose()
    await stage.pass(10 * SECOND)
    const { id, uuid } = newest(stage)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', newBuildId: id, newBuildUuid: uuid }])
    expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2, build: { buildId: id } })
    expect(stage.writes()).toHaveLength(1)
  })

  test('is found if its answer is lost and deliveries come', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    stage.ci.addFault({ kind: 'lost-answer', where: 'legacy', method: 'POST' })
    await restart(stage, built)
    await stage.deliver()
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2 })
  })

  test('is linked to the card if the answer names no build', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const { operations } = withRestart(stage, async (restartBuild, id) => {
      await restartBuild(id)
      return { id: null, uuid: null }
    })
    expect(await operations.restart(ofAttempt(built.ref), lin())).toMatchObject({ kind: 'requested', newBuildId: null })
    expect(stage.card()).toMatchObject({ shown: 'failed', attemptNumber: 1 })
    stage.lose()
    await stage.pass(2 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', newBuildId: newest(stage).id }])
    expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2, build: { buildId: newest(stage).id } })
  })

  test('is linked to the card if the answer has only a uuid', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const { operations } = withRestart(stage, async (restartBuild, id) => ({ ...(await restartBuild(id)), id: null }))
    await operations.restart(ofAttempt(built.ref), lin())
    stage.lose()
    await stage.pass(2 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', newBuildId: newest(stage).id }])
  })

  test('is called once for an attempt, in spite of double clicks, two people, repeated requests and late clicks', async () => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const [first, again] = [lin(), lin()]
    const asked = [first, again, first, grace()].map((by) => restart(stage, built, by))
    expect((await Promise.all(asked)).map(({ kind }) => kind).sort()).toEqual([
      'asked-already',
      'asked-already',
      'repeated',
      'requested',
    ])
    await stage.deliver()
    expect(outcomeInBrief(await restart(stage, built, grace()))).toBe(`asked-already by ${LIN} confirmed`)
    stage.ci.finish(newest(stage).uuid, 'error')
    await stage.deliver()
    expect(outcomeInBrief(await restart(stage, built, grace()))).toBe(`asked-already by ${LIN} confirmed`)
    expect(stage.writes()).toEqual([RESTARTED])
    const outcome = await stage.main.operations.restart({ kind: 'project', project: 'web', branch: null }, grace())
    expect(outcomeInBrief(outcome)).toBe('requested')
    expect(stage.writes()).toEqual([RESTARTED, RESTARTED])
  })

  test.each(['before', 'after'])('is not called again if the process dies %s CI gets the call', async (when) => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const dying = withRestart(stage, async (restartBuild, id) => {
      if (when === 'after') await restartBuild(id)
      return never()
    })
    void dying.operations.restart(ofAttempt(built.ref), lin())
    await expect.poll(async () => (await stage.requests()).map(({ state }) => state)).toEqual(['calling'])
    if (when === 'after') await expect.poll(stage.writes).toEqual([RESTARTED])
    stage.lose()
    const next = stage.another()
    expect((await next.operations.restart(ofAttempt(built.ref), grace())).kind).toBe('asked-already')
    await stage.pass(MINUTE, next)
    const seen = when === 'after' ? { state: 'confirmed', newBuildId: newest(stage).id } : { state: 'unclear' }
    expect(await stage.requests()).toMatchObject([seen])
    await stage.pass(MINUTE, next)
    const end = when === 'after' ? { state: 'confirmed' } : { state: 'unconfirmed', code: 'not-restarted' }
    expect(await stage.requests()).toMatchObject([{ ...end, lookAt: null }])
    expect(stage.card()).toMatchObject(
      when === 'after' ? { shown: 'started', attemptNumber: 2 } : { shown: 'failed', attemptNumber: 1 },
    )
    expect(stage.writes()).toHaveLength(when === 'after' ? 1 : 0)
  })
})

describe('a restart is offered', () => {
  test('not while the build runs', async () => {
    await using stage = await openStage()
    expect((await restart(stage, await stage.running())).kind).toBe('not-now')
    expect(stage.writes()).toEqual([])
  })

  test('not if CI has already restarted it by itself, even if the card does not say so yet', async () => {
    await using stage = await openStage({ switches: SAME })
    const built = await stage.ended()
    stage.ci.restart(built.uuid, 'none')
    await stage.clock.advance(SECOND)
    const { store, clock } = stage.reconcile
    for (const { status, body } of stage.ci.deliveries().slice(-1)) {
      expect(status).toBe('initiated')
      await hear({ store, clock }, body)
    }
    expect(stage.card()).toMatchObject({ shown: 'failed', offers: ['restart'] })
    expect((await restart(stage, built)).kind).toBe('not-now')
    expect([stage.writes(), await stage.requests()]).toEqual([[], []])
  })

  test('not for a Pro project', async () => {
    await using stage = await openStage()
    const built = await stage.ended('error', {}, 'acme/ios')
    expect(stage.card()).toMatchObject({ offers: [], missing: { action: 'restart', why: 'pro-project' } })
    expect(outcomeInBrief(await restart(stage, built))).toBe('impossible pro-project')
    expect(stage.writes()).toEqual([])
  })

  test('not without the legacy interface', async () => {
    await using stage = await openStage({ legacy: false })
    const built = await stage.ended()
    expect(outcomeInBrief(await restart(stage, built))).toBe('impossible no-legacy')
  })
})

test.each(['ignored', 'blocked'] as const)('for a build that was %s, and it can be confirmed', async (outcome) => {
  await using stage = await openStage()
  const built = stage.push({ outcome })
  await stage.deliver()
  expect((await restart(stage, built)).kind).toBe('requested')
  stage.ci.finish(newest(stage).uuid, 'success')
  await stage.deliver()
  expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
  expect(stage.writes()).toEqual([RESTARTED])
})

describe("CI's answer to a restart", () => {
  test.each([
    [400, 'ci-refused bad-request', 'refused'],
    [401, 'ci-refused unauthorized', 'refused'],
    [403, 'ci-refused forbidden', 'refused'],
    [404, 'ci-refused not-found', 'refused'],
    [422, 'ci-refused bad-request', 'refused'],
    [429, 'ci-refused rate-limited', 'refused'],
    [408, 'unclear timeout', 'unclear'],
    [500, 'unclear server', 'unclear'],
    [503, 'unclear server', 'unclear'],
  ])('%i leads to %s', async (statusCode, outcome, state) => {
    await using stage = await openStage()
    const built = await stage.ended()
    stage.ci.addFault({
      kind: 'status',
      statusCode,
      where: 'legacy',
      method: 'POST',
      reason: 'key sandbox-api-key: no',
      times: 1,
    })
    const answered = await restart(stage, built)
    expect(outcomeInBrief(answered)).toBe(outcome)
    expect(JSON.stringify([answered, await stage.requests(), stage.reconcile.log])).not.toContain('sandbox-api-key')
    expect(await stage.requests()).toMatchObject([{ state, newBuildId: null }])
    await stage.clock.advance(2 * SECOND)
    expect(stage.card()).toMatchObject({
      shown: 'failed',
      attemptNumber: 1,
      offers: state === 'refused' ? ['restart'] : [],
    })
    expect(stage.writes()).toEqual([`restart.json ${statusCode}`])
  })
})

test('that refuses it is shown, and what CI shows at a look-up is ingested', async () => {
  await using stage = await openStage({ switches: SAME })
  const built = await stage.ended()
  stage.ci.restart(built.uuid)
  stage.lose()
  expect(outcomeInBrief(await restart(stage, built))).toBe('ci-refused bad-request')
  await stage.clock.advance(2 * SECOND)
  expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2 })
  expect(await stage.requests()).toMatchObject([{ state: 'refused', lookAt: null }])
})

describe('if the legacy interface has another word for the same end', () => {
  test.each(['a refusal', 'no restart'])('%s does not lead to another attempt', async (what) => {
    await using stage = await openStage({ switches: SAME })
    const built = await stage.running()
    stage.ci.finish(built.uuid, 'infrastructure_failure')
    await stage.deliver()
    const real = stage.main.deps.legacy!
    const legacy: Pick<ClientLegacy, 'restartBuild' | 'getProject'> = {
      restartBuild: (id) =>
        what === 'a refusal'
          ? Promise.reject(new CiError({ kind: 'bad-request', purpose: 'restart a build', status: 400 }))
          : Promise.resolve({ id, uuid: null }),
      async getProject(...asked) {
        const project = await real.getProject(...asked)
        return { ...project, builds: project.builds.map((build) => ({ ...build, rawStatus: 'error' })) }
      },
    }
    const process = stage.another({ legacy })
    await process.operations.restart(ofAttempt(built.ref), lin())
    for (let looks = 0; looks < 3; looks++) {
      await stage.clock.advance(MINUTE)
      await confirmRequests(through({ ...process.deps, legacy }))
    }
    await stage.clock.advance(2 * SECOND)
    expect(stage.card()).toMatchObject({ shown: 'infrastructure_failure', attemptNumber: 1, offers: ['restart'] })
    expect(await running(stage)).toEqual([])
  })
})

describe('a restart that never happened', () => {
  test('although CI accepted it leaves no running attempt', async () => {
    await using stage = await openStage()
    const built = await stage.ended()
    const { operations } = withRestart(stage, async (_, id) => ({ id, uuid: null }))
    await operations.restart(ofAttempt(built.ref), lin())
    await stage.clock.advance(2 * SECOND)
    expect(stage.card()).toMatchObject({ shown: 'requested', attemptNumber: 2 })
    await stage.pass(2 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'not-restarted' }])
    expect(stage.card()).toMatchObject({ shown: 'failed', attemptNumber: 1, offers: ['restart'] })
    expect(stage.thread()).toEqual([
      `reply ${built.ref.buildId} failed`,
      `ask restart ${built.ref.buildId} unconfirmed`,
    ])
    expect(await running(stage)).toEqual([])
    expect((await restart(stage, built)).kind).toBe('requested')
  })

  test('is not confirmed by the attempt that was to be restarted, however short that was', async () => {
    await using stage = await openStage()
    const built = await stage.running()
    await stage.clock.advance(5 * SECOND)
    stage.ci.finish(built.uuid, 'error')
    await stage.deliver()
    stage.ci.addFault({ kind: 'hang', where: 'legacy', method: 'POST', times: 1 })
    expect(outcomeInBrief(await restart(stage, built))).toBe('unclear timeout')
    await stage.pass(3 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'not-restarted' }])
    expect(stage.card()).toMatchObject({ shown: 'failed', attemptNumber: 1 })
  })

  test('is not confirmed by a newer build of another commit', async () => {
    await using stage = await openStage()
    const built = await stage.ended()
    stage.ci.addFault({ kind: 'hang', where: 'legacy', method: 'POST', times: 1 })
    await restart(stage, built)
    const other = stage.push()
    stage.lose()
    await stage.pass(3 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', newBuildId: null }])
    expect(stage.card()).toMatchObject({ shown: 'failed', build: { buildId: built.ref.buildId } })
    expect(await stage.reconcile.store.read.eventsOfBuild(other.ref.projectId, other.ref.buildId)).toEqual([])
  })

  test('is not confirmed by a newer build of the commit from before', async () => {
    await using stage = await openStage()
    const built = await stage.ended()
    const { commitId } = newest(stage)
    await stage.running({ commitId })
    stage.ci.addFault({ kind: 'hang', where: 'legacy', method: 'POST', times: 1 })
    await restart(stage, built)
    await stage.pass(3 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', newBuildId: null }])
  })

  test('is not confirmed by a newer build that CI named in answer to another request', async () => {
    await using stage = await openStage({ switches: NEW })
    const first = await stage.ended()
    const second = await stage.ended('error', { commitId: newest(stage).commitId })
    stage.ci.addFault({ kind: 'hang', where: 'legacy', method: 'POST', times: 1 })
    expect(outcomeInBrief(await restart(stage, first))).toBe('unclear timeout')
    expect(outcomeInBrief(await restart(stage, second, grace()))).toBe('requested')
    await stage.pass(3 * MINUTE)
    expect(await stage.requests()).toMatchObject([
      { state: 'unconfirmed', newBuildId: null },
      { state: 'confirmed', newBuildId: newest(stage).id },
    ])
  })
})

test('a restart that CI answers with the uuid of the same build appears on the card at once', async () => {
  await using stage = await openStage({ switches: { ...SAME, buildUrlForm: 'uuids' } })
  const built = await stage.ended()
  const { operations } = withRestart(stage, async (restartBuild, id) => ({ ...(await restartBuild(id)), id: null }))
  const outcome = await operations.restart(ofAttempt(built.ref), lin())
  expect(outcome).toMatchObject({ kind: 'requested', newBuildId: built.ref.buildId })
  await stage.clock.advance(2 * SECOND)
  expect(stage.card()).toMatchObject({ shown: 'requested', attemptNumber: 2 })
})

test.each(FORMS)('a restart as %s is confirmed by a delivery that only says that it runs', async (_, switches) => {
  await using stage = await openStage({ switches })
  const built = await stage.ended()
  await restart(stage, built)
  stage.lose()
  await stage.clock.advance(2 * SECOND)
  expect(await stage.requests()).toMatchObject([{ state: 'accepted' }])
  const { store, clock } = stage.main.deps
  const said = { project_id: built.ref.projectId, build_id: newest(stage).id, status: 'initiated' }
  const body = JSON.stringify({ build: said })
  await hear({ store, clock }, body)
  await stage.clock.advance(2 * SECOND)
  expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
  expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2 })
})

test('a restart that CI answers with a build of another commit does not show that build', async () => {
  await using stage = await openStage({ switches: NEW })
  const built = await stage.ended()
  const { ref } = await stage.ended('success')
  const known = await stage.reconcile.store.read.eventsOfBuild(ref.projectId, ref.buildId)
  const { operations } = withRestart(stage, async () => ({ id: ref.buildId, uuid: null }))
  await operations.restart(ofAttempt(built.ref), lin())
  await stage.clock.advance(2 * SECOND)
  expect(await stage.reconcile.store.read.eventsOfBuild(ref.projectId, ref.buildId)).toEqual(known)
  expect(await running(stage)).toEqual([])
})

test('a restart as a build of another commit is confirmed, and not looked up again', async () => {
  await using stage = await openStage({ switches: NEW })
  const built = await stage.ended()
  const { operations } = withRestart(stage, async () => {
    const other = stage.push()
    await stage.deliver()
    return { id: other.ref.buildId, uuid: null }
  })
  await operations.restart(ofAttempt(built.ref), lin())
  await stage.pass(3 * MINUTE)
  expect(await stage.requests()).toMatchObject([{ state: 'confirmed', lookAt: null }])
})

describe('a card that is not the newest', () => {
  test.each(FORMS)('accepts a restart, which runs on a new card: %s', async (_, switches) => {
    await using stage = await openStage({ switches })
    const built = await stage.ended()
    const { channel, ts } = stage.reconcile.slack.messages[0]!
    await stage.rest(25 * HOUR)
    const outcome = await stage.main.operations.restart({ kind: 'message', channel, ts }, lin())
    expect(outcomeInBrief(outcome)).toBe('requested')
    await stage.deliver()
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed' }])
    expect(stage.card()).toMatchObject({ shown: 'started', build: { buildId: newest(stage).id } })
    expect(stage.reconcile.slack.messages.filter(({ thread }) => thread === null)).toHaveLength(2)
    expect((await restart(stage, built, grace())).kind).not.toBe('requested')
    expect(stage.writes()).toEqual([RESTARTED])
    stage.ci.finish(newest(stage).uuid, 'error')
    await stage.deliver()
    const again = await stage.main.operations.restart({ kind: 'project', project: 'web', branch: null }, grace())
    expect(outcomeInBrief(again)).toBe('requested')
  })
})

type Restart = ClientLegacy['restartBuild']

/** A process in which one call is replaced. */
function withRestart(stage: Stage, call: (real: Restart, id: Parameters<Restart>[0]) => ReturnType<Restart>) {
  const real = stage.main.deps.legacy!
  return stage.another({ legacy: { ...real, restartBuild: (id) => call(real.restartBuild, id) } })
}

const running = async (stage: Stage) => (await stage.main.operations.running(null)).builds.map(({ buildId }) => buildId)
