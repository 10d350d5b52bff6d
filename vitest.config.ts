import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders whose tests leave nothing behind in their process: their files share processes, and the modules loaded there. */
const SHARING = [
  ...['alerts', 'domain', 'features', 'jobs', 'lib', 'outside', 'slack', 'sources'].map(
    (room) => `test/${room}/**/*.test.ts`,
  ),
  ...['sandbox-ci', 'sandbox-github', 'sandbox-gitlab', 'sandbox-slack'].map(
    (name) => `packages/${name}/test/**/*.test.ts`,
  ),
  'packages/demo/test/sandbox/**/*.test.ts',
]

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
    maxWorkers: 6,
    // Real processes on a busy machine reach their time now and then; the report names who needed a second try.
    retry: process.env['CI'] ? 1 : 0,
    projects: [
      { extends: true, test: { name: 'shared', include: SHARING, exclude: SLOW, isolate: false } },
      {
        extends: true,
        test: { name: 'own', include: ['**/test/**/*.test.ts'], exclude: [...SHARING, ...SLOW, '**/node_modules/**'] },
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
