import { revisionKey } from '../../../src/domain/builds/build-event.ts'
import { describe, expect, test } from 'vitest'
import { CiError } from '../../../src/sources/http/errors.ts'
import { confirmRequests } from '../../../src/features/builds/confirm.ts'
import { REQUESTS_CHECKED_MAX } from '../../../src/projects/requests.ts'
import { revisionSubject } from '../../../src/domain/builds/revision.ts'
import { CONFIRM_WITHIN_MS, GIVE_UP_MS, type Request } from '../../../src/domain/cards/request.ts'
import { buildId, HOUR, MINUTE, projectId, request, SECOND, story, T0 } from '../../support/build-events.ts'
import { lin, ofAttempt, openStage, type Stage, through } from '../operations-stage.ts'

const KEY = revisionKey(story('initiated')[0]!)

/** So many open requests whose look-up is due, oldest first. */
async function given(stage: Stage, n: number, change: Partial<Request> = {}): Promise<void> {
  await stage.reconcile.store.write(async (tx) => {
    for (let i = 0; i < n; i++)
      await tx.insertRequest(
        request({
          id: `given-${i}`,
          action: 'stop',
          state: 'accepted',
          projectId: projectId('11'),
          buildId: buildId(String(1_000 + i)),
          revisionKey: KEY,
          subject: revisionSubject(KEY, 1),
          requestedAt: T0 - CONFIRM_WITHIN_MS,
          lookAt: T0 - 60 * SECOND + i,
          ...change,
        }),
      )
  })
}

const statesOf = async (stage: Stage) =>
  [...Map.groupBy(await stage.requests(), ({ state }) => state)].map(([state, all]) => `${state} ${all.length}`)

describe('a round of look-ups', () => {
  test('handles twenty requests; the next round continues with the others', async () => {
    await using stage = await openStage()
    await given(stage, REQUESTS_CHECKED_MAX + 1)
    await stage.main.confirm()
    expect(await statesOf(stage)).toEqual([`unconfirmed ${REQUESTS_CHECKED_MAX}`, 'accepted 1'])
    await stage.main.confirm()
    expect(await statesOf(stage)).toEqual([`unconfirmed ${REQUESTS_CHECKED_MAX + 1}`])
  })

  test('continues if one request fails', async () => {
    await using stage = await openStage()
    await given(stage, 2)
    const real = stage.main.deps.legacy!
    let asked = 0
    const legacy = {
      getProject: (...args: Parameters<typeof real.getProject>) => {
        if (++asked === 1) throw new Error('a fault of our own')
        return real.getProject(...args)
      },
    }
    await confirmRequests(through({ ...stage.main.deps, legacy }))
    expect(await statesOf(stage)).toEqual(['accepted 1', 'unconfirmed 1'])
  })

  test('calls nothing if there are no open requests', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    await stage.deliver()
    const before = stage.ci.calls().length
    await stage.pass(5 * MINUTE)
    expect(stage.ci.calls()).toHaveLength(before)
  })

  test('calls nothing for requests that are not due', async () => {
    await using stage = await openStage({ switches: { stopIsForgotten: true } })
    const { ref } = await stage.running()
    await stage.main.operations.stop(ofAttempt(ref), lin())
    const before = stage.ci.calls().length
    await stage.pass(CONFIRM_WITHIN_MS - 5 * SECOND)
    expect(stage.ci.calls()).toHaveLength(before)
    await stage.pass(5 * SECOND)
    expect(stage.ci.calls()).toHaveLength(before + 1)
  })
})

test.each([
  [GIVE_UP_MS + CONFIRM_WITHIN_MS - 1, 'accepted 1'],
  [GIVE_UP_MS + CONFIRM_WITHIN_MS, 'unconfirmed 1'],
])('%i ms after the request, while CI is away, leaves it %s', async (after, state) => {
  await using stage = await openStage()
  await given(stage, 1, { requestedAt: T0 })
  await stage.clock.advance(after)
  stage.ci.addFault({ kind: 'status', statusCode: 500, where: 'legacy' })
  await stage.main.confirm()
  expect(await statesOf(stage)).toEqual([state])
})

