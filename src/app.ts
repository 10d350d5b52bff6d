import { randomUUID } from 'node:crypto'
import { oldestWaiting } from './backlog.ts'
import { createTransport } from './ci/transport.ts'
import { createClients } from './ci-clients.ts'
import type { Config } from './config.ts'
import { toStatus } from './domain/status.ts'
import { doctorDeps } from './doctor-deps.ts'
import { createHttpServer, sendJson, type Route } from './http-server.ts'
import { hasHungUp } from './hung-up.ts'
import { createReadiness } from './readiness.ts'
import { scheduleJobs } from './jobs/schedule.ts'
import { createAgreedClock } from './lib/agreed-clock.ts'
import { machineClocks, systemClock } from './lib/clock.ts'
import { createRunningTime, createSteadyTime } from './lib/steady-time.ts'
import { shared } from './lib/shared.ts'
import { createGate } from './listeners/gate.ts'
import { inTime } from './lib/in-time.ts'
import type { Logger } from 'pino'
import { measuredStore } from './measured-store.ts'
import { createMetrics } from './metrics.ts'
import { svgToPng } from './notify/picture.ts'
import { createAlarm } from './notify/slack/alarm.ts'
import { createDirectory } from './notify/slack/directory.ts'
import { createMemberships } from './notify/slack/memberships.ts'
import { createSlackNotifier } from './notify/slack/notifier.ts'
import { createSay } from './notify/slack/say.ts'
import { createUnanswered } from './operations/unanswered.ts'
import { createTeller } from './tell-left.ts'
import { createConnections } from './operations/home/connections.ts'
import { createOperations } from './operations/operations.ts'
import { createProjectRules } from './operations/project-rules.ts'
import { recordDelivery } from './operations/record-delivery.ts'
import { createPresence } from './reconcile/presence.ts'
import { createReconciler } from './reconcile/reconciler.ts'
import type { SlackDoor } from './slack-door.ts'
import { openSqlite } from './store/sqlite.ts'
import type { Store } from './store/store.ts'
import { createStoreTrial } from './try-store.ts'
import { OFTEN_DONE_JOB, upkeepJobs } from './upkeep.ts'
import { createWebhookRoute, isWebhook } from './webhook/route.ts'

/** In-flight requests and calls have so long to end after a stop; what has not is found again at the next start. */
const STOP_GRACE_MS = 10_000

/** So many deliveries waiting at once are a press, in which taking in yields to the door. */
const PRESSED_AT = 16

/** Who delivers, or asks for figures, is answered after so long at most: what the database has not taken is refused. */
const STORE_PATIENCE_MS = 8_000
const FIGURES_PATIENCE_MS = 2_000

/** A database that is not there yet is asked for again so often. */
const STORE_AGAIN_MS = 1_000

export interface BuildlineApp {
  /** Resolves with the port when the doors are open. */
  start(): Promise<{ port: number }>
  stop(): Promise<void>
}

