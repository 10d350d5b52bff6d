import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { oldestWaiting } from './store/backlog.ts'
import { createTransport } from './sources/ci-service/transport.ts'
import { createClients } from './ci-clients.ts'
import type { Config } from './config.ts'
import { doctorDeps } from './doctor-deps.ts'
import { scheduleJobs, type ScheduleDeps } from './jobs/schedule.ts'
import type { AgreedClock } from './lib/agreed-clock.ts'
import { systemClock } from './lib/clock.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { createSeal } from './lib/seal.ts'
import { createLogThrottle } from './lib/log-throttle.ts'
import { singleFlight } from './lib/single-flight.ts'
import type { SteadyTime } from './lib/steady-time.ts'
import type { Measures } from './server/rate-limiter.ts'
import { createGate } from './slack/http/gate.ts'
import { createSocketWatch } from './slack/socket/watch.ts'
import type { Logger } from 'pino'
import { createMetrics, type Metrics } from './metrics.ts'
import { svgToPng } from './slack/picture/picture.ts'
import { createAlarm } from './slack/api/alarm.ts'
import { createDirectory } from './slack/api/directory.ts'
import { createMemberships } from './slack/api/memberships.ts'
import { createSlackNotifier } from './alerts/slack-notifier.ts'
import { createSay } from './slack/api/say.ts'
import { createConnections } from './sources/ci-service/connections.ts'
import { createOperations } from './features/operations.ts'
import { createProjectRules } from './catalog/project-rules.ts'
import { createUnanswered } from './features/unanswered.ts'
import { createReadiness } from './readiness.ts'
import type { Counted } from './alerts/deps.ts'
import { createLease, soleTerm, type Term } from './alerts/lease.ts'
import { createReconciler, type Reconciler } from './alerts/reconciler.ts'
import type { SlackDoor } from './slack-app.ts'
import { checkAtStart } from './start-check.ts'
import type { Store } from './store/store.ts'
import { createTeller } from './features/tell-left.ts'
import { createStoreTrial } from './store/trial.ts'
import { OFTEN_DONE_JOB, upkeepJobs } from './upkeep.ts'

/** Who asks for figures is answered after so long at most, with what is known by then. */
const FIGURES_PATIENCE_MS = 2_000

/** A database that is not there yet is asked for again so often. */
const STORE_AGAIN_MS = 1_000

/** Where so many deliveries wait at the door, taking in yields to it; where so many do, nothing old is removed. */
const INTAKE_YIELDS_AT = 2
const UPKEEP_YIELDS_AT = 16

/** Nobody has read a card and pressed it within this time. */
const CLICKS_AFTER_MS = 500

export interface EngineDeps {
  config: Config
  log: Logger
  clock: AgreedClock
  /** where the time is our own; null: the database's counts */
  steady: SteadyTime | null
  store: Store
  /** this process, as others and the log know it */
  processId: string
  /** those that are valid now */
  webhookSecrets: () => readonly string[]
  /** at which large bodies of Slack's requests are read */
  measures: Measures
  /** how many deliveries wait to be stored */
  atTheDoor: () => number
}

/** Everything behind the webhook door: what it heard is told, people are answered, jobs are done. */
export interface Engine {
  metrics: Metrics
  /** The metrics as Prometheus reads them. */
  metricsText: () => Promise<string>
  /** Answers `/readyz`. */
  readyz: (response: ServerResponse) => Promise<void>
  /** Answers Slack's requests. */
  fromSlack: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Whether this process sleeps, or slept until a moment ago. */
  isDrowsy: () => boolean
  /** A hint that there is news to ingest. */
  wake: () => void
  /** Resolves when everything is under way; a database server that is away is waited for. */
  start(): Promise<void>
  /** Idempotent; what has not ended after `graceMs` is found again at the next start. */
  stop(graceMs: number): Promise<void>
}

