import type { DigestView } from '../../src/domain/view.ts'

/** A week of acme's builds, with something in every list. */
export const digestOf = (change: Partial<DigestView> = {}): DigestView => ({
  kind: 'digest',
  about: 'acme',
  every: 'week',
  firstDay: '2026-11-16',
  lastDay: '2026-11-22',
  since: null,
  builds: 212,
  passed: 199,
  before: { builds: 190, passed: 175 },
  days: [30, 44, 38, 51, 42, 0, 7].map((builds, at) => ({
    day: `2026-11-${16 + at}`,
    builds,
    passed: Math.max(0, builds - (at === 2 ? 8 : 1)),
  })),
  red: {
    shown: [
      { project: 'acme/web', branch: 'main', forMs: 4 * 3_600_000 + 7 * 60_000 },
      { project: 'acme/api Deploy', branch: 'release/2', forMs: 50 * 60_000 },
    ],
    more: 1,
  },
  redNow: {
    shown: [
      {
        project: 'acme/web',
        branch: 'main',
        since: { at: Date.UTC(2026, 10, 22, 9, 30), builds: 3, atLeast: false },
      },
    ],
    more: 0,
  },
  flaky: { shown: [{ project: 'acme/web', branch: 'main', commits: 31, flaky: 4, lostMs: 42 * 60_000 }], more: 0 },
  slower: { shown: [{ project: 'acme/web', branch: 'main', beforeMs: 9 * 60_000, nowMs: 12 * 60_000 }], more: 0 },
  picture: 'F0CHART001',
  ...change,
})
