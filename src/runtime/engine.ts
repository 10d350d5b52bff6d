import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { oldestWaiting, createStoreTrial } from '../store/health.ts'
import { createTransport } from '../sources/http/transport.ts'
import { createClients, createHostedClients, createSources, configuredOf, polledOf, sitesOf } from './clients.ts'
import type { Config } from '../config/config.ts'
import type { Streak } from '../domain/builds/streak.ts'
import { freeBytesOf } from '../store/open.ts'
import { type SyncedClock, systemClock, type SteadyTime } from '../lib/clock.ts'
import { withTimeout, singleFlight } from '../lib/async.ts'
import { errorCode } from '../lib/error-code.ts'
import { createSeal } from '../lib/seal.ts'
import { createLogThrottle } from '../lib/log.ts'
import type { BodyQueue } from '../http/body-queue.ts'
import { createGate, createSignatureCount } from '../slack/http/gate.ts'
import { createSocketWatch } from '../slack/socket/watch.ts'
import { createMetrics } from './metrics.ts'
import { createChart } from '../slack/picture/show.ts'
import { svgToPng } from '../slack/picture/picture.ts'
import { createAddresses } from '../slack/api/addresses.ts'
import { createCanPost, createAlarm, createSendText } from '../slack/api/send-text.ts'
import { createClient } from '../slack/api/client.ts'
import { createDirectory, createMemberships } from '../slack/api/directory.ts'
import { createSlackExaminer } from '../slack/api/examiner.ts'
import { createSlackNotifier } from '../alerts/send/slack-notifier.ts'
import { createFeatures } from '../features/features.ts'
import type { Check } from '../features/kit/check.ts'
import type { Feature } from '../features/kit/feature.ts'
import { createCiLookup } from '../ci-sync/ci-lookup.ts'
import { endGoneBranches } from '../projects/streaks.ts'
import { createProjectRules } from '../ci-sync/reading.ts'
import { createSubscriptions } from '../projects/named-sources.ts'
import { createPendingInteractions } from '../features/kit/pending-interactions.ts'
import { showInterrupted } from '../features/kit/interrupted.ts'
import { createReadiness } from './readiness.ts'
import { createLease, soleTerm, type Term } from '../alerts/send/lease.ts'
import { createSender, type Sender } from './sender.ts'
import { createSlackEndpoint } from './slack-app.ts'
import { checkAtStart } from './start-check.ts'
import type { Store } from '../store/store.ts'
import { EACH_MINUTE_JOB, upkeepJobs } from './upkeep.ts'

/** `/metrics` answers within this time, even if some values are missing. */
const FIGURES_PATIENCE_MS = 2_000

/** Retry interval for a database that cannot be reached yet. */
const STORE_AGAIN_MS = 1_000

/** How often the start check looks whether Socket Mode has its first connection. */
const SOCKET_AGAIN_MS = 200

/** How many deliveries may wait to be stored before ingesting pauses, and before retention pauses. */
const INGEST_YIELDS_AT = 2
const UPKEEP_YIELDS_AT = 16

interface EngineDeps {
  config: Config
  log: Logger
  clock: SyncedClock
  /** on SQLite; null on PostgreSQL, which uses the database's clock */
  steady: SteadyTime | null
  store: Store
  /** this process, as the log and claims name it */
  processId: string
  /** the queue for bodies whose signature is not checked yet */
  unproven: BodyQueue
  /** how many writes to the database have failed so far */
  failedWrites: () => number
  /** deliveries that wait to be stored */
  waitingDeliveries: () => number
}

