import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { OldestWaiting } from './store/backlog.ts'
import type { CiErrorKind } from './sources/http/errors.ts'
import type { CiCallEnd } from './sources/http/transport.ts'
import type { WebhookKind } from './sources/webhook-route.ts'
import type { JobEnd } from './jobs/schedule.ts'
import type { SilentEnd } from './jobs/refresh-silent.ts'
import type { Counted } from './alerts/deps.ts'

/** What is read when the metrics are requested. */
export interface Looked {
  /** how much waits, by queue */
  backlog: () => Promise<Record<string, number>>
  /** since when the oldest entry of each queue has waited (ms); null: the queue is empty */
  oldestWaiting: () => Promise<OldestWaiting>
  /** why nothing is sent to Slack; null: it is reachable */
  outage: () => string | null
  /** whether a Socket Mode connection stands; null: Slack reaches us over HTTP */
  socketStands: () => boolean | null
  now: () => number
}

/** Who is called: an interface of the CI service, its token server (`sign-in`), or another source. */
export type CiInterface = 'v2' | 'legacy' | 'site' | 'sign-in' | 'github' | 'gitlab'

export type Metrics = ReturnType<typeof createMetrics>

/** The metrics by their stable names, as docs/operations/metrics.md has them; no label ever holds outside text. */
export function createMetrics(looked: Looked) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const endpoints = endpointMetrics(registry)
  const slack = slackMetrics(registry)
  const ci = ciMetrics(registry)
  const store = storeMetrics(registry)
  const upkeep = upkeepMetrics(registry)
  const waiting = waitingMetrics(registry, looked)
  return {
    ...endpoints,
    ...ci,
    ...store,
    ...upkeep,
    count: slack.count,
    contentType: registry.contentType,
    /** our own metrics, without the process's */
    described: () =>
      registry
        .getMetricsAsArray()
        .filter(({ name }) => name.startsWith('buildline_'))
        .map(described),
    async text(): Promise<string> {
      await waiting.look()
      return registry.metrics()
    },
  }
}

/** A metric as docs/operations/metrics.md lists it. */
interface Described {
  name: string
  type: string
  labels: readonly string[]
  help: string
}

// prom-client's types leave out the labels, which each metric has.
const described = (metric: { name: string; help: string }): Described => ({
  name: metric.name,
  type: metric.constructor.name.toLowerCase(),
  labels: 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [],
  help: metric.help,
})

