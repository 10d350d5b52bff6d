import { afterAll, describe, expect, test } from 'vitest'
import type { ReconcileDeps } from '../../src/alerts/deps.ts'
import { soleTerm } from '../../src/alerts/send/lease.ts'
import { createPersonOperations, HANDLES_MAX } from '../../src/features/people/people.ts'
import { refreshProjects } from '../../src/ci-sync/reading.ts'
import { subscribe, SUBSCRIPTIONS_MAX } from '../../src/features/subscriptions/subscribe.ts'
import type { Store } from '../../src/store/store.ts'
import { follower } from '../alerts/stage.ts'
import { pushed, startCi } from '../../packages/sandbox-ci/test/support.ts'
import { HEALTHY } from '../../packages/demo/src/samples/healthy.ts'
import { buildId, MINUTE, projectId, SECOND, T0 } from '../support/build-events.ts'
import { createFakeNotifier } from '../support/fake-notifier.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { startPostgres } from '../support/postgres.ts'
import { postgresPlaces } from '../support/stores.ts'
import {
  BUILDS,
  clientsOf,
  grace,
  hear,
  lin,
  never,
  ofAttempt,
  processOf,
  ingestAll,
  writesTo,
  type Changes,
  noProjects,
  through,
} from '../features/operations-stage.ts'
import { createProject } from '../../src/features/projects/create.ts'

const server = await startPostgres()
const isPossible = !('impossible' in server)
const places = isPossible ? await postgresPlaces(server) : null
afterAll(() => places?.[Symbol.asyncDispose]())

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

