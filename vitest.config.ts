import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', ['json', { outputFile: process.env['REPORT'] ?? 'test-results/vitest.json' }]],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most of what drives a real process waits: one more than the cores of a small machine.
    maxWorkers: 3,
    // Real processes on a busy machine reach their time now and then; the report names who needed a second try.
    retry: process.env['CI'] ? 1 : 0,
  },
})
