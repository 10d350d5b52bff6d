import { describe, expect, test } from 'vitest'
import { CiError } from '../../src/sources/http/errors.ts'
import {
  SILENT_BUILDS_MAX,
  CALLS_MAX,
  LET_BE_MS,
  refreshSilent,
  SILENT_MS,
  type SilentEnd,
} from '../../src/ci-sync/refresh-silent.ts'
import type { Sources } from '../../src/sources/source.ts'
import { recordDelivery } from '../../src/alerts/record/record.ts'
import { githubProjectId, sourceOf } from '../../src/domain/ids.ts'
import { MINUTE, story } from '../support/build-events.ts'
import { openStage, through, type Changes, type Stage } from '../features/operations-stage.ts'

const NEVER = new AbortController().signal

/** Runs one round. @returns its results */
async function round(stage: Stage, changes: Changes = {}, signal = NEVER): Promise<SilentEnd[]> {
  const ends: SilentEnd[] = []
  await refreshSilent(
    { ...through({ ...stage.main.deps, ...changes }, changes.sources), count: (end) => void ends.push(end) },
    signal,
  )
  return ends
}

/** The same, with time to send what follows. */
async function roundAndTell(stage: Stage, changes: Changes = {}): Promise<SilentEnd[]> {
  const ends = await round(stage, changes)
  await stage.clock.advance(5_000)
  return ends
}

const asked = (stage: Stage): number => stage.ci.calls().filter(({ path }) => /projects\/\d+/.test(path)).length

const buildEventsOf = async ({ reconcile }: Stage, { projectId, buildId }: { projectId: string; buildId: string }) =>
  (await reconcile.store.read.eventsOfBuild(projectId, buildId)).map(
    ({ rawStatus, origin }) => `${rawStatus} ${origin}`,
  )

describe('a build that has been silent for too long', () => {
  test('is looked up: the card shows its end from CI, and says that it is late', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.running()
    const endedAt = stage.clock.now()
    stage.ci.finish(uuid, 'error')
    stage.lose()
    await stage.rest(SILENT_MS)
    expect(await roundAndTell(stage)).toEqual(['news'])
    expect(await buildEventsOf(stage, ref)).toEqual(['initiated delivery', 'error poll'])
    expect(stage.card()).toMatchObject({ shown: 'failed' })
    expect(stage.card()?.history.at(-1)).toEqual({ what: 'late', at: endedAt })
  })

  test('is not looked up earlier', async () => {
    await using stage = await openStage()
    const { uuid } = await stage.running()
    const receivedAt = (await stage.reconcile.store.read.runningBuilds(null, 1))[0]!.at
    stage.ci.finish(uuid, 'error')
    stage.lose()
    await stage.rest(receivedAt + SILENT_MS - 1 - stage.clock.now())
    const before = asked(stage)
    expect(await round(stage)).toEqual([])
    expect(asked(stage)).toBe(before)
    await stage.rest(1)
    expect(await round(stage)).toEqual(['news'])
  })

  test('that still runs at CI is left as it is, and looked up again only after the same time', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.rest(SILENT_MS)
    expect(await round(stage)).toEqual(['no-news'])
    expect(await round(stage)).toEqual([])
    await stage.rest(SILENT_MS - 1)
    expect(await round(stage)).toEqual([])
    await stage.rest(1)
    expect(await round(stage)).toEqual(['no-news'])
    expect(await buildEventsOf(stage, ref)).toEqual(['initiated delivery'])
  })

  test('is looked up if it waits too', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.running({ needsApproval: true })
    stage.ci.approve(uuid)
    stage.lose()
    await stage.rest(SILENT_MS)
    expect(await roundAndTell(stage)).toEqual(['news'])
    expect(await buildEventsOf(stage, ref)).toEqual(['waiting delivery', 'initiated poll'])
    expect(stage.card()).toMatchObject({ shown: 'started' })
  })

  test('stays as it is if CI does not show it', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.rest(SILENT_MS)
    const legacy = {
      ...stage.main.deps.legacy!,
      getProject: async () => ({ ...(await stage.main.deps.legacy!.getProject(ref.projectId)), builds: [] }),
    }
    expect(await round(stage, { legacy })).toEqual(['not-shown'])
    expect(await buildEventsOf(stage, ref)).toEqual(['initiated delivery'])
    expect(stage.card()).toMatchObject({ shown: 'started' })
  })

  test('stays as it is if CI shows an unknown word', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.rest(SILENT_MS)
    const legacy: Changes['legacy'] = {
      ...stage.main.deps.legacy!,
      async getProject(...args) {
        const project = await stage.main.deps.legacy!.getProject(...args)
        return { ...project, builds: project.builds.map((build) => ({ ...build, rawStatus: 'pondering' })) }
      },
    }
    expect(await round(stage, { legacy })).toEqual(['not-shown'])
    expect(await buildEventsOf(stage, ref)).toEqual(['initiated delivery'])
  })

  test('of a Pro project, which the interface does not have, is not looked up again and again', async () => {
    await using stage = await openStage()
    await stage.running({}, 'acme/ios')
    await stage.rest(SILENT_MS)
    expect(await round(stage)).toEqual(['not-shown'])
    expect(await round(stage)).toEqual([])
  })

  test('is looked up again in the next round if CI is away', async () => {
    await using stage = await openStage()
    const { uuid } = await stage.running()
    stage.ci.finish(uuid, 'success')
    stage.lose()
    await stage.rest(SILENT_MS)
    const away: Changes['legacy'] = {
      ...stage.main.deps.legacy!,
      getProject: () => Promise.reject(new CiError({ kind: 'unreachable', purpose: 'get project' })),
    }
    expect(await round(stage, { legacy: away })).toEqual(['no-answer'])
    expect(await round(stage)).toEqual(['news'])
  })

  test('is given up after a week', async () => {
    await using stage = await openStage()
    await stage.running()
    const receivedAt = (await stage.reconcile.store.read.runningBuilds(null, 1))[0]!.at
    await stage.rest(receivedAt + LET_BE_MS - stage.clock.now())
    expect(await round(stage)).toEqual(['no-news'])
    await stage.rest(SILENT_MS)
    expect(await round(stage)).toEqual([])
  })

  test('is not looked up if the legacy interface is not configured', async () => {
    await using stage = await openStage({ legacy: false })
    await stage.running()
    await stage.rest(SILENT_MS)
    expect(await round(stage)).toEqual([])
  })
})

