import { describe, expect, test } from 'vitest'
import type { ClientLegacy } from '../../src/sources/ci-service/client-legacy.ts'
import { recordListedBuilds } from '../../src/ci-sync/undelivered.ts'
import { refreshProjects } from '../../src/ci-sync/reading.ts'
import { NEWS_MS, type ReceivedEvent } from '../../src/domain/builds/build-event.ts'
import { POST_BURST } from '../../src/alerts/send/pace.ts'
import { buildId, MINUTE, projectId, SECOND } from '../support/build-events.ts'
import { openStage, outcomeInBrief, lin, type Built, type Stage } from '../features/operations-stage.ts'

/** Reads CI's list and ingests what follows. */
async function look({ main, clock }: Stage): Promise<void> {
  await main.deps.refresh()
  await clock.advance(5 * SECOND)
}

/** Time passes, and CI's deliveries during it are lost. */
async function missed(stage: Stage, ms = 10 * MINUTE): Promise<void> {
  await stage.rest(ms)
  stage.lose()
}

/** A build whose start and end were not delivered. */
async function endedUnheard(stage: Stage, status: 'error' | 'success' = 'error', push = {}): Promise<Built> {
  const built = stage.push(push)
  await missed(stage, MINUTE)
  stage.ci.finish(built.uuid, status)
  await missed(stage)
  return built
}

/** As if no project's builds had been read before. */
const forgetLooks = (stage: Stage): unknown => stage.reconcile.sql('update project set looked_at = null')

const buildEventsOf = async ({ reconcile }: Stage, { ref }: Built) =>
  (await reconcile.store.read.eventsOfBuild(ref.projectId, ref.buildId)).map(
    ({ rawStatus, origin }) => `${rawStatus} ${origin}`,
  )

const cards = ({ reconcile }: Stage) =>
  reconcile.slack.messages.flatMap(({ view }) => (view.kind === 'card' ? [view] : []))

const shownOn = (stage: Stage) => cards(stage).map(({ shown, attemptNumber }) => `${shown} ${attemptNumber}`)

describe('a build whose start and end were not delivered', () => {
  test('is shown once it is found, on a card that is posted after its end and says that it is late', async () => {
    await using stage = await openStage()
    const built = await endedUnheard(stage)
    await look(stage)
    expect(await buildEventsOf(stage, built)).toEqual(['error poll'])
    expect(shownOn(stage)).toEqual(['failed 1'])
    expect(cards(stage)[0]!.history.map(({ what }) => what)).toEqual(['started', 'late'])
    expect(cards(stage)[0]!.build).toMatchObject({ project: 'acme/web', branch: 'main', committer: 'Ada' })
    expect(stage.thread()).toEqual([])
  })

  test('is shown once, however often CI lists it, and even if its deliveries arrive later', async () => {
    await using stage = await openStage()
    const built = stage.push()
    await stage.clock.advance(MINUTE)
    stage.ci.finish(built.uuid, 'error')
    await stage.clock.advance(10 * MINUTE)
    await look(stage)
    await look(stage)
    await stage.clock.advance(10 * MINUTE)
    await stage.deliver()
    await look(stage)
    expect(shownOn(stage)).toEqual(['failed 1'])
    expect(stage.thread()).toEqual([])
    expect(cards(stage)[0]!.build.buildUrl).not.toBeNull()
  })

  test('is recorded without a message if it ended more than a day ago, until a delivery arrives', async () => {
    await using stage = await openStage()
    const built = stage.push()
    await stage.clock.advance(MINUTE)
    stage.ci.finish(built.uuid, 'error')
    await stage.rest(NEWS_MS + 1)
    await look(stage)
    expect(await buildEventsOf(stage, built)).toEqual(['error history'])
    expect(stage.reconcile.slack.messages).toEqual([])
    await stage.deliver()
    expect(shownOn(stage)).toEqual(['failed 1'])
  })
})