/** Builds every part behind the webhook door and wires them. */
export function createEngine({
  config,
  log,
  clock,
  steady,
  store,
  processId,
  webhookSecrets,
  measures,
  atTheDoor,
}: EngineDeps): Engine {
  const logThrottle = createLogThrottle(clock)
  const socketWatch = createSocketWatch({ clock, log, logThrottle })
  const socket = config.slack.appToken === null ? null : socketWatch
  const metrics = createMetrics({
    backlog: () => withTimeout(clock, FIGURES_PATIENCE_MS, store.read.backlog()),
    oldestWaiting: () => withTimeout(clock, FIGURES_PATIENCE_MS, oldestWaiting(store)),
    outage: () => sender?.outage() ?? null,
    socketStands: () => socket?.stands() ?? null,
    now: clock.now,
  })
  const slack = {
    token: config.slack.botToken,
    ...(config.slack.apiUrl ? { apiUrl: config.slack.apiUrl } : {}),
    logger: log,
  }
  const notifier = createSlackNotifier({ ...slack, now: clock.now })
  const transport = createTransport({ clock, retried: metrics.countCiRetry })
  const { operators, admins } = config
  const tellAdmins = createAlarm({ ...slack, clock, admins, log })
  const { v2, legacy, siteUrl } = config.ci
  const connections = createConnections({ v2: v2 !== null, legacy: legacy !== null, site: siteUrl !== null }, clock.now)
  const { badges, ...clients } = createClients(config.ci, transport, tellAdmins, connections.note, metrics.countCiCall)
  const interfaces = { v2: clients.v2 !== null, legacy: clients.legacy !== null }
  const rules = createProjectRules({ store, clock, log, ...clients })
  const agreed = { clock, agree: () => clock.agree(store.time) }
  const monotonic = performance.now.bind(performance)
  const onTerm = (term: Term) => void (serving = serve(term))
  const lease = store.shared ? createLease({ store, ...agreed, log, monotonic, newId: randomUUID, onTerm }) : null
  let sender: Reconciler | null = null
  let serving: Promise<void> = Promise.resolve()
  const subscriptions = async () => [...config.subscriptions, ...(await store.read.subscriptions())]
  const stopping = new AbortController()
  let slackDoor: Promise<SlackDoor> | null = null
  let expected: Promise<unknown> | null = null
  const reconciling = {
    store,
    notifier,
    clock,
    log,
    random: Math.random,
    newKey: randomUUID,
    subscriptions,
    rulesOf: rules.rulesOf,
    interfaces,
    isPressed: () => atTheDoor() >= INTAKE_YIELDS_AT,
    count(what: Counted) {
      metrics.count(what)
      if (what.what === 'call' && what.outcome === 'sent') expectClicks()
    },
  }
  // A hint for the process that sends, and for Home. The sweeps find what is missed.
  const wake = () => {
    if (sender) sender.wake()
    else store.news?.announce()
    void atSlackDoor((door) => door.somethingChanged())
  }
  const directory = createDirectory({ ...slack, clock, grants: { operators, admins } })
  const following = {
    store,
    clock,
    log,
    permits: directory.permits,
    subscriptions,
    rulesOf: rules.rulesOf,
    say: createSay(slack),
    admins,
  }
  const acting = {
    ...following,
    wake,
    newId: randomUUID,
    processId,
    interfaces,
    ...clients,
    ci: clients.v2,
    // The same for every process and after a restart, and known to nobody who sees a digest.
    digestKey: config.slack.botToken,
  }
  const doctor = doctorDeps(config, { webhookSecrets, clock, log, store, subscriptions, badges, ...clients })
  const operations = createOperations({
    ...acting,
    presenceOf: directory.presenceOf,
    refresh: rules.refresh,
    badges,
    draw: svgToPng,
    ...createMemberships({ ...slack, clock, log }),
    connections,
    doctor,
  })
  const unanswered = createUnanswered({
    store,
    clock,
    log,
    newId: randomUUID,
    processId,
    seal: createSeal(config.slack.botToken),
    tell: createTeller({ ...slack, clock }),
  })
  const gate = createGate({
    signingSecret: config.slack.signingSecret ?? '',
    log,
    now: systemClock.now,
    measures,
  })
  // Bolt is large: it is loaded for Socket Mode once the webhook door is open, else when a card stands that can be pressed,
  // at the latest for the first request from Slack.
  const openSlackDoor = () =>
    (slackDoor ??= import('./slack-app.ts').then(({ createSlackDoor }) => {
      log.debug({ part: 'slack' }, 'what answers people is loaded')
      return createSlackDoor({
        config: config.slack,
        operations,
        unanswered,
        socketWatch,
        clock,
        random: Math.random,
        newKey: randomUUID,
        log,
      })
    }))
  const slackDoorFailed = (error: unknown) =>
    log.error({ err: error }, "Slack's door could not be opened; alerts go on without it")
  // That it could not be opened was said to whoever asked for it, or to the log.
  const atSlackDoor = async (use: (door: SlackDoor) => unknown) => {
    const door = await slackDoor?.catch(() => null)
    if (door) await use(door)
  }
  // Who presses first shall wait no longer than who presses next; what is being posted just now goes first.
  const expectClicks = () =>
    void (expected ??= clock
      .sleep(CLICKS_AFTER_MS, stopping.signal)
      .then(() => (stopping.signal.aborted ? null : openSlackDoor()))
      .catch(slackDoorFailed))
  const readyz = createReadiness({
    store: { ping: createStoreTrial({ store, clock }) },
    notifier,
    clock,
    outage: () => sender?.outage() ?? null,
    socket,
    oldestWaiting: () => oldestWaiting(store),
  })
  let running: Promise<void> = Promise.resolve()

  /** What nobody who knocks has to wait for. */
  async function settleIn(): Promise<void> {
    const configured = { ...doctor, subscriptions: async () => config.subscriptions }
    void checkAtStart({ doctor: configured, clock, log, logThrottle, stopping: stopping.signal }).catch(
      (error: unknown) => log.warn({ err: error }, 'Slack could not be asked at the start; /ci doctor asks the same'),
    )
    if (!(await openStore())) return
    unanswered.start()
    void rules
      .refresh()
      .catch((error: unknown) => log.warn({ err: error }, 'the projects could not be read at the start'))
    if (config.slack.appToken === null) return
    // Not waited for: Slack may be away, and a stop must not wait for it.
    void openSlackDoor()
      .then((door) => door.start())
      .catch(slackDoorFailed)
  }

  /** Ingests, sends and runs the jobs until the term is over or the process stops. */
  async function serve(term: Term): Promise<void> {
    const over = AbortSignal.any([term.over, stopping.signal])
    const reconciler = createReconciler({ ...reconciling, term })
    while (!over.aborted) {
      try {
        await reconciler.start()
        break
      } catch (error) {
        if (!store.shared) throw error
        log.warn({ err: error }, 'sending could not begin; it is tried again')
        await clock.sleep(STORE_AGAIN_MS, over)
      }
    }
    sender = reconciler
    const stopListening = store.news?.listen(reconciler.wake)
    const { presenceOf } = directory
    const { retentionDays } = config
    const isPressed = () => atTheDoor() >= UPKEEP_YIELDS_AT
    const upkeep = { acting, following, rules, unanswered, presenceOf, metrics, retentionDays, isPressed }
    const count: ScheduleDeps['count'] = (job, end) => metrics.countJob(job, end, clock.now())
    const jobs = scheduleJobs(upkeepJobs(upkeep), { store, clock, log, count })
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }))
    if (sender === reconciler) sender = null
    await Promise.all([reconciler.stop(), jobs.stop(), stopListening?.()])
  }

  async function openStore(): Promise<boolean> {
    while (!stopping.signal.aborted) {
      try {
        // A file of our own was brought up to date before the doors opened.
        if (store.shared) await store.migrate()
        steady?.notBefore((await store.read.lastDoneAt(OFTEN_DONE_JOB)) ?? 0)
        if (lease) await lease.start()
        else onTerm(soleTerm(processId))
        return true
      } catch (error) {
        // A file of our own will not mend itself; a database server may still be starting.
        if (!store.shared) throw error
        log.error({ err: error }, 'the database cannot be reached; deliveries are answered with 503 until it can')
        await clock.sleep(STORE_AGAIN_MS, stopping.signal)
      }
    }
    return false
  }

  return {
    metrics,
    // It counts what waits in the database: however many ask at once, that is done for all of them.
    metricsText: singleFlight(metrics.text),
    readyz,
    async fromSlack(request, response) {
      if (await gate(request, response)) (await openSlackDoor()).handle?.(request, response)
    },
    isDrowsy: () => lease?.isDrowsy() ?? false,
    wake,
    start: () => (running = settleIn()),
    async stop(graceMs) {
      stopping.abort()
      await running.catch(() => {})
      const grace = clock.sleep(graceMs)
      await Promise.all([
        Promise.race([serving.catch(() => {}), grace]),
        Promise.race([atSlackDoor((door) => door.stop()), grace]),
        Promise.race([unanswered.stop(), grace]),
      ])
      await Promise.race([lease?.stop(), grace])
      await transport.close()
    },
  }
}
