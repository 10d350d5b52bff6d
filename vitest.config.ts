import { defineConfig } from 'vitest/config'

/** Rooms whose tests leave nothing behind in their process: they share a few, and what these have loaded. */
const SHARING = [
  ...['alerts', 'domain', 'features', 'jobs', 'lib', 'slack', 'sources'].map((room) => `test/${room}/**/*.test.ts`),
  ...['sandbox-ci', 'sandbox-slack'].map((name) => `packages/${name}/test/**/*.test.ts`),
  'packages/demo/test/sandbox/**/*.test.ts',
]

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: process.env['REPORT'] ?? 'test-results/vitest.json' }]],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: 'test/support/shared-postgres.ts',
    // Much of what drives a real process waits: more than the cores of a small machine.
    maxWorkers: 5,
    // Real processes on a busy machine reach their time now and then; the report names who needed a second try.
    retry: process.env['CI'] ? 1 : 0,
    projects: [
      { extends: true, test: { name: 'rooms', include: SHARING, isolate: false } },
      {
        extends: true,
        test: { name: 'house', include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'], exclude: SHARING },
      },
    ],
  },
})