describe('a build whose start is known', () => {
  test("gets its end from CI's list", async () => {
    await using stage = await openStage()
    const built = await stage.running()
    stage.ci.finish(built.uuid, 'error')
    await missed(stage)
    await look(stage)
    expect(shownOn(stage)).toEqual(['failed 1'])
    expect(stage.thread()).toHaveLength(1)
  })

  test('gets its end without a reply if that was more than a day ago', async () => {
    await using stage = await openStage()
    const built = await stage.running()
    stage.ci.finish(built.uuid, 'error')
    await missed(stage, NEWS_MS + 1)
    await look(stage)
    expect(shownOn(stage)).toEqual(['failed 1'])
    expect(stage.thread()).toEqual([])
  })

  test('gets another attempt if it was restarted and ended with the same status', async () => {
    await using stage = await openStage({ switches: { restartKeepsId: true } })
    const built = await endedUnheard(stage)
    await look(stage)
    stage.ci.restart(built.uuid, 'none')
    await missed(stage, MINUTE)
    stage.ci.finish(built.uuid, 'error')
    await missed(stage)
    await look(stage)
    await look(stage)
    expect(shownOn(stage)).toEqual(['failed 2'])
  })

  test('gets another attempt if it was red and is green, even if no event says when that began', async () => {
    await using stage = await openStage({ switches: { restartKeepsId: true } })
    const built = await stage.ended()
    stage.ci.restart(built.uuid, 'none')
    await missed(stage, MINUTE)
    stage.ci.finish(built.uuid, 'success')
    await missed(stage)
    await look(stage)
    expect(shownOn(stage)).toEqual(['flaky 2'])
  })

  test('does not change while CI lists what is known', async () => {
    await using stage = await openStage()
    const running = await stage.running({ branch: 'dev' })
    const ended = await stage.ended()
    const said = stage.reconcile.slack.messages.length
    await look(stage)
    expect(await buildEventsOf(stage, running)).toEqual(['initiated delivery'])
    expect(await buildEventsOf(stage, ended)).toEqual(['initiated delivery', 'error delivery'])
    expect(stage.reconcile.slack.messages).toHaveLength(said)
  })

  test('is not changed while its next attempt is only known from our own restart request', async () => {
    await using stage = await openStage({ switches: { restartKeepsId: true } })
    const built = await stage.ended()
    const { legacy } = stage.main.deps
    const before = await legacy!.getProject(built.ref.projectId)
    expect(outcomeInBrief(await stage.main.operations.restart({ kind: 'run', ref: built.ref }, lin()))).toBe(
      'requested',
    )
    const requestedAt = stage.clock.now() + SECOND
    expect(await recordListedBuilds(stage.main.deps, { projects: [before], requestedAt, isWhole: true })).toBe(0)
  })
})

describe('a read of the list and a delivery', () => {
  test('that arrives during the read are ordered: the delivery is newer', async () => {
    await using stage = await openStage()
    const built = await stage.running()
    const requestedAt = stage.clock.now()
    const answer = await stage.main.deps.legacy!.getProject(built.ref.projectId)
    await stage.clock.advance(SECOND)
    stage.ci.finish(built.uuid, 'error')
    await stage.deliver()
    expect(await recordListedBuilds(stage.main.deps, { projects: [answer], requestedAt, isWhole: true })).toBe(0)
    expect(shownOn(stage)).toEqual(['failed 1'])
  })

  test.each(['look first', 'delivery first'])('of the same end count once: %s', async (order) => {
    await using stage = await openStage()
    const built = await stage.running()
    await stage.clock.advance(MINUTE)
    stage.ci.finish(built.uuid, 'error')
    const [first, second] =
      order === 'look first' ? [look(stage), () => stage.deliver()] : [stage.deliver(), () => look(stage)]
    await first
    await second()
    expect(shownOn(stage)).toEqual(['failed 1'])
    expect(stage.thread()).toHaveLength(1)
  })
})