function endpointMetrics(registry: Registry) {
  const registers = [registry]
  const deliveries = new Counter({
    name: 'buildline_deliveries_total',
    help: 'Requests to the webhook endpoints, by HTTP status, answer and what was sent (delivery, report)',
    labelNames: ['status', 'answer', 'what'],
    registers,
  })
  const seconds = new Histogram({
    name: 'buildline_delivery_seconds',
    help: 'From the beginning of a request to a webhook endpoint to its answer, by what was sent',
    labelNames: ['what'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  })
  const unknown = new Counter({
    name: 'buildline_unknown_statuses_total',
    help: 'Deliveries with a status word that the interface does not name',
    registers,
  })
  return {
    countDelivery(what: WebhookKind, { status, answer, ms }: { status: number; answer: string; ms: number }): void {
      deliveries.inc({ status: String(status), answer, what })
      seconds.observe({ what }, ms / MS_PER_S)
    },
    countUnknown: () => unknown.inc(),
  }
}

function slackMetrics(registry: Registry) {
  const registers = [registry]
  const decisions = new Counter({
    name: 'buildline_decisions_total',
    help: 'Decisions for a build event and a channel, by reason',
    labelNames: ['reason'],
    registers,
  })
  const calls = new Counter({
    name: 'buildline_slack_calls_total',
    help: 'Calls to Slack that keep cards and threads, by queue (post, edit, look) and outcome',
    labelNames: ['queue', 'outcome'],
    registers,
  })
  const retries = new Counter({
    name: 'buildline_slack_retries_total',
    help: 'Calls to Slack that did not succeed and are made again, by queue',
    labelNames: ['queue'],
    registers,
  })
  const looks = new Counter({
    name: 'buildline_claims_looked_up_total',
    help: 'Claims of unclear end that were looked up, by whether the message was there',
    labelNames: ['found'],
    registers,
  })
  const lag = new Histogram({
    name: 'buildline_lag_seconds',
    help: 'From the newest event of a build to the message that tells it, by priority (0: failures)',
    labelNames: ['priority'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    registers,
  })
  return {
    count(what: Counted): void {
      switch (what.what) {
        case 'decision':
          return decisions.inc({ reason: what.reason })
        case 'call':
          if (!ENDED.has(what.outcome)) retries.inc({ queue: what.queue })
          return calls.inc({ queue: what.queue, outcome: what.outcome })
        case 'look':
          return looks.inc({ found: String(what.found) })
        case 'lag':
          return lag.observe({ priority: String(what.priority) }, what.ms / MS_PER_S)
      }
    },
  }
}

/** Outcomes after which the same call is not made again by itself. */
const ENDED = new Set(['sent', 'found', 'channel-closed', 'workspace-closed'])

function ciMetrics(registry: Registry) {
  const registers = [registry]
  const calls = new Counter({
    name: 'buildline_ci_calls_total',
    help: 'Calls to CI, GitHub and GitLab, retries not counted, by interface (v2, legacy, site, sign-in, github, gitlab) and outcome (ok, or why not)',
    labelNames: ['interface', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'buildline_ci_call_seconds',
    help: 'What they took, with all their tries, by interface',
    labelNames: ['interface'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const retries = new Counter({
    name: 'buildline_ci_retries_total',
    help: 'Questions to CI that were asked again, by why',
    labelNames: ['why'],
    registers,
  })
  const silent = new Counter({
    name: 'buildline_silent_builds_total',
    help: 'Builds that CI was asked about because they had been silent for long, by what came of it',
    labelNames: ['end'],
    registers,
  })
  return {
    countCiCall(name: CiInterface, outcome: CiCallEnd, ms: number): void {
      calls.inc({ interface: name, outcome })
      seconds.observe({ interface: name }, ms / MS_PER_S)
    },
    countCiRetry: (why: CiErrorKind) => retries.inc({ why }),
    countSilent: (end: SilentEnd) => silent.inc({ end }),
  }
}

function storeMetrics(registry: Registry) {
  const registers = [registry]
  const seconds = new Histogram({
    name: 'buildline_store_seconds',
    help: 'What the database took, by operation (read; write: until it is durable)',
    labelNames: ['operation'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  })
  const failures = new Counter({
    name: 'buildline_store_failures_total',
    help: 'Operations that the database did not carry out, by operation',
    labelNames: ['operation'],
    registers,
  })
  return {
    timeStore: (operation: 'read' | 'write', ms: number) => seconds.observe({ operation }, ms / MS_PER_S),
    countStoreFailure: (operation: 'read' | 'write') => failures.inc({ operation }),
  }
}

function upkeepMetrics(registry: Registry) {
  const registers = [registry]
  const jobs = new Counter({
    name: 'buildline_jobs_total',
    help: 'Scheduled jobs that this process was at, by job and end (done, again, failed)',
    labelNames: ['job', 'end'],
    registers,
  })
  const doneAt = new Gauge({
    name: 'buildline_job_done_timestamp_seconds',
    help: 'When this process last did a scheduled job',
    labelNames: ['job'],
    registers,
  })
  const removed = new Counter({
    name: 'buildline_pruned_rows_total',
    help: 'Rows that were removed because they were older than RETENTION_DAYS',
    registers,
  })
  return {
    countJob(job: string, end: JobEnd, endedAt: number): void {
      jobs.inc({ job, end })
      if (end === 'done') doneAt.set({ job }, endedAt / MS_PER_S)
    },
    countPruned: (rows: number) => removed.inc(rows),
  }
}

function waitingMetrics(registry: Registry, { backlog, oldestWaiting, outage, socketStands, now }: Looked) {
  const registers = [registry]
  const waiting = new Gauge({
    name: 'buildline_backlog',
    help: 'What waits: revisions to ingest, cards to post, edit and look up',
    labelNames: ['queue'],
    registers,
  })
  const oldest = new Gauge({
    name: 'buildline_backlog_oldest_seconds',
    help: 'For how long the oldest of it has been due; closed channels do not count',
    labelNames: ['queue'],
    registers,
  })
  const reachable = new Gauge({
    name: 'buildline_slack_reachable',
    help: '1 while messages can be sent to Slack, 0 while nothing is sent because it is away or refuses us',
    registers,
  })
  const socket = new Gauge({
    name: 'buildline_slack_socket_open',
    help: '1 while a Socket Mode connection stands, 0 while none does and Slack can deliver nothing; absent over HTTP',
    registers,
  })
  return {
    /** Reads what waits. If the database is away, the last figures stay. */
    async look(): Promise<void> {
      reachable.set(outage() === null ? 1 : 0)
      const stands = socketStands()
      if (stands === null) socket.remove()
      else socket.set(stands ? 1 : 0)
      for (const [queue, size] of Object.entries(await backlog().catch(() => ({})))) waiting.set({ queue }, size)
      for (const [queue, since] of Object.entries(await oldestWaiting().catch(() => ({}))))
        oldest.set({ queue }, since === null ? 0 : Math.max(0, now() - since) / MS_PER_S)
    },
  }
}

const MS_PER_S = 1_000
