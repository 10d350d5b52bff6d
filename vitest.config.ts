import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** `npm test` leaves these out, `npm run test:all` does not. */
const SLOW = [
  '**/*.slow.test.ts',
  ...['bench', 'browser', 'kill-sweep', 'outages', 'processes', 'strangers', 'torture'].map(
    (room) => `test/${room}/**`,
  ),
  'packages/{build-steps,demo}/test/**',
]

/** They play for minutes, and mostly wait: begun last, one would run alone at the end. */
const FIRST = [
  'packages/demo/test/demo/sources.test.ts',
  'test/browser/tour.test.ts',
  'test/strangers/emulate-github.test.ts',
  'test/strangers/emulate.test.ts',
  'test/kill-sweep/reminders.test.ts',
  'test/app/lost-answers.slow.test.ts',
  'packages/demo/test/demo/demo.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFirst = ({ moduleId }: TestSpecification) => FIRST.some((file) => moduleId.endsWith(file))
    return (await super.sort(files)).toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', ['json', { outputFile: process.env['REPORT'] ?? 'test-results/vitest.json' }]],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: 'test/support/global-setup.ts',
    // Much of what drives a real process waits: more than the cores of a small machine.
    maxWorkers: 4,
    // Tests leave nothing behind in their process: their files share it, and the modules loaded there.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'quick', include: ['**/test/**/*.test.ts'], exclude: [...SLOW, '**/node_modules/**'] },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW.map((glob) => glob.replace(/\*\*$/, '**/*.test.ts')),
          exclude: ['**/node_modules/**'],
        },
      },
    ],
  },
})
