import { join, matchesGlob } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** `npm test` leaves these out (QUICK), `npm run test:all` does not. */
const SLOW = [
  '**/*.slow.test.ts',
  ...['bench', 'browser', 'kill-sweep', 'outages', 'processes', 'strangers', 'torture'].map(
    (room) => `test/${room}/**`,
  ),
  'packages/{build-steps,demo}/test/**',
]

/** They take longest, and would be the last to end; most of them wait. One at a time begins among the others. */
const LONG = [
  'packages/demo/test/demo/sources.test.ts',
  'test/browser/tour.test.ts',
  'test/strangers/emulate-github.test.ts',
  'test/strangers/emulate.test.ts',
  'test/app/ends.slow.test.ts',
  'test/app/lost-answers.slow.test.ts',
  'packages/demo/test/demo/demo.test.ts',
  'test/processes/processes.test.ts',
  'test/app/subscription-sources.slow.test.ts',
  'test/app/trouble.slow.test.ts',
  'test/app/closed-channels.slow.test.ts',
  'test/store/postgres.test.ts',
  'test/store/sqlite.test.ts',
  'test/simulation/simulation.test.ts',
]
/** So many others before the next long one. */
const OTHERS = 8

/** The slow ones come first: none of them is still to be begun when the others are done. */
class LongAmongOthers extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      SLOW.some((glob) => matchesGlob(moduleId, join(import.meta.dirname, glob)))
    const sorted = (await super.sort(files)).toSorted((a, b) => Number(isSlow(b)) - Number(isSlow(a)))
    const long = LONG.flatMap((end) => sorted.filter(({ moduleId }) => moduleId.endsWith(end)))
    const others = sorted.filter((file) => !long.includes(file))
    return long.reduce((all, file, n) => all.toSpliced(n * (OTHERS + 1), 0, file), others)
  }
}

export default defineConfig({
  test: {
    include: ['**/test/**/*.test.ts'],
    exclude: [...(process.env['QUICK'] ? SLOW : []), '**/node_modules/**'],
    sequence: { sequencer: LongAmongOthers },
    reporters: ['default', ['json', { outputFile: process.env['REPORT'] ?? 'test-results/vitest.json' }]],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: 'test/support/global-setup.ts',
    // Much of what drives a real process waits: more than the cores of a small machine.
    maxWorkers: 10,
    // A test of real processes that fails on a busy machine is tried once more there; the report names it.
    retry: process.env['CI'] ? 1 : 0,
    // Tests leave nothing behind in their process: their files share it, and the modules loaded there.
    isolate: false,
    // For the processes that tests start, Node's compile cache is worth writing; for the tests themselves it is not.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    setupFiles: 'test/support/cache-for-processes.ts',
    // Node itself runs the tests, as it runs the bot. Vite's runner would transform each file, and nothing here needs it.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