describe("the first read of a project's builds", () => {
  test('records them without messages', async () => {
    await using stage = await openStage()
    const failed = await endedUnheard(stage)
    const running = stage.push({ branch: 'dev' })
    await missed(stage)
    forgetLooks(stage)
    await look(stage)
    expect(await buildEventsOf(stage, failed)).toEqual(['error history'])
    expect(await buildEventsOf(stage, running)).toEqual(['initiated history'])
    expect(stage.reconcile.slack.messages).toEqual([])
    const status = await stage.main.operations.status({ project: 'acme/web', branch: null, channel: null })
    expect(status).toMatchObject({ kind: 'project-status', builds: [{ shown: 'failed' }, { shown: 'started' }] })
  })

  test('causes no messages at later reads either, until a build that was running ends', async () => {
    await using stage = await openStage()
    await endedUnheard(stage)
    const running = stage.push({ branch: 'dev' })
    forgetLooks(stage)
    await look(stage)
    await look(stage)
    expect(stage.reconcile.slack.messages).toEqual([])
    stage.ci.finish(running.uuid, 'error')
    await missed(stage)
    await look(stage)
    expect(shownOn(stage)).toEqual(['failed 1'])
  })

  test('does not prevent messages about their deliveries', async () => {
    await using stage = await openStage()
    forgetLooks(stage)
    const built = stage.push()
    await stage.clock.advance(SECOND)
    await look(stage)
    await stage.deliver()
    expect(shownOn(stage)).toEqual(['started 1'])
    stage.ci.finish(built.uuid, 'error')
    await stage.deliver()
    expect(shownOn(stage)).toEqual(['failed 1'])
  })

  test('counts as the history of later builds: one that passes is fixed', async () => {
    await using stage = await openStage()
    await endedUnheard(stage)
    forgetLooks(stage)
    await look(stage)
    await stage.ended('success')
    expect(shownOn(stage)).toEqual(['fixed 1'])
  })

  test('does not repeat what was shown before it', async () => {
    await using stage = await openStage()
    await endedUnheard(stage, 'error')
    await endedUnheard(stage, 'success')
    await stage.ended('success')
    const before = stage.reconcile.slack.messages.map(({ view }) => view)
    expect(shownOn(stage)).toEqual(['passed 1'])
    forgetLooks(stage)
    await look(stage)
    expect(stage.reconcile.slack.messages.map(({ view }) => view)).toEqual(before)
  })

  test('shows the end of a build whose start was shown', async () => {
    await using stage = await openStage()
    const built = await stage.running()
    forgetLooks(stage)
    stage.ci.finish(built.uuid, 'error')
    await missed(stage)
    await look(stage)
    expect(await buildEventsOf(stage, built)).toEqual(['initiated delivery', 'error poll'])
  })
})

describe("CI's list", () => {
  /** Reads CI's list, with these changes to the builds of the first project. */
  async function lookAt(stage: Stage, changed: (builds: readonly ReceivedEvent[]) => ReceivedEvent[]): Promise<void> {
    const { store, clock, log, legacy } = stage.main.deps
    const listProjects: ClientLegacy['listProjects'] = async () => {
      const web = await store.read.project({ uuid: null, legacyId: '', names: ['acme/web'] })
      const project = await legacy!.getProject(projectId(web!.legacyId!))
      const projects = [{ ...project, builds: changed(project.builds) }]
      return { projects, truncated: false, skipped: 0 }
    }
    await refreshProjects({ store, clock, log, v2: null, legacy: { listProjects } })
    await stage.clock.advance(10 * SECOND)
  }

  test('loses nothing while CI is away: the next read finds it', async () => {
    await using stage = await openStage()
    await endedUnheard(stage)
    stage.ci.addFault({ kind: 'status', statusCode: 503, where: 'legacy', times: 20 })
    expect((await stage.main.deps.refresh()).failure).toMatchObject({ kind: 'ci-trouble' })
    expect(stage.reconcile.slack.messages).toEqual([])
    stage.ci.clearFaults()
    await look(stage)
    expect(shownOn(stage)).toEqual(['failed 1'])
  })

  test('may have a build twice with two states, of which one is taken', async () => {
    await using stage = await openStage()
    await endedUnheard(stage)
    await lookAt(stage, (builds) => [...builds, ...builds])
    expect(shownOn(stage)).toEqual(['failed 1'])
  })

  test('may have an unknown word, which hides no known build', async () => {
    await using stage = await openStage()
    const built = await stage.ended()
    await lookAt(stage, (builds) => builds.map((build) => ({ ...build, rawStatus: 'pondering' })))
    expect(await buildEventsOf(stage, built)).toEqual(['initiated delivery', 'error delivery'])
  })

  test('may have too many builds, of which the newest are taken', async () => {
    await using stage = await openStage()
    await endedUnheard(stage)
    forgetLooks(stage)
    await lookAt(stage, ([build]) =>
      Array.from({ length: 250 }, (_, n) => ({ ...build!, buildId: buildId(String(1_000 + n)), branch: `topic-${n}` })),
    )
    const known = stage.reconcile.sql('select min(build_id) as first, count(*) as builds from build')
    expect(known).toMatchObject([{ first: '1050', builds: 200 }])
    expect(stage.reconcile.slack.messages).toEqual([])
  })
})

test('has a lower priority than deliveries', async () => {
  await using stage = await openStage()
  for (let i = 0; i < 5; i++) await endedUnheard(stage, 'error', { branch: `late-${i}` })
  const live = stage.push({ branch: 'live' })
  await stage.clock.advance(MINUTE)
  stage.ci.finish(live.uuid, 'error')
  await stage.main.deps.refresh()
  await stage.deliver()
  await stage.clock.advance(MINUTE)
  expect(
    cards(stage)
      .map(({ build }) => build.branch)
      .slice(0, POST_BURST + 1),
  ).toContain('live')
  expect(cards(stage)).toHaveLength(6)
})
