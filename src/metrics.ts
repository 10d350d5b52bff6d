import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Counted } from './reconcile/deps.ts'

/** The metrics by their stable names; no label ever holds outside text. */
export function createMetrics(backlog: () => Promise<Record<string, number>>) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const deliveries = new Counter({
    name: 'buildline_deliveries_total',
    help: 'Requests to the webhook door, by HTTP status and answer',
    labelNames: ['status', 'answer'],
    registers,
  })
  const unknown = new Counter({
    name: 'buildline_unknown_statuses_total',
    help: 'Deliveries with a status word that the interface does not name',
    registers,
  })
  const decisions = new Counter({
    name: 'buildline_decisions_total',
    help: 'Decisions for a fact and a channel, by reason',
    labelNames: ['reason'],
    registers,
  })
  const calls = new Counter({
    name: 'buildline_slack_calls_total',
    help: 'Calls to Slack, by lane (post, edit, look) and outcome',
    labelNames: ['lane', 'outcome'],
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
    help: 'From the newest fact of a build to the message that tells it, by priority (0: failures)',
    labelNames: ['priority'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    registers,
  })
  const waiting = new Gauge({
    name: 'buildline_backlog',
    help: 'What waits: lineages to take in, cards to post, edit and look up',
    labelNames: ['queue'],
    registers,
  })

  return {
    countDelivery: (status: number, answer: string) => deliveries.inc({ status: String(status), answer }),
    countUnknown: () => unknown.inc(),
    count(what: Counted): void {
      switch (what.what) {
        case 'decision':
          return decisions.inc({ reason: what.reason })
        case 'call':
          return calls.inc({ lane: what.lane, outcome: what.outcome })
        case 'look':
          return looks.inc({ found: String(what.found) })
        case 'lag':
          return lag.observe({ priority: String(what.priority) }, what.ms / 1_000)
      }
    },
    contentType: registry.contentType,
    async text(): Promise<string> {
      // Counted when somebody asks; a database that is away leaves the last count.
      const sizes = await backlog().catch(() => ({}))
      for (const [queue, size] of Object.entries(sizes)) waiting.set({ queue }, size)
      return registry.metrics()
    },
  }
}
