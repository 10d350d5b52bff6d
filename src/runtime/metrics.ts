import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { OldestWaiting } from '../store/health.ts'
import type { CiErrorKind } from '../sources/http/errors.ts'
import type { CiCallEnd } from '../sources/http/transport.ts'
import type { WebhookKind } from '../sources/endpoint.ts'
import type { JobEnd } from './schedule.ts'
import type { SilentEnd } from '../ci-sync/refresh-silent.ts'
import type { Counted } from '../alerts/deps.ts'

export interface MetricReads {
  /** how much waits, by queue */
  backlog: () => Promise<Record<string, number>>
  /** since when the oldest entry of each queue has waited (ms); null: the queue is empty */
  oldestWaiting: () => Promise<OldestWaiting>
  /** why nothing is sent to Slack; null: it is reachable */
  outage: () => string | null
  /** whether a Socket Mode connection is open; null: Slack reaches us over HTTP */
  isSocketOpen: () => boolean | null
  now: () => number
}

/** Who is called: an interface of the CI service, its token server (`sign-in`), or another source. */
type CiInterface = 'v2' | 'legacy' | 'site' | 'sign-in' | 'github' | 'gitlab'

export type Metrics = ReturnType<typeof createMetrics>

/** How often the lag of the event loop is measured. By prom-client's default, 100 times a second, it would cost an idle bot most of its time. */
const LAG_PRECISION_MS = 250

/** The metrics by their stable names, as docs/operations/metrics.md has them; labels never hold outside text. */
export function createMetrics({ backlog, oldestWaiting, outage, isSocketOpen, now }: MetricReads) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS })
  const counter = <Label extends string>(name: string, labelNames: Label[], help: string) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = <Label extends string>(name: string, labelNames: Label[], help: string) =>
    new Gauge({ name, help, labelNames, registers })
  /** @param buckets in seconds */
  const histogram = <Label extends string>(name: string, labelNames: Label[], buckets: number[], help: string) =>
    new Histogram({ name, help, labelNames, buckets, registers })

  const deliveries = counter(
    'buildline_deliveries_total',
    ['status', 'answer', 'what'],
    'Requests to the webhook endpoints, by HTTP status, answer and what was sent (delivery, report)',
  )
  const deliverySeconds = histogram(
    'buildline_delivery_seconds',
    ['what'],
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    'Duration of requests to the webhook endpoints, by what was sent',
  )
  const unknownStatuses = counter('buildline_unknown_statuses_total', [], 'Deliveries with an unknown status word')
  const decisions = counter(
    'buildline_decisions_total',
    ['reason'],
    'Decisions for a build event and a channel, by reason',
  )
  const slackCalls = counter(
    'buildline_slack_calls_total',
    ['queue', 'outcome'],
    'Calls to Slack that keep cards and threads, by queue (post, edit, look) and outcome',
  )
  const lag = histogram(
    'buildline_lag_seconds',
    ['priority'],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    'Time from the newest event of a build to the message that shows it, by priority (0: failures)',
  )
  const ciCalls = counter(
    'buildline_ci_calls_total',
    ['interface', 'outcome'],
    'Calls to CI, GitHub and GitLab, retries not counted, by interface (v2, legacy, site, sign-in, github, gitlab) and outcome (ok, or why not)',
  )
  const ciSeconds = histogram(
    'buildline_ci_call_seconds',
    ['interface'],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    'Duration of calls to CI, GitHub and GitLab, retries included, by interface',
  )
  const ciRetries = counter('buildline_ci_retries_total', ['why'], 'Retried reads from CI, by reason')
  const silentBuilds = counter(
    'buildline_silent_builds_total',
    ['end'],
    'Long-silent builds that CI was asked about, by outcome',
  )
  const storeSeconds = histogram(
    'buildline_store_seconds',
    ['operation'],
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    'Duration of database operations, by operation (read; write: until it is durable)',
  )
  const storeFailures = counter(
    'buildline_store_failures_total',
    ['operation'],
    'Database operations that failed, by operation',
  )
  const jobs = counter(
    'buildline_jobs_total',
    ['job', 'end'],
    'Runs of scheduled jobs in this process, by job and end (done, again, failed)',
  )
  const jobDoneAt = gauge('buildline_job_done_timestamp_seconds', ['job'], 'When this process last did a scheduled job')
  const waiting = gauge(
    'buildline_backlog',
    ['queue'],
    'What waits, by queue: build events and revisions to ingest, cards to post, edit and look up',
  )
  const oldest = gauge(
    'buildline_backlog_oldest_seconds',
    ['queue'],
    'Time for which the oldest entry of each queue has been due; closed channels do not count',
  )
  const slackReachable = gauge(
    'buildline_slack_reachable',
    [],
    '1 while messages can be sent to Slack, 0 while nothing is sent because Slack is down or refuses us',
  )
  const socketOpen = gauge(
    'buildline_slack_socket_open',
    [],
    '1 while a Socket Mode connection is open, 0 while none is and Slack can deliver nothing; absent over HTTP',
  )

  /** Reads what waits. If the database is away, the last figures stay. */
  async function look(): Promise<void> {
    slackReachable.set(outage() === null ? 1 : 0)
    const stands = isSocketOpen()
    if (stands === null) socketOpen.remove()
    else socketOpen.set(stands ? 1 : 0)
    for (const [queue, size] of Object.entries(await backlog().catch(() => ({})))) waiting.set({ queue }, size)
    for (const [queue, since] of Object.entries(await oldestWaiting().catch(() => ({}))))
      oldest.set({ queue }, since === null ? 0 : Math.max(0, now() - since) / MS_PER_S)
  }

  return {
    registry,
    async text(): Promise<string> {
      await look()
      return registry.metrics()
    },
    countDelivery(what: WebhookKind, { status, answer, ms }: { status: number; answer: string; ms: number }): void {
      deliveries.inc({ status: String(status), answer, what })
      deliverySeconds.observe({ what }, ms / MS_PER_S)
    },
    countUnknown: () => unknownStatuses.inc(),
    count(what: Counted): void {
      switch (what.what) {
        case 'decision':
          return decisions.inc({ reason: what.reason })
        case 'call':
          return slackCalls.inc({ queue: what.queue, outcome: what.outcome })
        case 'lag':
          return lag.observe({ priority: String(what.priority) }, what.ms / MS_PER_S)
      }
    },
    countCiCall(name: CiInterface, outcome: CiCallEnd, ms: number): void {
      ciCalls.inc({ interface: name, outcome })
      ciSeconds.observe({ interface: name }, ms / MS_PER_S)
    },
    countCiRetry: (why: CiErrorKind) => ciRetries.inc({ why }),
    countSilent: (end: SilentEnd) => silentBuilds.inc({ end }),
    timeStore: (operation: 'read' | 'write', ms: number) => storeSeconds.observe({ operation }, ms / MS_PER_S),
    countStoreFailure: (operation: 'read' | 'write') => storeFailures.inc({ operation }),
    countJob(job: string, end: JobEnd, endedAt: number): void {
      jobs.inc({ job, end })
      if (end === 'done') jobDoneAt.set({ job }, endedAt / MS_PER_S)
    },
  }
}

const MS_PER_S = 1_000
