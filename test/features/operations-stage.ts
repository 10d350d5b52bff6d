import { staticAuth } from '../../src/sources/ci-service/auth.ts'
import { createBadgeClient } from '../../src/sources/ci-service/badge.ts'
import { createClientLegacy, type ClientLegacy } from '../../src/sources/ci-service/client-legacy.ts'
import { createCiServiceSource } from '../../src/sources/ci-service/source.ts'
import { createClientV2, type ClientV2 } from '../../src/sources/ci-service/client-v2.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import type { ChannelId, MessageTs } from '../../src/domain/ids.ts'
import { isProjectRequest, type Request, type AttemptRef } from '../../src/domain/cards/request.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import type { CardView } from '../../src/domain/cards/view.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { svgToPng } from '../../src/slack/picture/picture.ts'
import type { Requester, Target } from '../../src/projects/outcomes.ts'
import { createCiLookup } from '../../src/ci-sync/ci-lookup.ts'
import { createProjectRules, refreshProjects } from '../../src/ci-sync/reading.ts'
import type { FeatureDeps } from '../../src/features/features.ts'
import { act, type ActionOutcome } from '../../src/features/builds/action.ts'
import { buildStatus, runningBuilds, type StatusQuery } from '../../src/features/builds/status.ts'
import { confirmRequests } from '../../src/features/builds/confirm.ts'
import { recordAcknowledged } from '../support/acknowledged.ts'
import { ingestRevisions } from '../../src/alerts/ingest/ingest.ts'
import type { FinalStatus, Push } from '../../packages/sandbox-ci/src/builds.ts'
import type { SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import type { Sources } from '../../src/sources/source.ts'
import type { Store } from '../../src/store/store.ts'
import { readPayload } from '../../src/sources/ci-service/endpoint.ts'
import { BUILDS, openStage as openReconcileStage, type Stage as ReconcileStage } from '../alerts/stage.ts'
import { pushed, startCi } from '../../packages/sandbox-ci/test/support.ts'
import { inBrief } from '../support/fake-notifier.ts'
import { buildId, LIN, projectId } from '../support/build-events.ts'
import { HEALTHY } from '../../packages/demo/src/samples/healthy.ts'
import type { HandClock } from '../support/hand-clock.ts'

export const GRACE = 'U0GRACE001'
export { BUILDS, LIN }

type Switches = Partial<ReturnType<SandboxCi['switches']>>

export interface StageOptions {
  switches?: Switches
  /** what is configured */
  v2?: boolean
  legacy?: boolean
}

/** One process of the bot: what people can do, and its job that looks up requests. */
export interface Process {
  operations: ReturnType<typeof operationsOf>
  confirm(): Promise<void>
  deps: StageDeps & FeatureDeps
}

/** The source of builds uses these two clients. */
export interface StageDeps extends Omit<FeatureDeps, 'orAskCi'> {
  v2: Pick<ClientV2, 'stopBuild' | 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'getProject' | 'restartBuild'> | null
}

interface Askable {
  store: Pick<Store, 'read'>
  v2: StageDeps['v2']
  legacy: (Pick<ClientLegacy, 'getProject'> & Partial<ClientLegacy>) | null
}

/** The same dependencies, with a source of builds that uses these clients. */
export const through = <Deps extends Askable>(
  deps: Deps,
  sources: Sources = () => createCiServiceSource(deps as Askable as StageDeps, deps.store.read),
): Deps & { sources: Sources } => ({ ...deps, sources })

/** What differs from the usual process. */
export type Changes = Partial<StageDeps>

/** A workspace in which everybody sees every channel. */
export const seesAll = async (): Promise<ReadonlySet<ChannelId>> =>
  new (class extends Set<ChannelId> {
    override has(): boolean {
      return true
    }
  })()

/** The operations between a real store, the real reconciler and a CI over HTTP. Time stands still. */
export interface Stage extends AsyncDisposable {
  ci: SandboxCi
  clock: HandClock
  reconcile: ReconcileStage
  main: Process
  /** Another process on the same store. */
  another(changes?: Changes): Process
  /** Starts a build of acme/web at CI, without delivering anything yet. */
  push(push?: Push, project?: string): Built
  /** Delivers what CI has sent since the last call; `only`: events with these statuses. */
  deliver(only?: readonly string[]): Promise<void>
  /** Drops what CI has sent since the last call. */
  lose(): void
  /** A build that has ended with this status, with everything delivered and shown. */
  ended(status?: FinalStatus, push?: Push, project?: string): Promise<Built>
  /** A running build, with everything delivered and shown. */
  running(push?: Push, project?: string): Promise<Built>
  /** Lets time pass; the job that looks up requests runs every five seconds. */
  pass(ms: number, process?: Process): Promise<void>
  /** Lets time pass while neither people nor the bot do anything. */
  rest(ms: number): Promise<void>
  requests(): Promise<Request[]>
  /** The calls that change something at CI. */
  writes(): string[]
  /** Plain messages to a channel or person. */
  said: { to: string; text: string }[]
  card(): CardView | undefined
  /** The replies in the thread of the newest card, in brief. */
  thread(): string[]
}

export interface Built {
  ref: AttemptRef
  uuid: string
}

const CONFIRM_EVERY_MS = 5_000

/** Longer than CI needs to stop a build. */
const MOMENT_MS = 100

export async function openStage({ switches = {}, v2 = true, legacy = true }: StageOptions = {}): Promise<Stage> {
  const reconcile = await openReconcileStage()
  const { clock, store, slack } = reconcile
  const ci = await startCi({ clock, switches: { holdDeliveries: true, ...switches } })
  const configured = { v2, legacy }
  let life = await reconcile.live({ configured })
  const { log } = life.deps
  const clients = clientsOf(ci, clock)
  let processes = 0
  let delivered = 0
  const said: Stage['said'] = []

  const another = ({ sources, ...changes }: Changes = {}): Process =>
    processOf(
      // The features that are there may need less than this.
      through<Omit<StageDeps, 'sources'> & Record<string, unknown>>(
        {
          store,
          clock,
          log,
          endGone: async () => {},
          newId: () => `request-${++processes}-${Math.random()}`,
          processId: `process-${++processes}`,
          configured,
          v2: v2 ? clients.v2 : null,
          ci: v2 ? clients.v2 : null,
          digestKey: 'key of the stage',
          legacy: legacy ? clients.legacy : null,
          permits: async () => ({ kind: 'yes' }),
          presenceOf: async () => ({ kind: 'here' }),
          channelsOf: async () => null,
          canPost: async () => ({ kind: 'open' }),
          seenBy: seesAll,
          timeZoneOf: async () => 'Europe/Berlin',
          nameOf: async () => 'Lin',
          retentionDays: 90,
          doctor: HEALTHY,
          checks: () => [],
          subscriptions: async (): Promise<readonly Subscription[]> => [
            ...reconcile.subscriptions,
            ...(await store.read.subscriptions()),
          ],
          ...createProjectRules({ store, clock, log, ...only(clients, configured) }),
          admins: [],
          sendText: async (to, text) => {
            said.push({ to, text })
            return { kind: 'sent', ts: `${said.length}.0` as MessageTs }
          },
          badges: clients.badges,
          sites: {
            ci: new URL(ci.address().siteUrl),
            github: new URL('https://github.example'),
            gitlab: new URL('https://git.example'),
          },
          draw: svgToPng,
          chart: async () => null,
          webhookSecrets: [],
          ...changes,
        },
        sources,
      ),
      clients.legacy,
      configured,
    )

  const main = another()
  await main.deps.refresh()

  async function deliver(statuses?: readonly string[]): Promise<void> {
    await clock.advance(MOMENT_MS)
    const fresh = ci.deliveries().slice(delivered)
    delivered += fresh.length
    for (const { status, body } of fresh) if (!statuses || statuses.includes(status)) await hear({ store, clock }, body)
    await clock.settle()
    await clock.advance(2_000)
  }

  const push: Stage['push'] = (how = {}, project = 'acme/web') => {
    const { id, uuid } = pushed(ci, { outcome: 'none', ...how }, project)
    const owner = ci.state().projects.find(({ name }) => name === project)!
    return { ref: { projectId: projectId(owner.id), buildId: buildId(id), attempt: 1 }, uuid }
  }

  async function running(how?: Push, project?: string): Promise<Built> {
    const built = push(how, project)
    await deliver()
    return built
  }

  return {
    ci,
    clock,
    reconcile,
    main,
    another,
    push,
    deliver,
    lose: () => void (delivered = ci.deliveries().length),
    running,
    async ended(status = 'error', how, project) {
      const built = await running(how, project)
      await clock.advance(60_000)
      ci.finish(built.uuid, status)
      await deliver()
      await clock.advance(60_000)
      return built
    },
    async pass(ms, process = main) {
      for (let left = ms; left > 0; left -= CONFIRM_EVERY_MS) {
        await clock.advance(Math.min(left, CONFIRM_EVERY_MS))
        await process.confirm()
        await clock.settle()
      }
      await clock.advance(2_000)
    },
    async rest(ms) {
      await life.reconciler.stop()
      await clock.advance(ms)
      life = await reconcile.live({ configured })
      // CI's list can be limited to some builds; here it has none.
      await refreshProjects({
        store,
        clock,
        log,
        ...only({ ...clients, legacy: withoutBuilds(clients.legacy) }, configured),
      })
    },
    async requests() {
      const all = await store.read.requestsAfter({ requestedAt: 0, id: '' }, 100)
      return all.filter((request) => !isProjectRequest(request))
    },
    writes: () => writesTo(ci),
    said,
    card: () => slack.messages.flatMap(({ view }) => (view.kind === 'card' ? [view] : [])).at(-1),
    thread: () => slack.messages.filter(({ view }) => view.kind !== 'card').map(({ view }) => inBrief(view)),
    async [Symbol.asyncDispose]() {
      await life.reconciler.stop()
      await reconcile[Symbol.asyncDispose]()
      await clients.close()
    },
  }
}

/** For stubs of CI whose list was read before. */
export const noProjects = async () => ({ projects: [], truncated: false, skipped: 0 })

/** The real clients of CI, without delays between retries. */
export function clientsOf(ci: SandboxCi, clock: Clock) {
  const { baseUrl, legacyBaseUrl, siteUrl, organizationUuid, authorization, apiKey } = ci.address()
  const impatient: Clock = { now: clock.now, sleep: async () => {} }
  const transport = createTransport({ clock: impatient, random: () => 0, limits: { headersTimeoutMs: 500 } })
  return {
    v2: createClientV2({ baseUrl, organizationUuid, auth: staticAuth(authorization), transport }),
    legacy: createClientLegacy({ baseUrl: legacyBaseUrl, apiKey, transport }),
    badges: createBadgeClient({ siteUrl, transport }),
    close: () => transport.close(),
  }
}

const withoutBuilds = (legacy: ClientLegacy): ClientLegacy => ({
  ...legacy,
  async listProjects() {
    const list = await legacy.listProjects()
    return { ...list, projects: list.projects.map((project) => ({ ...project, builds: [] })) }
  },
})

const only = (
  { v2, legacy }: Pick<ReturnType<typeof clientsOf>, 'v2' | 'legacy'>,
  has: { v2: boolean; legacy: boolean },
) => ({
  v2: has.v2 ? v2 : null,
  legacy: has.legacy ? legacy : null,
})

export const processOf = (given: StageDeps, legacy: ClientLegacy, has: { legacy: boolean }): Process => {
  const deps = { ...given, orAskCi: createCiLookup(given) }
  return {
    deps,
    operations: operationsOf(deps),
    confirm: () => confirmRequests(through({ ...deps, legacy: has.legacy ? legacy : null })),
  }
}

/** What a person does about builds, without Slack. What other features do is called with the process's `deps`. */
function operationsOf(deps: StageDeps & Pick<FeatureDeps, 'orAskCi'>) {
  const { orAskCi } = deps
  return {
    status: (query: StatusQuery) => orAskCi(() => buildStatus(deps, query)),
    running: (channel: ChannelId | null) => runningBuilds(deps, channel),
    stop: (target: Target, by: Requester) => orAskCi(() => act(deps, { action: 'stop' }, target, by)),
    restart: (target: Target, by: Requester) => orAskCi(() => act(deps, { action: 'restart' }, target, by)),
  }
}

/** Receives a delivery, byte for byte. */
export async function hear(deps: Parameters<typeof recordAcknowledged>[0], body: string): Promise<void> {
  const reading = readPayload(Buffer.from(body))
  if (reading.kind === 'refusal') throw new Error(reading.reason)
  await recordAcknowledged(deps, { event: reading.event, body })
}

export const writesTo = (ci: SandboxCi): string[] =>
  ci
    .calls()
    .filter(({ method }) => method !== 'GET')
    .map(({ path, statusCode }) => `${path.split('/').at(-1)} ${statusCode}`)

/** Ingests everything that is new, as the reconciler does: a wake may hide new build events until the next round. */
export async function ingestAll(deps: Parameters<typeof ingestRevisions>[0], store: Store): Promise<void> {
  const due = await store.read.dueIngest(deps.clock.now(), 100)
  await ingestRevisions(deps, due)
  if (due.length > 0) await ingestAll(deps, store)
}

let asks = 0

/** Lin, who clicks a button in #builds. */
export const lin = (changes: Partial<Requester> = {}): Requester => ({
  user: LIN,
  team: 'T0ACME0001',
  channel: BUILDS,
  via: 'button',
  interactionKey: `ask-${++asks}`,
  ...changes,
})

export const grace = (changes: Partial<Requester> = {}): Requester => lin({ user: GRACE, ...changes })

export const ofAttempt = (ref: AttemptRef): Target => ({ kind: 'run', ref })

/** An outcome in brief. */
export function outcomeInBrief(outcome: ActionOutcome): string {
  const { kind } = outcome
  if (kind === 'ci-refused' || kind === 'unclear' || kind === 'ci-trouble') return `${kind} ${outcome.code}`
  if (kind === 'asked-already') return `${kind} by ${outcome.by} ${outcome.state}`
  if (kind === 'impossible') return `${kind} ${outcome.why}`
  return kind === 'repeated' ? `${kind} ${outcome.state}` : kind
}

/** A new promise for each caller: a shared one would keep every waiting caller in memory. */
export const never = (): Promise<never> => new Promise(() => {})
