import type { SubscriptionDeps } from '../../../src/features/subscriptions/channel.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReconcileDeps } from '../../../src/alerts/deps.ts'
import type { CiRules } from '../../../src/domain/rules/decide.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { dryRun, type DryRunOutcome } from '../../../src/features/subscriptions/dry-run.ts'
import { follower, openStage as openReconcileStage, RELEASES } from '../../alerts/stage.ts'
import { buildOf, delivery, type Build } from '../../support/app.ts'
import { channelId } from '../../support/build-events.ts'
import { BUILDS, hear, openStage, seesAll, ingestAll, type Changes } from '../operations-stage.ts'

const HERE = { user: 'U0LIN00001', channel: BUILDS }
const SECRET = channelId('C0SECRET01')

/** What a dry run needs besides the parts of the main job. */
const ASKING: Omit<SubscriptionDeps, keyof ReconcileDeps> = {
  admins: [],
  permits: async () => ({ kind: 'yes' }),
  canPost: async () => ({ kind: 'open' }),
  timeZoneOf: async () => 'UTC',
  seenBy: seesAll,
  sendText: async () => ({ kind: 'unsent', code: 'nobody_listens' }),
}

const OPS = channelId('C0OPS00001')

const branch = fc.constantFrom(null, '', 'main', 'dev', 'release/*', '*', '^main$', '(')
const branchMatch = fc.constantFrom(null, 'exact', 'wildcard', 'regex')
const events = fc.oneof(
  fc.constant('every' as const),
  fc.subarray(['started', 'failed', 'success', 'recovered', 'waiting', 'stopped']),
)
const rules = fc.array(fc.record({ branch, branchMatch, events }), { minLength: 1, maxLength: 3 })
const subscription = fc.record({
  channel: fc.constantFrom(BUILDS, RELEASES, OPS),
  follows: fc.constantFrom('project', 'id', 'all', 'unfollowed', 'other'),
  rules: fc.option(rules),
  quiet: fc.boolean(),
  mention: fc.constantFrom('committer' as const, 'nobody' as const),
})
const ciRules = fc.option(fc.array(fc.record({ branch, branchMatch, events }), { maxLength: 3 }))

const followsOf = (what: string, project: { id: number; name: string }): Subscription['follows'] => {
  if (what === 'all' || what === 'unfollowed') return { what }
  if (what === 'other') return { what: 'project', name: 'acme/other' }
  return what === 'id'
    ? { what: 'project', name: 'acme/as-it-was-called', projectId: String(project.id) }
    : { what: 'project', name: project.name }
}

/** Each event as CI would deliver it, ordered so that one build alone breaks its branch and the last one fixes it. */
const TOLD: readonly [event: string, build: number, status: string][] = [
  ['success', 1, 'success'],
  ['started', 2, 'initiated'],
  ['waiting', 3, 'waiting'],
  ['stopped', 4, 'stopped'],
  ['broken', 5, 'error'],
  ['failed', 6, 'error'],
  ['recovered', 7, 'success'],
]

test(
  'a dry run gives the decisions that are then made, for any subscriptions and any rules of CI',
  { timeout: 120_000 },
  async () => {
    await using stage = await openReconcileStage({ subscriptions: [] })
    let last = 100
    await fc.assert(
      fc.asyncProperty(
        fc.array(subscription, { maxLength: 5 }),
        ciRules,
        fc.constantFrom('main', 'release/1'),
        async (wanted, ofCi: CiRules, on) => {
          const project = { id: ++last, name: `acme/p${last}` }
          const made = wanted.map((one): Subscription => ({
            ...one,
            follows: followsOf(one.follows, project),
            source: 'slack',
          }))
          const { deps } = stage.embody({ subscriptions: async () => made, rulesOf: async () => ofCi })
          const told = (build: Build) =>
            hear(
              { ...deps },
              JSON.stringify(
                delivery({
                  ...build,
                  project_id: project.id,
                  project_name: project.name,
                  project_full_name: project.name,
                }),
              ),
            )
          await told(buildOf(99, { branch: 'elsewhere', status: 'initiated' }))
          const asking = { ...deps, ...ASKING }
          await ingestAll({ ...deps, isUnderWay: () => false }, stage.store)
          const dry = await dryRun(asking, { project: project.name, branch: on, event: null }, HERE)
          for (const [, n, status] of TOLD) {
            await told(buildOf(project.id * 10 + n, { branch: on, status }))
            await ingestAll({ ...deps, isUnderWay: () => false }, stage.store)
          }
          const decided = await Promise.all(
            TOLD.map(async ([event, n]) => {
              const [buildEvent] = await stage.store.read.eventsOfBuild(String(project.id), String(project.id * 10 + n))
              return [
                event,
                Object.fromEntries((await stage.store.read.decisionsOfEvent(buildEvent!.seq)).map(inBrief)),
              ] as const
            }),
          )
          expect(saidBy(dry)).toEqual(Object.fromEntries(decided))
        },
      ),
      { numRuns: 60 },
    )
  },
)