/** Builds and wires everything behind the webhook endpoint: ingesting, sending, answering people, jobs. */
export function createEngine({
  config,
  log,
  clock,
  steady,
  store,
  processId,
  unproven,
  failedWrites,
  waitingDeliveries,
}: EngineDeps) {
  const basics = { store, clock, log }
  const logThrottle = createLogThrottle(clock)
  const socketWatch = createSocketWatch({ clock, log, logThrottle })
  const socket = config.slack.appToken === null ? null : socketWatch
  const metrics = createMetrics({
    backlog: () => withTimeout(clock, FIGURES_PATIENCE_MS, store.read.backlog(clock.now())),
    oldestWaiting: () => withTimeout(clock, FIGURES_PATIENCE_MS, oldestWaiting(store)),
    outage: () => sender.outage(),
    isSocketOpen: () => socket?.stands() ?? null,
    now: clock.now,
  })
  const slack = {
    token: config.slack.botToken,
    apiUrl: config.slack.apiUrl,
    logger: log,
  }
  const notifier = createSlackNotifier({ ...slack, now: clock.now })
  const transport = createTransport({ clock, retried: metrics.countCiRetry })
  const { operators, approvers, admins } = config
  const notifyAdmins = createAlarm({ ...slack, clock, admins, log })
  const { badges, ...clients } = createClients(config.ci, transport, notifyAdmins, metrics.countCiCall)
  const hosted = createHostedClients(config, transport, notifyAdmins, metrics.countCiCall)
  const configured = configuredOf({ ...clients, ...hosted })
  const rules = createProjectRules({ ...basics, ...clients })
  const leaseClock = { clock, syncClock: () => clock.sync(store.time), onTerm: (term: Term) => sender.serve(term) }
  const monotonic = performance.now.bind(performance)
  const lease = store.shared ? createLease({ store, ...leaseClock, log, monotonic, newId: randomUUID }) : null
  const subscriptions = createSubscriptions({ ...basics, fixed: config.subscriptions })
  const stopping = new AbortController()
  const sender: Sender = createSender({
    ...basics,
    notifier,
    random: Math.random,
    newKey: randomUUID,
    subscriptions,
    rulesOf: rules.rulesOf,
    addresses: config.asksByEmail ? createAddresses({ ...slack, clock, log }) : null,
    configured,
    hasWaitingDeliveries: () => waitingDeliveries() >= INGEST_YIELDS_AT,
    count: metrics.count,
    jobs: () => [...features.flatMap(({ jobs }) => jobs ?? []), ...upkeep()],
    countJob: (job, end) => metrics.countJob(job, end, clock.now()),
    stopping: stopping.signal,
  })
  const directory = createDirectory({ ...slack, clock, grants: { operators, approvers, admins } })
  const following = {
    ...basics,
    permits: directory.permits,
    subscriptions,
    rulesOf: rules.rulesOf,
    sendText: createSendText(slack),
    admins,
  }
  const sources = createSources({ ...clients, ...hosted }, store.read)
  const ends = { ...basics, sources, newId: randomUUID }
  const acting = {
    ...following,
    ...ends,
    endGone: (open: readonly Streak[]) => endGoneBranches(ends, open),
    processId,
    configured,
    retentionDays: config.retentionDays,
    ...clients,
    sites: sitesOf(config),
    ci: clients.v2,
    // Secret, and the same in every process and after a restart.
    digestKey: config.slack.botToken,
  }
  const signatures = createSignatureCount()
  const doctor = {
    ...basics,
    config,
    slack: createSlackExaminer({ ...slack, appToken: config.slack.appToken, clock }),
    freeBytes: freeBytesOf(config.database),
    subscriptions,
    badges,
    ...clients,
    ...hosted,
    webhookSecrets: config.webhookSecrets,
    receiving: async () => ({
      wrongSignatures: signatures.wrong(),
      socketTrouble: socket?.trouble()?.code ?? null,
    }),
  }
  // Named, so that TypeScript accepts more than the features need: the bot must compile without a deleted feature.
  const forFeatures = {
    ...acting,
    orAskCi: createCiLookup({ ...acting, refresh: rules.refresh }),
    presenceOf: directory.presenceOf,
    timeZoneOf: directory.timeZoneOf,
    nameOf: directory.nameOf,
    chart: createChart({ ...slack, log }),
    refresh: rules.refresh,
    badges,
    draw: svgToPng,
    ...createMemberships({ ...slack, clock, log }),
    canPost: createCanPost(slack),
    webhookSecrets: config.webhookSecrets,
    doctor,
    checks: (): readonly Check[] => features.flatMap(({ checks }) => checks ?? []),
  }
  const features: readonly Feature[] = createFeatures(forFeatures)
  const pendingInteractions = createPendingInteractions({
    ...basics,
    newId: randomUUID,
    processId,
    seal: createSeal(config.slack.botToken),
    carryOut: (interaction, body) => slackEndpoint.carryOut(interaction, body),
    notifyInterrupted: (left) => showInterrupted({ client: createClient(slack), clock }, left),
  })
  const upkeep = () =>
    upkeepJobs({
      ...acting,
      failureLogs: config.failureLogs,
      polled: polledOf(config, hosted, store.read),
      rules,
      pendingInteractions,
      metrics,
      hasWaitingDeliveries: () => waitingDeliveries() >= UPKEEP_YIELDS_AT,
    })
  const gate = createGate({
    signingSecret: config.slack.signingSecret ?? '',
    log,
    now: systemClock.now,
    queue: unproven,
    signatures,
  })
  const slackEndpoint = createSlackEndpoint({
    ...basics,
    config: config.slack,
    features,
    permits: directory.permits,
    reads: store.read,
    pendingInteractions,
    socketWatch,
    random: Math.random,
    newKey: randomUUID,
  })
  const readyz = createReadiness({
    store: { ping: createStoreTrial({ store, clock, failedWrites }) },
    notifier,
    clock,
    outage: sender.outage,
    failing: sender.failing,
    socket,
    wrongSignatures: signatures.wrong,
    oldestWaiting: () => oldestWaiting(store),
  })
  let running: Promise<void> = Promise.resolve()

  /** Background start-up; requests must not wait for it. */
  async function settleIn(): Promise<void> {
    if (!(await openStore())) return
    // Nothing below is awaited: Slack and CI may be down, and a stop must not wait for them.
    const reading = rules.refresh().catch((error: unknown) => {
      log.warn({ err: error }, 'the projects could not be read at the start')
      return null
    })
    void checkAtStart({
      doctor,
      checks: forFeatures.checks(),
      store,
      clock,
      log,
      logThrottle,
      stopping: stopping.signal,
      async restStarted() {
        const isConnecting = () => socket !== null && !socket.stands() && !socket.trouble()
        while (isConnecting() && !stopping.signal.aborted) await clock.sleep(SOCKET_AGAIN_MS, stopping.signal)
        return !socket?.trouble() && (await reading)?.failure === null
      },
    }).catch((error: unknown) =>
      log.warn({ err: error }, 'the check of Slack at the start failed; /ci doctor repeats it'),
    )
    pendingInteractions.start()
    void slackEndpoint.start()
  }

  async function openStore(): Promise<boolean> {
    while (!stopping.signal.aborted) {
      try {
        // A SQLite file was migrated before the port opened.
        if (store.shared) await store.migrate()
        steady?.notBefore((await store.read.lastDoneAt(EACH_MINUTE_JOB)) ?? 0)
        if (lease) await lease.start()
        else sender.serve(soleTerm(processId))
        return true
      } catch (error) {
        // A database server may still be starting, so retry. A broken file stays broken.
        if (!store.shared) throw error
        log.error({ err: error }, `${storeTrouble(error)}; deliveries are answered with 503 until then`)
        await clock.sleep(STORE_AGAIN_MS, stopping.signal)
      }
    }
    return false
  }

  return {
    metrics,
    // Concurrent callers share one count of what waits in the database.
    metricsText: singleFlight(metrics.text),
    readyz,
    async fromSlack(request: IncomingMessage, response: ServerResponse): Promise<void> {
      if (await gate(request, response)) slackEndpoint.handle?.(request, response)
    },
    /** Whether this process was paused a moment ago: what it reads first may have been handled elsewhere. */
    wasJustPaused: () => lease?.wasJustPaused() ?? false,
    /** Resolves when everything has started. Waits for a database server that is away. */
    start: (): Promise<void> => (running = settleIn()),
    /** Idempotent. Work that has not ended after `graceMs` is resumed at the next start. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort()
      await running.catch(() => {})
      const grace = clock.sleep(graceMs)
      await Promise.all([
        Promise.race([sender.ended(), grace]),
        Promise.race([slackEndpoint.stop(), grace]),
        Promise.race([pendingInteractions.stop(), grace]),
      ])
      await Promise.race([lease?.stop(), grace])
      await transport.close()
    },
  }
}

/** PostgreSQL's code for a wrong password. */
const WRONG_PASSWORD = '28P01'

const storeTrouble = (error: unknown): string =>
  errorCode(error) === WRONG_PASSWORD
    ? 'the database refuses the password: correct POSTGRES_PASSWORD, or the password in DATABASE_URL'
    : 'the database cannot be reached yet'