describe('a round', () => {
  test('is not filled by builds that cannot be looked up', async () => {
    await using stage = await openStage({ legacy: false })
    const { store, clock } = stage.reconcile
    for (let i = 0; i < SILENT_BUILDS_MAX; i++) await stage.running({ branch: `topic-${i}` })
    const event = { ...story('initiated')[0]!, projectId: githubProjectId('1', '77') }
    await recordDelivery({ store, clock }, { event, body: '{}' })
    await stage.clock.advance(5_000)
    await stage.rest(SILENT_MS)
    const project = { id: event.projectId, uuid: null, name: 'acme/site CI', builds: [] }
    const none = {
      readBuild: async () => null,
      readEnd: null,
      readFailures: null,
      readBranch: null,
      readProject: null,
      restart: null,
      stop: null,
      starter: null,
      decide: null,
      readDecisions: null,
      badge: null,
    }
    const github = { ...none, getProject: async () => project }
    const sources: Sources = (projectId) => (sourceOf(projectId) === 'github' ? github : null)
    expect(await round(stage, { sources })).toEqual([])
    expect(await round(stage, { sources })).toEqual(['not-shown'])
  })

  test(`calls CI ${CALLS_MAX} times, once for each branch; the next round continues`, async () => {
    await using stage = await openStage()
    for (let i = 0; i <= CALLS_MAX; i++) await stage.running({ branch: `topic-${i}` })
    await stage.running({ branch: 'topic-0' })
    await stage.rest(SILENT_MS + MINUTE)
    const before = asked(stage)
    expect(await round(stage)).toHaveLength(CALLS_MAX + 1)
    expect(asked(stage) - before).toBe(CALLS_MAX)
    expect(await round(stage)).toHaveLength(1)
    expect(await round(stage)).toHaveLength(0)
  })

  test('calls one source even if the other is away', async () => {
    await using stage = await openStage()
    const event = { ...story('initiated')[0]!, projectId: githubProjectId('1', '77') }
    const { store, clock } = stage.reconcile
    await recordDelivery({ store, clock }, { event, body: '{}' })
    await stage.clock.advance(5_000)
    const { ref } = await stage.running()
    await stage.rest(SILENT_MS)
    const { legacy } = stage.main.deps
    const askable: Changes['legacy'] = {
      ...legacy!,
      getProject: (id, ...more) =>
        sourceOf(id) === 'github'
          ? Promise.reject(new CiError({ kind: 'unauthorized', purpose: 'list the runs of a repository', status: 401 }))
          : legacy!.getProject(id, ...more),
    }
    expect(await round(stage, { legacy: askable })).toEqual(['no-answer', 'no-news'])
    expect(await buildEventsOf(stage, ref)).toEqual(['initiated delivery'])
  })

  test('stops when the process stops', async () => {
    await using stage = await openStage()
    await stage.running()
    await stage.rest(SILENT_MS)
    expect(await round(stage, {}, AbortSignal.abort())).toEqual([])
    expect(await round(stage)).toEqual(['no-news'])
  })
})

describe('a delivery that arrives after the look-up', () => {
  test('is a repetition of it, and sends nothing new', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.running()
    stage.ci.finish(uuid, 'error')
    await stage.rest(SILENT_MS)
    await roundAndTell(stage)
    const said = stage.reconcile.slack.calls.length
    await stage.deliver()
    expect(await buildEventsOf(stage, ref)).toEqual(['initiated delivery', 'error poll'])
    expect(stage.reconcile.slack.calls.length).toBe(said)
  })
})
