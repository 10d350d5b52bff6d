import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from './config/config.ts'
import type { SourceName } from './domain/ids.ts'
import { toStatus } from './domain/builds/status.ts'
import { createEngine } from './runtime/engine.ts'
import { sendJson, sendText, isClientGone } from './http/answer.ts'
import { createBodyQueues } from './http/body-queue.ts'
import { createHttpServer, type Route } from './http/http-server.ts'
import { createSyncedClock, machineClocks, systemClock, createRunningTime, createSteadyTime } from './lib/clock.ts'
import { withTimeout } from './lib/async.ts'
import { measuredStore, openStore } from './store/open.ts'
import {
  createAcknowledged,
  createThrottle,
  createWebhookRoute,
  type Stored,
  type WebhookDeps,
} from './sources/webhook-route.ts'
import { recordDelivery } from './alerts/record/record.ts'
import { recordReport } from './alerts/record/record-report.ts'
import { createCiServiceEndpoint } from './sources/ci-service/endpoint.ts'
import { createGithubEndpoint } from './sources/github/endpoint.ts'
import { createGitlabEndpoint } from './sources/gitlab/endpoint.ts'
import { createJobReportEndpoint, createReportEndpoint } from './sources/report.ts'
import { createSecretCheck, type Endpoint, type ReadDelivery, type ReadReport } from './sources/endpoint.ts'

/** Requests and calls have this long to end after a stop; the rest is resumed at the next start. */
const STOP_GRACE_MS = 10_000

/** A delivery that the database has not stored within this time is refused. */
const STORE_PATIENCE_MS = 8_000

/** The port opens when the tables exist, or after this time if the database server is down: then the answer is 503. */
const TABLES_MAX_MS = 5_000

/**
 * Opens the store and builds the webhook endpoints; `runtime/engine` builds everything behind them. Only these two choose
 * implementations.
 */
