import { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import {
  EARLY_REPORTS_MAX,
  EARLY_REPORTS_OF_PROJECT_MAX,
  recordReport,
} from '../../../src/alerts/record/record-report.ts'
import { NO_FAILURE, type FailureReport } from '../../../src/domain/builds/failure.ts'
import { buildId, MINUTE, projectId, SECOND, T0, WEB, type Said } from '../../support/build-events.ts'
import { inBrief } from '../../support/fake-notifier.ts'
import { openStage, type Stage } from '../stage.ts'

const report = (failing: readonly string[], change: Partial<FailureReport> = {}): FailureReport => ({
  by: 'step',
  attempt: null,
  part: null,
  tests: 100,
  failed: failing.length,
  failures: failing.map((name) => ({ ...NO_FAILURE, test: name, message: `${name} went wrong` })),
  flakyTests: [],
  log: [],
  ...change,
})

/** A build step sends this report, about build 512 by default. */
const hearReport = ({ store, clock }: Stage, said: FailureReport, build = '512') =>
  recordReport({ store, clock }, { kind: 'report', projectId: projectId(WEB), buildId: buildId(build), report: said })

const says = ({ slack }: Stage) => slack.messages.map(({ view }) => inBrief(view))

const BEFORE: Said = { word: 'error', build: '511', commit: 'b'.repeat(40) }

/** Everything that is received about two failed builds, one event or report each. */
const NEWS: readonly ((stage: Stage) => Promise<unknown>)[] = [
  (stage) => stage.hear(BEFORE),
  (stage) => hearReport(stage, report(['a', 'b']), '511'),
  (stage) => stage.hear('initiated'),
  (stage) => stage.hear('error'),
  (stage) => hearReport(stage, report(['c', 'a'], { part: '1/2' })),
  (stage) => hearReport(stage, report(['d'], { part: '2/2', log: ['exit 1'] })),
  (stage) => hearReport(stage, report(['d'], { part: '2/2', log: ['exit 1'] })),
]

/** What Slack finally shows of the failed tests. */
async function shownAfter(order: readonly number[]): Promise<string[]> {
  await using stage = await openStage()
  await stage.live()
  for (const at of order) {
    await NEWS[at]!(stage)
    await stage.clock.advance(5 * SECOND)
  }
  await stage.clock.advance(MINUTE)
  return stage.slack.messages
    .map(({ view }) => JSON.stringify(view.kind === 'card' ? [view.build.buildId, view.failures] : view))
    .filter((view) => view.includes('"named"'))
    .toSorted()
}

test('Slack ends up the same in whatever order deliveries and reports of two builds arrive', async () => {
  const expected = await shownAfter(NEWS.map((_, at) => at))
  expect(expected).toHaveLength(4)
  expect(expected.join('\n')).toMatch(/"test":"c"[^}]*"isNew":true/)
  const orders = fc.shuffledSubarray([...NEWS.keys()], { minLength: NEWS.length })
  await fc.assert(
    fc.asyncProperty(orders, async (order) => {
      // A start that is received after its end is late and belongs to the same attempt.
      expect(await shownAfter(order)).toEqual(expected)
    }),
    { numRuns: 25 },
  )
}, 60_000)

test('wherever the process dies, the reply about failed tests is posted exactly once', async () => {
  for (let fuse = 20; fuse < 160; fuse += 7) {
    await using stage = await openStage()
    const first = await stage.live({}, fuse)
    await stage.hear('initiated')
    await stage.clock.advance(2 * SECOND)
    await hearReport(stage, report(['a']))
    await stage.hear('error')
    await stage.clock.advance(5 * SECOND)
    first.kill()
    await stage.live()
    await stage.clock.advance(2 * MINUTE)
    // Whether there is a reply "failed" depends on whether the card was first posted as failed.
    const told = says(stage).filter((said) => said !== 'reply 512 failed')
    expect([fuse, ...told]).toEqual([fuse, 'card 512 failed', 'tests 1 of 100'])
  }
}, 60_000)

test('the reply about failed tests comes after the reply that the build failed', async () => {
  await using stage = await openStage()
  await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(5 * SECOND)
  await hearReport(stage, report(['a']))
  await stage.hear('error')
  await stage.clock.advance(5 * SECOND)
  expect(says(stage)).toEqual(['card 512 failed', 'reply 512 failed', 'tests 1 of 100'])
})

