import { createMetrics } from '../../../../src/metrics.ts'
import { cell } from './cell.ts'

/** Every metric of ours with its labels, as the registry knows it. */
export function metricTable(): string {
  const nothing = {
    backlog: async () => ({}),
    oldestWaiting: async () => ({}),
    socketStands: () => null,
    outage: () => null,
    now: () => 0,
  }
  const rows = createMetrics(nothing)
    .described()
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.map(code).join(', ')} | ${cell(help)} |`)
  return ['| name | type | labels | what |', '|---|---|---|---|', ...rows].join('\n')
}

const code = (text: string): string => `\`${text}\``
