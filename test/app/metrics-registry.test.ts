import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createMetrics, type Metrics } from '../../src/runtime/metrics.ts'
import { MINUTE, T0 } from '../support/build-events.ts'

const LOOKED = {
  backlog: async () => ({ ingest: 3, post: 0 }),
  oldestWaiting: async () => ({ ingest: T0 - MINUTE, post: null }),
  outage: () => null,
  isSocketOpen: (): boolean | null => null,
  now: () => T0,
}

const create = (looked: Partial<typeof LOOKED> = {}): Metrics => createMetrics({ ...LOOKED, ...looked })

/** Counts everything once. */
function countAll(metrics: Metrics): void {
  metrics.countDelivery('delivery', { status: 202, answer: 'recorded', ms: 3 })
  metrics.countUnknown()
  metrics.count({ what: 'decision', reason: 'every-event' })
  metrics.count({ what: 'call', queue: 'post', outcome: 'unclear' })
  metrics.count({ what: 'lag', ms: 250, priority: 0 })
  metrics.countCiCall('legacy', 'ok', 120)
  metrics.countCiRetry('timeout')
  metrics.countSilent('news')
  metrics.timeStore('write', 2)
  metrics.countStoreFailure('read')
  metrics.countJob('prune', 'done', T0)
}

interface Described {
  name: string
  type: string
  labels: string
  what: string
}

/** Our metrics as the registry describes them, with the labels of their samples. */
async function described(): Promise<Described[]> {
  const metrics = create()
  countAll(metrics)
  const text = await metrics.text()
  return [...text.matchAll(/^# HELP (buildline_\w+) (.*)\n# TYPE \S+ (\w+)$/gm)].map(([, name, what, type]) => ({
    name: name!,
    type: type!,
    labels: labelsOf(text, name!),
    what: what!,
  }))
}

function labelsOf(text: string, name: string): string {
  const [, labels = ''] = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text) ?? []
  return [...labels.matchAll(/(\w+)="/g)].map(([, label]) => `\`${label}\``).join(', ')
}

const read = (file: string): string => readFileSync(new URL(`../../docs/operations/${file}`, import.meta.url), 'utf8')

const byName = (a: Described, b: Described): number => (a.name < b.name ? -1 : 1)

describe('the metrics', () => {
  it('are described in docs/operations/metrics.md by name, type, labels and meaning, and no others are', async () => {
    const rows = [...read('metrics.md').matchAll(/^\| `(buildline_\w+)` \| (\w+) \|([^|]*)\| (.*) \|$/gm)]
    const inDocs = rows.map(([, name, type, labels, what]) => ({
      name: name!,
      type: type!,
      labels: labels!.trim(),
      what: what!,
    }))
    expect(inDocs.toSorted(byName)).toEqual((await described()).toSorted(byName))
  })

  it('say what waits, and for how long, when they are read', async () => {
    const text = await create().text()
    expect(text).toContain('buildline_backlog{queue="ingest"} 3')
    expect(text).toContain('buildline_backlog_oldest_seconds{queue="ingest"} 60')
    expect(text).toContain('buildline_backlog_oldest_seconds{queue="post"} 0')
    expect(text).toContain('buildline_slack_reachable 1')
  })

  it.each([
    [true, /^buildline_slack_socket_open 1$/m],
    [false, /^buildline_slack_socket_open 0$/m],
  ])('say whether there is a Socket Mode connection: %s', async (stands, sample) => {
    expect(await create({ isSocketOpen: () => stands }).text()).toMatch(sample)
  })

  it('do not include a socket if Slack uses HTTP', async () => {
    expect(await create().text()).not.toMatch(/^buildline_slack_socket_open /m)
  })

  it('keep the last backlog while the database is away, and say that Slack is away', async () => {
    let isAway = false
    const backlog = async () => {
      if (isAway) throw new Error('no database')
      return { ingest: 3, post: 0 }
    }
    const metrics = createMetrics({ ...LOOKED, backlog, outage: () => (isAway ? 'token_revoked' : null) })
    await metrics.text()
    isAway = true
    const text = await metrics.text()
    expect(text).toContain('buildline_backlog{queue="ingest"} 3')
    expect(text).toContain('buildline_slack_reachable 0')
  })

  it('say when a job was last done; a failed one only has its result', async () => {
    const metrics = create()
    metrics.countJob('prune', 'done', T0)
    metrics.countJob('refresh-projects', 'again', T0)
    const text = await metrics.text()
    expect(text).toContain(`buildline_job_done_timestamp_seconds{job="prune"} ${T0 / 1_000}`)
    expect(text).toContain('buildline_jobs_total{job="refresh-projects",end="again"} 1')
    expect(text).not.toContain('buildline_job_done_timestamp_seconds{job="refresh-projects"}')
  })
})

const DASHBOARD = z.object({
  title: z.string(),
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string().min(1),
      type: z.string(),
      gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z.array(z.object({ expr: z.string().min(1) })).optional(),
    }),
  ),
})

const RULES = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.object({ summary: z.string().min(1), description: z.string().min(1) }),
        }),
      ),
    }),
  ),
})

/** Our metrics in an expression, by their names in the registry. */
const namesIn = (expr: string): string[] =>
  [...expr.matchAll(/buildline_\w+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, ''))

/** The labels of our metrics that an expression uses. */
const labelsIn = (expr: string): string[] => [
  ...[...expr.matchAll(/\{([^}$]*?)\}/g)].flatMap(([, matchers]) =>
    [...matchers!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => label!),
  ),
  ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(',').map((label) => label.trim())),
]

describe('dashboard and alerts', () => {
  const dashboard = DASHBOARD.parse(JSON.parse(read('grafana.json')))
  const rules = RULES.parse(parse(read('alerts.yml'))).groups.flatMap((group) => group.rules)
  const exprs = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...rules.map(({ expr }) => expr),
    ...[...read('metrics.md').matchAll(/^\| .* \| `(.*buildline_.*)` \|$/gm)].flatMap(([, expr]) =>
      expr?.includes('(') ? [expr] : [],
    ),
  ]

  test('use only our metrics, and so do the examples', async () => {
    const ours = new Set((await described()).map(({ name }) => name))
    expect(exprs.length).toBeGreaterThan(30)
    expect(exprs.flatMap(namesIn).filter((name) => !ours.has(name))).toEqual([])
  })

  test('include every metric in the dashboard', async () => {
    const shown = new Set(dashboard.panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))))
    expect((await described()).map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })

  test('use only labels of metrics in the expression', async () => {
    const labels = new Map((await described()).map((one) => [one.name, one.labels]))
    const wrong = exprs.flatMap((expr) => {
      const known = namesIn(expr)
        .map((name) => labels.get(name) ?? '')
        .join()
      return labelsIn(expr).filter((label) => label !== 'le' && !known.includes(`\`${label}\``))
    })
    expect(wrong).toEqual([])
  })

  test('would be found to use an unknown metric or label', () => {
    expect(namesIn('rate(buildline_nothing_total{x="1"}[5m])')).toEqual(['buildline_nothing_total'])
    expect(labelsIn('sum by (le, queue) (rate(buildline_lag_seconds_bucket{priority="0"}[5m]))')).toEqual([
      'priority',
      'le',
      'queue',
    ])
  })

  test('have no two panels with the same id or overlapping positions', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)}/${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })

  test('have a different name for every alert', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })
})