const inBrief = ({ channel, verdict, reason, loud, ruleResults }: Decided) =>
  [channel, { verdict, reason, loud, ruleResults }] as const

interface Decided {
  channel: string
  verdict: string
  reason: string
  loud: boolean
  ruleResults: unknown
}

function saidBy(dry: DryRunOutcome): Record<string, object> {
  if (dry.kind !== 'dry-run') throw new Error(dry.kind)
  return Object.fromEntries(
    dry.events.map(({ event, channels }) => [
      event,
      Object.fromEntries(channels.map(({ channel, decision }) => inBrief({ channel, ...decision }))),
    ]),
  )
}

test('a dry run of one event accepts any of its names, and lists the names for an unknown one', async () => {
  await using stage = await openStage()
  const { deps } = stage.main
  const eventsOf = async (event: string | null) => {
    const outcome = await dryRun(deps, { project: 'web', branch: 'main', event }, HERE)
    return outcome.kind === 'dry-run' ? outcome.events.map((one) => one.event) : outcome.kind
  }
  expect(await eventsOf('FAILED')).toEqual(['failed'])
  expect(await eventsOf('passed')).toEqual(['success'])
  expect(await eventsOf('fixed')).toEqual(['recovered'])
  expect(await eventsOf(null)).toHaveLength(7)
  expect(await eventsOf('exploded')).toBe('unknown-event')
  expect(await dryRun(deps, { project: 'nobody/knows', branch: 'main', event: null }, HERE)).toMatchObject({
    kind: 'no-project',
  })
})

test('a dry run of one event asks whether the branch is red: a failure on a green one has broken it', async () => {
  const changes = follower(BUILDS, { rules: [{ branch: null, branchMatch: null, events: ['broken', 'recovered'] }] })
  await using stage = await openReconcileStage({ subscriptions: [changes] })
  const { deps } = stage.embody()
  const ingest = async (build: Build) => {
    await hear({ ...deps }, JSON.stringify(delivery(build)))
    await ingestAll({ ...deps, isUnderWay: () => false }, stage.store)
  }
  const asking = { ...deps, ...ASKING }
  const verdictOn = async (event: string) => {
    const outcome = await dryRun(asking, { project: 'acme/web', branch: 'main', event }, HERE)
    return outcome.kind === 'dry-run' && outcome.events.map(({ channels }) => channels[0]?.decision.verdict)
  }
  await ingest(buildOf(1, { branch: 'elsewhere' }))
  expect([await verdictOn('failed'), await verdictOn('success')]).toEqual([['post'], ['silent']])
  await ingest(buildOf(2, { status: 'error' }))
  expect([await verdictOn('failed'), await verdictOn('success')]).toEqual([['silent'], ['post']])
  expect([await verdictOn('broken'), await verdictOn('recovered')]).toEqual([['post'], ['post']])
})

test('a dry run says which channel is closed', async () => {
  await using stage = await openStage()
  const { store } = stage.reconcile
  await store.write((tx) => tx.closeChannel({ channel: BUILDS, code: 'is_archived', at: 1, retryAt: 2 }))
  const { deps } = stage.main
  expect(await dryRun(deps, { project: 'web', branch: 'main', event: 'failed' }, HERE)).toMatchObject({
    events: [{ channels: [{ channel: BUILDS, paused: { code: 'is_archived', at: 1 } }] }],
  })
})

test('a dry run mentions a channel that the requester cannot see without details, which it gives inside that channel', async () => {
  await using stage = await openStage()
  stage.reconcile.subscriptions.push(follower(SECRET))
  const about = { project: 'web', branch: 'main', event: 'failed' }
  const saidTo = async (changes: Changes, by: typeof HERE) => {
    const outcome = await dryRun(stage.another(changes).deps, about, by)
    const { events: tried = [], hidden = null } = outcome.kind === 'dry-run' ? outcome : {}
    return { channels: tried.flatMap(({ channels }) => channels.map(({ channel }) => channel)), hidden }
  }
  const outsider: Changes = { seenBy: async () => new Set([BUILDS]) }
  expect(await saidTo(outsider, HERE)).toEqual({ channels: [BUILDS], hidden: 1 })
  expect(await saidTo(outsider, { ...HERE, channel: SECRET })).toEqual({ channels: [BUILDS, SECRET], hidden: 0 })
  expect(await saidTo({ seenBy: async () => new Set([BUILDS, SECRET]) }, HERE)).toMatchObject({ hidden: 0 })
  expect(await saidTo({ seenBy: async () => null }, HERE)).toEqual({ channels: [BUILDS], hidden: 1 })
})