test('handles at once what an earlier process left in a database that is not shared', async () => {
  await using stage = await openStage()
  await given(stage, 1, {
    state: 'calling',
    claimedBy: 'process of yesterday',
    requestedAt: T0,
    lookAt: T0 + 90 * SECOND,
  })
  await stage.main.confirm()
  expect(await stage.requests()).toMatchObject([{ state: 'unclear', code: 'interrupted' }])
  await given(stage, 1, {
    id: 'own',
    state: 'calling',
    claimedBy: stage.main.deps.processId,
    buildId: buildId('2000'),
    requestedAt: T0,
    lookAt: T0 + 90 * SECOND,
  })
  await stage.main.confirm()
  expect((await stage.requests()).find(({ id }) => id === 'own')).toMatchObject({ state: 'calling' })
})

test('without the legacy interface waits for a delivery, and then gives an unclear request up', async () => {
  await using stage = await openStage({ legacy: false, switches: { extraFields: true } })
  const { ref } = await stage.running()
  stage.ci.addFault({ kind: 'lost-answer', where: 'v2', times: 1 })
  await stage.main.operations.stop(ofAttempt(ref), lin())
  stage.lose()
  await stage.pass(CONFIRM_WITHIN_MS - 5 * SECOND)
  expect(await stage.requests()).toMatchObject([{ state: 'unclear' }])
  await stage.pass(5 * SECOND)
  expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look' }])
})

test('does not confirm a restart by an attempt that had begun before the request', async () => {
  await using stage = await openStage({ switches: { restartKeepsId: true } })
  const { ref, uuid } = await stage.ended()
  stage.ci.restart(uuid, 'none')
  await stage.deliver(['initiated'])
  const [buildEvent] = await stage.reconcile.store.read.eventsOfBuild(ref.projectId, ref.buildId)
  const about = { ...ref, revisionKey: buildEvent!.revisionKey, subject: revisionSubject(buildEvent!.revisionKey, 1) }
  const now = stage.clock.now()
  await given(stage, 1, { ...about, action: 'restart', state: 'unclear', requestedAt: now, lookAt: now })
  for (const outcome of ['none', 'error'] as const) {
    if (outcome === 'error') stage.ci.finish(uuid, outcome)
    await stage.pass(10 * SECOND)
    expect(await stage.requests(), outcome).toMatchObject([{ state: 'unclear' }])
  }
  await stage.pass(CONFIRM_WITHIN_MS)
  expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'not-restarted' }])
  expect(stage.card()).toMatchObject({ shown: 'failed', attemptNumber: 2 })
})

test('keeps the delivered names of a build that it looks up', async () => {
  await using stage = await openStage()
  const { ref } = await stage.running({ committer: 'Ada', message: 'Fix login\n\nand more' })
  await stage.main.operations.stop(ofAttempt(ref), lin())
  await stage.clock.advance(SECOND)
  stage.lose()
  const real = stage.main.deps.legacy!
  const legacy = {
    async getProject(...asked: Parameters<typeof real.getProject>) {
      const project = await real.getProject(...asked)
      return {
        ...project,
        builds: project.builds.map((build) => ({
          ...build,
          branch: 'refs/main',
          details: { ...build.details, committer: 'ada-at-host' },
        })),
      }
    },
  }
  await stage.clock.advance(CONFIRM_WITHIN_MS)
  await confirmRequests(through({ ...stage.main.deps, legacy }))
  await stage.clock.advance(2 * SECOND)
  expect(stage.card()).toMatchObject({
    shown: 'stopped',
    build: { committer: 'Ada', message: 'Fix login', branch: 'main' },
  })
})

test("uses the project's name on a card for a build that only a look-up found", async () => {
  await using stage = await openStage({ switches: { restartKeepsId: false, restartOutcome: 'none' } })
  const { ref } = await stage.ended()
  await stage.rest(26 * HOUR)
  stage.ci.addFault({ kind: 'lost-answer', where: 'legacy', method: 'POST', times: 1 })
  await stage.main.operations.restart(ofAttempt(ref), lin())
  stage.lose()
  await stage.pass(CONFIRM_WITHIN_MS)
  const card = stage.card()!
  expect(card.build.buildId).not.toBe(ref.buildId)
  expect(card).toMatchObject({ shown: 'started', attemptNumber: 1, build: { project: 'acme/web' } })
})

test('survives an error of CI', async () => {
  await using stage = await openStage()
  await given(stage, 1)
  const legacy = {
    getProject: () => Promise.reject(new CiError({ kind: 'bad-request', purpose: 'get a project', status: 400 })),
  }
  await confirmRequests(through({ ...stage.main.deps, legacy }))
  expect(await stage.requests()).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look' }])
})