describe.skipIf(!isPossible)('two processes on one PostgreSQL', () => {
  test('send one stop of an attempt to CI for concurrent requests, and both answer', async () => {
    await using stage = await openShared()
    const ref = await stage.build('running')
    for (let round = 0; round < 5; round++) {
      const other = await stage.build('running')
      const [one, two] = stage.processes
      const outcomes = await Promise.all([
        one!.operations.stop(ofAttempt(other), lin()),
        two!.operations.stop(ofAttempt(other), grace()),
        two!.operations.stop(ofAttempt(other), lin()),
      ])
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['asked-already', 'asked-already', 'requested'])
    }
    expect(writesTo(stage.ci)).toHaveLength(5)
    expect(await stage.store.read.openRequest(ref, 'stop')).toBeNull()
  })

  test('make one call for a request that both get', async () => {
    await using stage = await openShared()
    const ref = await stage.build('error')
    const by = lin()
    const outcomes = await Promise.all(stage.processes.map(({ operations }) => operations.restart(ofAttempt(ref), by)))
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['repeated', 'requested'])
    expect(writesTo(stage.ci)).toEqual(['restart.json 200'])
  })

  test('give a name that two people claim at once to one of them, and tell the other', async () => {
    await using stage = await openShared()
    for (let round = 0; round < 5; round++) {
      const [one, two] = stage.processes
      const ended = await Promise.all([
        createPersonOperations(one!.deps).claim(`ada${round}`, lin()),
        createPersonOperations(two!.deps).claim(`Ada${round}`, grace()),
        createPersonOperations(two!.deps).claim(`ada${round}`, lin({ user: 'U0ADA00001' })),
      ])
      expect(ended.map(({ kind }) => kind).sort()).toEqual(['claimed', 'taken', 'taken'])
      const owner = await stage.store.read.personOf(`ada${round}`)
      for (const outcome of ended) {
        if (outcome.kind === 'claimed') expect(outcome.me.user).toBe(owner)
        if (outcome.kind === 'taken') expect(outcome.by).toBe(owner)
      }
    }
  })

  test('send one creation of a project to CI for concurrent requests', async () => {
    await using stage = await openShared()
    for (let round = 0; round < 5; round++) {
      const creation = {
        repository_url: `https://git.example.com/acme/shop${round}.git`,
        type: 'pro',
        team_ids: ['7'],
        build_on_pr_only: false,
        test_pipelines: [{ name: 'Tests', commands: ['npm test'] }],
      } as const
      const ended = await Promise.all(
        stage.processes.map(({ deps }, i) => createProject(deps, creation, i === 0 ? lin() : grace(), false)),
      )
      expect(ended.filter(({ kind }) => kind === 'created')).toHaveLength(1)
      expect(ended.filter(({ kind }) => kind === 'asked-already' || kind === 'exists')).toHaveLength(1)
    }
    expect(writesTo(stage.ci)).toHaveLength(5)
  })

  test('store at most SUBSCRIPTIONS_MAX subscriptions of a channel', async () => {
    await using stage = await openShared()
    const follow = (i: number) =>
      subscribe(
        stage.processes[i % 2]!.deps,
        {
          project: 'all',
          events: ['failed'],
          branch: `release/${i}`,
          branchMatch: 'exact',
          quiet: false,
          mention: 'nobody',
        },
        i % 2 === 0 ? lin() : grace(),
      )
    for (let i = 0; i < SUBSCRIPTIONS_MAX - 1; i++) await follow(i)
    const ended = await Promise.all([1, 2, 3, 4].map((i) => follow(SUBSCRIPTIONS_MAX + i)))
    expect(ended.map(({ kind }) => kind).sort()).toEqual(['subscribed', 'too-many', 'too-many', 'too-many'])
    expect(await stage.store.read.subscriptions()).toHaveLength(SUBSCRIPTIONS_MAX)
  })

  test('give at most HANDLES_MAX names to a person who claims many at once, and answer each claim', async () => {
    await using stage = await openShared()
    const by = lin()
    const ended = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        createPersonOperations(stage.processes[i % 2]!.deps).claim(`ada-${i}`, { ...by, interactionKey: `ask-${i}` }),
      ),
    )
    expect(ended.filter(({ kind }) => kind === 'claimed')).toHaveLength(HANDLES_MAX)
    expect(ended.filter(({ kind }) => kind === 'too-many')).toHaveLength(40 - HANDLES_MAX)
    expect(await stage.store.read.handlesOf(by.user)).toHaveLength(HANDLES_MAX)
  })

  test("treat each other's request as interrupted only after a call must have ended", async () => {
    await using stage = await openShared()
    const ref = await stage.build('running')
    const [, other] = stage.processes
    const dying = stage.process({ v2: { listProjects: noProjects, stopBuild: never } })
    void dying.operations.stop(ofAttempt(ref), lin())
    const stateOf = async () => (await stage.store.read.openRequest(ref, 'stop'))?.state
    await expect.poll(stateOf).toBe('calling')
    await stage.clock.advance(90 * SECOND - 1)
    await other!.confirm()
    expect(await stateOf()).toBe('calling')
    await stage.clock.advance(1)
    await other!.confirm()
    expect(await stateOf()).toBe('unclear')
    await stage.clock.advance(MINUTE)
    await other!.confirm()
    expect(await stateOf()).toBeUndefined()
    expect(writesTo(stage.ci)).toEqual([])
  })

  test("keep a request confirmed if its delivery arrives during the other's look-up", async () => {
    await using stage = await openShared({ stopIsForgotten: true })
    const ref = await stage.build('running')
    const [one] = stage.processes
    const by = lin()
    await one!.operations.stop(ofAttempt(ref), by)
    await stage.clock.advance(2 * MINUTE)
    const real = one!.deps.legacy!
    const slow = stage.process({
      legacy: {
        ...real,
        async getProject(...asked) {
          const seen = await real.getProject(...asked)
          stage.ci.finish(ref.buildId, 'stopped')
          await stage.deliver()
          return seen
        },
      },
    })
    await slow.confirm()
    expect(await stage.store.read.requestOf(by.interactionKey)).toMatchObject({ state: 'confirmed', lookAt: null })
  })

  test("store CI's answer even if it arrives after the request was called interrupted", async () => {
    await using stage = await openShared()
    const ref = await stage.build('running')
    const [one, other] = stage.processes
    let answer = () => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const slow = stage.process({
      v2: { listProjects: noProjects, stopBuild: (build) => answered.then(() => one!.deps.v2!.stopBuild(build)) },
    })
    const by = lin()
    const outcome = slow.operations.stop(ofAttempt(ref), by)
    const request = () => stage.store.read.requestOf(by.interactionKey)
    await expect.poll(async () => (await request())?.state).toBe('calling')
    await stage.clock.advance(90 * SECOND)
    await other!.confirm()
    expect(await request()).toMatchObject({ state: 'unclear', code: 'interrupted' })
    answer()
    expect((await outcome).kind).toBe('requested')
    expect(await request()).toMatchObject({ state: 'accepted', code: null })
    await stage.clock.advance(SECOND)
    await stage.deliver()
    expect(await request()).toMatchObject({ state: 'confirmed' })
  })

  test("reopen no ended request when CI's answer arrives later, even if there is a new one", async () => {
    await using stage = await openShared()
    const ref = await stage.build('running')
    const [one, other] = stage.processes
    let answer = () => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const slow = stage.process({ v2: { listProjects: noProjects, stopBuild: () => answered } })
    const [by, anew] = [lin(), grace()]
    const outcome = slow.operations.stop(ofAttempt(ref), by)
    const request = () => stage.store.read.requestOf(by.interactionKey)
    await expect.poll(async () => (await request())?.state).toBe('calling')
    await stage.clock.advance(2 * MINUTE)
    await other!.confirm()
    await other!.confirm()
    expect(await request()).toMatchObject({ state: 'unconfirmed' })
    expect((await one!.operations.stop(ofAttempt(ref), anew)).kind).toBe('requested')
    answer()
    expect((await outcome).kind).toBe('requested')
    expect(await request()).toMatchObject({ state: 'unconfirmed', lookAt: null })
    expect(await stage.store.read.openRequest(ref, 'stop')).toMatchObject({ interactionKey: anew.interactionKey })
  })
})