export async function createApp(config: Config, log: Logger) {
  // Processes that share a database use its clock. A single one uses the machine's, which somebody may set back.
  const steady = config.database.kind === 'sqlite' ? createSteadyTime(machineClocks) : null
  const clock = createSyncedClock({ ...systemClock, now: steady?.now ?? createRunningTime(machineClocks) })
  const processId = randomUUID()
  let failedWrites = 0
  const lost = (error: unknown) => log.warn({ err: error }, 'a database connection was lost')
  const store = measuredStore(await openStore(config.database, lost), {
    timeStore: (operation, ms) => engine.metrics.timeStore(operation, ms),
    countStoreFailure(operation) {
      if (operation === 'write') failedWrites += 1
      engine.metrics.countStoreFailure(operation)
    },
  })
  if (config.database.kind === 'sqlite') warnOfOpenFiles(config.database.path, log)
  let waitingDeliveries = 0
  const bodies = createBodyQueues({ clock, running: machineClocks.running })
  const engine = createEngine({
    config,
    log,
    clock,
    steady,
    store,
    processId,
    unproven: bodies.unproven,
    failedWrites: () => failedWrites,
    waitingDeliveries: () => waitingDeliveries,
  })
  const { metrics } = engine
  const isReadable = (source: SourceName) =>
    source === 'github' ? Boolean(config.github.token ?? config.github.app) : config.gitlab.token !== null
  const recording = { store, clock, isReadable }
  const acknowledged = createAcknowledged({ store, clock })
  async function record(read: ReadDelivery | ReadReport): Promise<Stored> {
    if (read.kind === 'report') return recordReport(recording, read)
    const { event } = read
    if (toStatus(event.rawStatus) === 'unknown') metrics.countUnknown()
    const { answer, eventSeq, revisionKey } = await recordDelivery(recording, read)
    const of = { buildEvent: eventSeq, revision: revisionKey }
    return {
      answer,
      eventSeq,
      fields: { ...of, project: event.projectId, build: event.buildId, status: event.rawStatus },
    }
  }
  const webhooks: WebhookDeps = {
    record(read) {
      waitingDeliveries++
      return withTimeout(clock, STORE_PATIENCE_MS, record(read)).finally(() => waitingDeliveries--)
    },
    acknowledged: acknowledged.add,
    log,
    throttle: createThrottle(clock.now),
    bodies,
    count: metrics.countDelivery,
  }
  const wasHandledElsewhere = async (request: IncomingMessage) =>
    engine.wasJustPaused() && (await isClientGone(request, clock))
  function routeOf(endpoint: Endpoint): Route {
    const handle = createWebhookRoute(endpoint, webhooks)
    return {
      matches: endpoint.matches,
      async handle(request, response, target) {
        if (!(await wasHandledElsewhere(request))) await handle(request, response, target)
      },
    }
  }
  function webhookRoutes(): Route[] {
    const isValid = createSecretCheck(config.webhookSecrets)
    const endpoints = [createCiServiceEndpoint(isValid), createReportEndpoint(isValid)]
    const [ofGithub, ofGitlab] = [config.github.webhookSecrets, config.gitlab.webhookSecrets]
    if (ofGithub.length > 0) endpoints.push(createGithubEndpoint(ofGithub), createJobReportEndpoint('github', ofGithub))
    if (ofGitlab.length > 0)
      endpoints.push(createGitlabEndpoint(ofGitlab, clock.now), createJobReportEndpoint('gitlab', ofGitlab))
    return endpoints.map(routeOf)
  }
  const others: Route[] = [
    {
      matches: (path) => path === '/slack/events' && config.slack.appToken === null,
      async handle(request, response) {
        if (await wasHandledElsewhere(request)) return
        if (request.method === 'POST') return engine.fromSlack(request, response)
        sendJson(response, 405, { status: 'refused', reason: 'only POST is supported' }, { allow: 'POST' })
      },
    },
    healthz,
  ]
  // For the operator's network only: these routes show what is wrong, and each answer is expensive.
  const inside: Route[] = [
    { matches: (path) => path === '/readyz', handle: (_, response) => engine.readyz(response) },
    {
      matches: (path) => path === '/metrics',
      async handle(_, response) {
        sendText(response, 200, await engine.metricsText(), { 'content-type': metrics.registry.contentType })
      },
    },
  ]
  const hasOwnPort = config.metricsPort !== null
  const server = createHttpServer([...webhookRoutes(), ...others, ...(hasOwnPort ? [] : inside)], log)
  const metricsServer = hasOwnPort ? createHttpServer([healthz, ...inside], log) : null

  return {
    /** Resolves with the ports when they are open; `metricsPort` is null if metrics have no port of their own. */
    async start(): Promise<{ port: number; metricsPort: number | null }> {
      if (store.shared) await Promise.race([store.migrate().catch(() => {}), clock.sleep(TABLES_MAX_MS)])
      else await store.migrate()
      // Before anything is sent, so that a second bot on the same port ends here.
      const port = await server.listen(config.port, config.host)
      const metricsPort = (await metricsServer?.listen(config.metricsPort ?? 0, config.host)) ?? null
      // A failure ends the process: nothing would ever be sent.
      void engine.start()
      log.info({ port, ...(metricsPort === null ? {} : { metricsPort }), process: processId }, 'buildline is up')
      return { port, metricsPort }
    },
    async stop(): Promise<void> {
      await Promise.all([server.close(STOP_GRACE_MS), metricsServer?.close(0), engine.stop(STOP_GRACE_MS)])
      await acknowledged.end()
      await store.close()
      log.info({}, 'buildline is down')
    },
  }
}

const healthz: Route = {
  matches: (path) => path === '/healthz',
  handle: (_, response) => sendJson(response, 200, { status: 'up' }),
}

/** An older version, or a copy by hand, may have left the database open to every user of the machine. */
function warnOfOpenFiles(path: string, log: Logger): void {
  const files = ['', '-wal', '-shm'].map((end) => `${path}${end}`).filter((file) => existsSync(file))
  const open = files.filter((file) => (statSync(file).mode & 0o077) !== 0)
  if (open.length > 0)
    log.warn(
      { files: open },
      `other users can read the database: run chmod 600 ${open.map((file) => `'${file}'`).join(' ')}`,
    )
}