/** Builds every part and wires them: the one place that chooses implementations. */
export async function createApp(config: Config, log: Logger): Promise<BuildlineApp> {
  // Where several machines share a database they go by its clock; alone, by our own, which somebody may set back.
  const steady = config.database.kind === 'sqlite' ? createSteadyTime(machineClocks) : null
  const clock = createAgreedClock({ ...systemClock, now: steady?.now ?? createRunningTime(machineClocks) })
  const metrics = createMetrics({
    backlog: () => inTime(clock, FIGURES_PATIENCE_MS, store.read.backlog()),
    oldestWaiting: () => inTime(clock, FIGURES_PATIENCE_MS, oldestWaiting(store)),
    outage: () => reconciler.outage(),
    now: clock.now,
  })
  const store = measuredStore(await openStore(config.database, log), metrics)
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
  const processId = randomUUID()
  const agreed = { clock, agree: () => clock.agree(store.time) }
  const presence = store.shared
    ? createPresence({ store, ...agreed, log, monotonic: performance.now.bind(performance), processId })
    : null
  const subscriptions = async () => [...config.subscriptions, ...(await store.read.subscriptions())]
  let atTheDoor = 0
  const isPressed = () => atTheDoor >= PRESSED_AT
  let slackDoor: Promise<SlackDoor> | null = null
  const reconciler = createReconciler({
    store,
    notifier,
    clock,
    log,
    random: Math.random,
    newKey: randomUUID,
    processId,
    ...(presence ? { presence } : {}),
    subscriptions,
    rulesOf: rules.rulesOf,
    interfaces,
    isPressed,
    count: metrics.count,
  })
  // Told to everybody who could show it, and at once: what is missed is found by the sweeps.
  const wake = (lineageKey: string) => {
    reconciler.wake(lineageKey)
    void slackDoor?.then((door) => door.somethingChanged())
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
  const operations = createOperations({
    ...acting,
    presenceOf: directory.presenceOf,
    refresh: rules.refresh,
    badges,
    draw: svgToPng,
    channelsOf: createMemberships({ ...slack, clock, log }).channelsOf,
    connections,
    doctor: doctorDeps(config, { clock, log, store, subscriptions, badges, ...clients }),
  })
  const unanswered = createUnanswered({
    store,
    clock,
    log,
    newId: randomUUID,
    processId,
    tell: createTeller({ ...slack, clock }),
  })
  const gate = createGate({ signingSecret: config.slack.signingSecret ?? '', log, now: systemClock.now })
  // Bolt is large: it is loaded for Socket Mode once the webhook door is open, else for the first request from Slack.
  const openSlackDoor = () =>
    (slackDoor ??= import('./slack-door.ts').then(({ createSlackDoor }) =>
      createSlackDoor({
        config: config.slack,
        operations,
        unanswered,
        clock,
        random: Math.random,
        newKey: randomUUID,
        log,
      }),
    ))
  const webhook = createWebhookRoute({
    secrets: config.webhookSecrets,
    record(delivery) {
      if (toStatus(delivery.seen.word) === 'unknown') metrics.countUnknown()
      return inTime(clock, STORE_PATIENCE_MS, recordDelivery({ store, clock, wake }, delivery))
    },
    log,
    now: clock.now,
    count: metrics.countDelivery,
  })
  const readiness = createReadiness({
    store: { ping: createStoreTrial({ store, clock }) },
    notifier,
    clock,
    outage: reconciler.outage,
    oldestWaiting: () => oldestWaiting(store),
  })
  // It counts what waits in the database: however many ask at once, that is done for all of them.
  const metricsText = shared(metrics.text)
  const routes: Route[] = [
    {
      matches: isWebhook,
      async handle(request, response, url) {
        if (presence?.isDrowsy() && (await hasHungUp(request, clock))) return
        const beganAt = performance.now()
        atTheDoor++
        await webhook(request, response, url).finally(() => atTheDoor--)
        metrics.timeDelivery(performance.now() - beganAt)
      },
    },
    {
      matches: (path) => path === '/slack/events' && config.slack.appToken === null,
      async handle(request, response) {
        if (presence?.isDrowsy() && (await hasHungUp(request, clock))) return
        if (request.method === 'POST') {
          if (await gate(request, response)) (await openSlackDoor()).handle?.(request, response)
          return
        }
        response.setHeader('allow', 'POST')
        sendJson(response, 405, { status: 'refused', reason: 'only POST is answered here' })
      },
    },
    { matches: (path) => path === '/healthz', handle: readiness.healthz },
    { matches: (path) => path === '/readyz', handle: readiness.readyz },
    {
      matches: (path) => path === '/metrics',
      handle: async (_, response) =>
        void response.writeHead(200, { 'content-type': metrics.contentType }).end(await metricsText()),
    },
  ]
  const server = createHttpServer(routes, log)
  const stopping = new AbortController()
  let jobs: ReturnType<typeof scheduleJobs> | null = null
  let running: Promise<void> = Promise.resolve()

  /** What nobody who knocks has to wait for. */
  async function settleIn(): Promise<void> {
    if (!(await openStoreAndReconcile())) return
    const { presenceOf } = directory
    const { retentionDays } = config
    const upkeep = { acting, following, rules, unanswered, presenceOf, metrics, retentionDays, isPressed }
    jobs = scheduleJobs(upkeepJobs(upkeep), {
      store,
      clock,
      log,
      processId,
      ...(presence ? { lost: presence.lost } : {}),
      count: (job, end) => metrics.countJob(job, end, clock.now()),
    })
    // At once: whoever asked before the restart is waiting.
    void unanswered
      .answerLeft()
      .catch((error: unknown) => log.warn({ err: error }, 'who was left without an answer is told later'))
    void rules
      .refresh()
      .catch((error: unknown) => log.warn({ err: error }, 'the projects could not be read at the start'))
    if (config.slack.appToken === null) return
    // Not waited for: Slack may be away, and a stop must not wait for it.
    void openSlackDoor()
      .then((door) => door.start())
      .catch((error: unknown) => log.error({ err: error }, "Slack's door could not be opened; alerts go on without it"))
  }

  async function openStoreAndReconcile(): Promise<boolean> {
    while (!stopping.signal.aborted) {
      try {
        // A file of our own was brought up to date before the doors opened.
        if (store.shared) await store.migrate()
        await presence?.start()
        steady?.notBefore((await store.read.lastDoneAt(OFTEN_DONE_JOB)) ?? 0)
        await reconciler.start()
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
    async start() {
      // A database server may be away: then the doors answer 503 until it is there.
      if (!store.shared) await store.migrate()
      // Before anything is told: a second bot on the same file ends here, and takes nothing of the first one's up.
      const port = await server.listen(config.port)
      running = settleIn()
      log.info({ port, process: processId, subscriptions: config.subscriptions.length }, 'buildline is up')
      return { port }
    },
    async stop() {
      stopping.abort()
      const closed = server.close(STOP_GRACE_MS)
      await running.catch(() => {})
      const grace = clock.sleep(STOP_GRACE_MS)
      await Promise.all([
        closed,
        Promise.race([reconciler.stop(), grace]),
        Promise.race([slackDoor?.then((door) => door.stop()), grace]),
        Promise.race([jobs?.stop(), grace]),
      ])
      await Promise.race([presence?.stop(), grace])
      await Promise.all([store.close(), transport.close()])
      log.info({}, 'buildline is down')
    },
  }
}

async function openStore(database: Config['database'], log: Logger): Promise<Store> {
  if (database.kind === 'sqlite') return openSqlite(database.path)
  const { openPostgres } = await import('./store/postgres.ts')
  return openPostgres(database.url, (error) => log.warn({ err: error }, 'a database connection was lost'))
}