async function openShared(switches: object = {}) {
  const place = await places!.open()
  const clock = createHandClock(T0)
  const ci = await startCi({ clock, switches: { holdDeliveries: true, ...switches } })
  const clients = clientsOf(ci, clock)
  const configured = { v2: true, legacy: true }
  await refreshProjects({ store: place.store, clock, log: SILENT, ...clients })
  let count = 0
  let delivered = 0

  const process = (changes: Changes = {}) => {
    const legacy = { ...clients.legacy, ...changes.legacy }
    const deps = depsOf(place.another(), clock, clients, `process-${++count}`)
    return processOf(through({ ...deps, ...changes }), legacy, configured)
  }

  const working = { ...reconcileDeps(place.store, clock), configured, isUnderWay: () => false }

  async function deliver(): Promise<void> {
    const fresh = ci.deliveries().slice(delivered)
    delivered += fresh.length
    for (const { body } of fresh) await hear({ store: place.store, clock }, body)
    await ingestAll(working, place.store)
  }

  return {
    ci,
    clock,
    store: place.store,
    process,
    processes: [process(), process()],
    deliver,
    async build(state: 'running' | 'error') {
      const { id, uuid } = pushed(ci, { outcome: 'none' })
      if (state === 'error') ci.finish(uuid, 'error')
      await deliver()
      return { projectId: projectId('11'), buildId: buildId(id), attempt: 1 }
    },
    async [Symbol.asyncDispose]() {
      await clients.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

let ids = 0

const depsOf = (
  store: Store,
  clock: ReturnType<typeof createHandClock>,
  { v2, legacy, badges }: ReturnType<typeof clientsOf>,
  processId: string,
) => ({
  store,
  clock,
  log: SILENT,
  endGone: async () => {},
  newId: () => `${processId} request-${++ids}`,
  processId,
  configured: { v2: true, legacy: true },
  sites: { ci: null, github: null, gitlab: null },
  v2,
  ci: v2,
  digestKey: 'key of both',
  legacy,
  permits: async () => ({ kind: 'yes' }) as const,
  presenceOf: async () => ({ kind: 'here' }) as const,
  channelsOf: async () => null,
  canPost: async () => ({ kind: 'open' as const }),
  seenBy: async () => null,
  timeZoneOf: async () => 'UTC',
  nameOf: async () => null,
  retentionDays: 90,
  connections: { all: () => [] },
  doctor: HEALTHY,
  checks: () => [],
  subscriptions: async () => [follower(BUILDS)],
  rulesOf: async () => null,
  admins: [],
  sendText: async () => ({ kind: 'unsent', code: 'nobody_listens' }) as const,
  refresh: async () => ({ failure: null, isWhole: true, builds: 0 }),
  badges,
  draw: async () => null,
  chart: async () => null,
  webhookSecrets: [],
})

const reconcileDeps = (store: Store, clock: ReturnType<typeof createHandClock>): ReconcileDeps => ({
  store,
  notifier: createFakeNotifier(clock),
  clock,
  log: SILENT,
  random: () => 0.5,
  newKey: () => `key-${++ids}`,
  term: soleTerm('reconciler'),
  subscriptions: async () => [follower(BUILDS)],
  rulesOf: async () => null,
  addresses: null,
  configured: { v2: true, legacy: true },
  hasWaitingDeliveries: () => false,
  count: () => {},
})