test('the lag of a change made by a late report counts from the report, not from the build', async () => {
  await using stage = await openStage()
  await stage.live()
  await stage.hear('error')
  await stage.clock.advance(10 * MINUTE)
  stage.counted.length = 0
  await hearReport(stage, report(['a']))
  await stage.clock.advance(5 * SECOND)
  const lags = stage.counted.flatMap((counted) => (counted.what === 'lag' ? [counted.ms] : []))
  expect(lags.length).toBeGreaterThanOrEqual(2)
  expect(Math.max(...lags)).toBeLessThan(5 * SECOND)
})

test('a report about a build that runs or has passed wakes nothing and is shown nowhere', async () => {
  await using stage = await openStage()
  await stage.live()
  await stage.hear('initiated')
  await stage.clock.advance(5 * SECOND)
  await hearReport(stage, report(['a']))
  expect(stage.sql('select 1 from intake')).toEqual([])
  await stage.hear('success')
  await hearReport(stage, report(['a', 'b']))
  await stage.clock.advance(5 * SECOND)
  expect(says(stage)).toEqual(['card 512 passed', 'reply 512 passed'])
})

test('a late report wakes the next build if that build is red, and not if it passed', async () => {
  await using stage = await openStage()
  await stage.live()
  await stage.hear({ word: 'success', build: '510', commit: 'c'.repeat(40) }, BEFORE, 'success')
  await stage.clock.advance(5 * SECOND)
  const woken = async (build: string) => {
    await hearReport(stage, report([]), build)
    const marks = stage.sql('select 1 from intake')
    await stage.clock.advance(5 * SECOND)
    return marks.length
  }
  // 511 is red, so the reports of 510 and 511 wake it. 512 has passed, so no report wakes it.
  expect([await woken('510'), await woken('511'), await woken('512')]).toEqual([1, 1, 0])
})

test('the reports of a build are read only if it failed, and in one query', async () => {
  await using stage = await openStage()
  using prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
  const asked = () => prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('"report"'))
  await stage.live()
  await stage.hear('initiated', 'success')
  await stage.clock.advance(5 * SECOND)
  expect(asked()).toEqual([])
  await stage.hear(BEFORE)
  await stage.clock.advance(5 * SECOND)
  expect(new Set(asked()).size).toBe(1)
})

test('a report about an unknown build is removed after a day, a report about a known build stays', async () => {
  await using stage = await openStage()
  await stage.hear('error')
  await hearReport(stage, report(['a']))
  await hearReport(stage, report(['a']), '999')
  const removed = await stage.store.write((tx) => tx.removeEarlyReports(T0 + 24 * 60 * MINUTE, 10))
  expect([removed, stage.sql('select build_key from report')]).toEqual([1, [{ build_key: '41/512' }]])
})

test('at most EARLY_REPORTS_MAX reports about unknown builds are kept, the newest', async () => {
  await using stage = await openStage()
  await hearReport(stage, report(['the first']), '1')
  await stage.store.write(async (tx) => {
    const some = { attemptSeq: 0, receivedAt: T0 + 1, report: report([]) }
    for (let build = 2; build <= EARLY_REPORTS_MAX; build++)
      await tx.insertReport({ ...some, buildKey: `${100 + (build % 20)}/${build}` })
  })
  await stage.clock.advance(SECOND)
  await hearReport(stage, report(['the last']), '9999')
  const kept = stage.sql("select body like '%the first%' first, count(*) count from report group by 1 order by 1")
  expect(kept).toEqual([{ first: 0, count: EARLY_REPORTS_MAX }])
})

test('a project whose reports are all about unknown builds pushes out its own oldest, and none of another project', async () => {
  await using stage = await openStage()
  await stage.store.write(async (tx) => {
    const some = { attemptSeq: 0, report: report([]) }
    await tx.insertReport({ ...some, receivedAt: T0 - 1, buildKey: '4/1' })
    for (let build = 1; build <= EARLY_REPORTS_OF_PROJECT_MAX; build++)
      await tx.insertReport({ ...some, receivedAt: T0 + build, buildKey: `41/${build}` })
  })
  await stage.clock.advance(MINUTE)
  await hearReport(stage, report(['the last']), '9999')
  const kept = stage.sql('select build_key from report order by id') as readonly { build_key: string }[]
  expect(kept).toHaveLength(1 + EARLY_REPORTS_OF_PROJECT_MAX)
  expect(kept.slice(0, 2)).toEqual([{ build_key: '4/1' }, { build_key: '41/2' }])
})
