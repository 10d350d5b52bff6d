import { randomUUID } from 'node:crypto'
import { clientCredentialsAuth, staticAuth, type Auth } from './ci/auth.ts'
import { createClientLegacy } from './ci/client-legacy.ts'
import { createClientV2 } from './ci/client-v2.ts'
import { createTransport, type Transport } from './ci/transport.ts'
import type { CiAuth, Config } from './config.ts'
import { createHttpServer, type Route } from './http-server.ts'
import { createReadiness } from './readiness.ts'
import { scheduleJobs } from './jobs/schedule.ts'
import { systemClock } from './lib/clock.ts'
import type { Logger } from 'pino'
import { createMetrics } from './metrics.ts'
import { createSlackNotifier } from './notify/slack/notifier.ts'
import { createProjectRules } from './operations/project-rules.ts'
import { recordDelivery } from './operations/record-delivery.ts'
import { createReconciler } from './reconcile/reconciler.ts'
import { createSlackDoor } from './slack-door.ts'
import { openPostgres } from './store/postgres.ts'
import { openSqlite } from './store/sqlite.ts'
import type { Store } from './store/store.ts'
import { createWebhookRoute, isWebhook } from './webhook/route.ts'

/** In-flight requests and calls have so long to end after a stop; what has not is found again at the next start. */
const STOP_GRACE_MS = 10_000

/** Projects and their rules are read again so often. */
const REFRESH_EVERY_MS = 5 * 60_000

/** A database that is not there yet is asked for again so often. */
const STORE_AGAIN_MS = 1_000

export interface BuildlineApp {
  /** Resolves with the port when the doors are open. */
  start(): Promise<{ port: number }>
  stop(): Promise<void>
}

/** Builds every part and wires them: the one place that chooses implementations. */
export function createApp(config: Config, log: Logger): BuildlineApp {
  const clock = systemClock
  const store = openStore(config.database, log)
  const metrics = createMetrics(() => store.read.backlog())
  const notifier = createSlackNotifier({
    token: config.slack.botToken,
    ...(config.slack.apiUrl ? { apiUrl: config.slack.apiUrl } : {}),
    logger: log,
  })
  const transport = createTransport({ clock })
  const rules = createProjectRules({ store, clock, log, ...createClients(config.ci, transport) })
  const reconciler = createReconciler({
    store,
    notifier,
    clock,
    log,
    random: Math.random,
    newKey: randomUUID,
    processId: randomUUID(),
    subscriptions: async () => [...config.subscriptions, ...(await store.read.subscriptions())],
    rulesOf: rules.rulesOf,
    count: metrics.count,
  })
  const slackDoor = createSlackDoor(config.slack, log)
  const webhook = createWebhookRoute({
    secrets: config.webhookSecrets,
    record: (delivery) => recordDelivery({ store, clock, wake: reconciler.wake }, delivery),
    log,
    now: clock.now,
    count: metrics.countDelivery,
  })
  const readiness = createReadiness({ store, notifier, clock, outage: reconciler.outage })
  const routes: Route[] = [
    { matches: isWebhook, handle: webhook },
    {
      matches: (path) => path === '/slack/events' && slackDoor.handle !== null,
      handle: (request, response) => slackDoor.handle?.(request, response),
    },
    { matches: (path) => path === '/healthz', handle: readiness.healthz },
    { matches: (path) => path === '/readyz', handle: readiness.readyz },
    {
      matches: (path) => path === '/metrics',
      handle: async (_, response) =>
        void response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text()),
    },
  ]
  const server = createHttpServer(routes, log)
  const stopping = new AbortController()
  let jobs: ReturnType<typeof scheduleJobs> | null = null
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    if (!(await openStoreAndReconcile())) return
    const refresh = { name: 'refresh-projects', everyMs: REFRESH_EVERY_MS, run: rules.refresh }
    jobs = scheduleJobs([refresh], { store, clock, log })
    void rules
      .refresh()
      .catch((error: unknown) => log.warn({ err: error }, 'the projects could not be read at the start'))
    await slackDoor
      .start()
      .catch((error: unknown) => log.error({ err: error }, 'Socket Mode could not be started; alerts go on without it'))
  }

  async function openStoreAndReconcile(): Promise<boolean> {
    while (!stopping.signal.aborted) {
      try {
        await store.migrate()
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
      if (!store.shared) await run()
      const port = await server.listen(config.port)
      if (store.shared) running = run()
      log.info({ port, subscriptions: config.subscriptions.length }, 'buildline is up')
      return { port }
    },
    async stop() {
      stopping.abort()
      await running
      const grace = clock.sleep(STOP_GRACE_MS)
      await Promise.all([
        server.close(STOP_GRACE_MS),
        Promise.race([reconciler.stop(), grace]),
        slackDoor.stop(),
        jobs?.stop(),
      ])
      await Promise.all([store.close(), transport.close()])
      log.info({}, 'buildline is down')
    },
  }
}

const openStore = (database: Config['database'], log: Logger): Store =>
  database.kind === 'sqlite'
    ? openSqlite(database.path)
    : openPostgres(database.url, (error) => log.warn({ err: error }, 'a database connection was lost'))

const createClients = ({ v2, legacy }: Config['ci'], transport: Transport) => ({
  v2: v2 && createClientV2({ ...v2, auth: createAuth(v2.auth, transport), transport }),
  legacy: legacy && createClientLegacy({ ...legacy, transport }),
})

const createAuth = (auth: CiAuth, transport: Transport): Auth =>
  auth.kind === 'static'
    ? staticAuth(auth.authorization)
    : clientCredentialsAuth({ ...auth, transport, clock: systemClock })
