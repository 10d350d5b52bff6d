import { createMetrics } from '../../../../src/runtime/metrics.ts'
import { cell } from './cell.ts'

/** Every metric of ours with its labels, as the registry knows it. */
export function metricTable(): string {
  const nothing = {
    backlog: async () => ({}),
    oldestWaiting: async () => ({}),
    isSocketOpen: () => null,
    outage: () => null,
    now: () => 0,
  }
  const rows = createMetrics(nothing)
    .registry.getMetricsAsArray()
    .filter(({ name }) => name.startsWith('buildline_'))
    .map(
      (metric) =>
        `| \`${metric.name}\` | ${metric.constructor.name.toLowerCase()} | ${labelsOf(metric).map(code).join(', ')} | ${cell(metric.help)} |`,
    )
  return ['| name | type | labels | what |', '|---|---|---|---|', ...rows].join('\n')
}

// prom-client's types leave out the labels, which each metric has.
const labelsOf = (metric: object): string[] =>
  'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : []

const code = (text: string): string => `\`${text}\``
