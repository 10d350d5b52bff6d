import { expect, test } from 'vitest'
import { UNENDED_EVENTS_MAX } from '../../../src/alerts/record/record.ts'
import { SOURCE_TEXT_CHARS_MAX } from '../../../src/sources/values.ts'
import { HOUR, SECOND } from '../../support/build-events.ts'
import { inBrief } from '../../support/fake-notifier.ts'
import { openStage } from '../stage.ts'

const endless = (count: number) => Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 'initiated' : 'waiting'))

test('events of a build that never ends are only counted beyond a limit, but its end is recorded', async () => {
  await using stage = await openStage()
  await stage.live()
  await stage.hear(...endless(UNENDED_EVENTS_MAX))
  const buildEvents = () => stage.sql('select count(*) as "buildEvents", sum(repeats) as repeats from fact')
  expect(buildEvents()).toEqual([{ buildEvents: UNENDED_EVENTS_MAX, repeats: 0 }])
  const more = await stage.hear(...endless(3), { word: 'waiting', details: { message: 'Say more each time' } })
  expect(more.answer).toBe('duplicate')
  expect(buildEvents()).toEqual([{ buildEvents: UNENDED_EVENTS_MAX, repeats: 4 }])
  expect(stage.sql('select count(*) as deliveries from delivery')).toEqual([{ deliveries: UNENDED_EVENTS_MAX }])
  expect((await stage.hear('error')).answer).toBe('recorded')
  // The edits before have used up Slack's limit for a minute.
  await stage.clock.advance(90 * SECOND)
  expect(stage.slack.messages.map(({ view }) => inBrief(view))).toContain('card 512 failed')
})

test('a delivery of a build with as many events as are read, each with the longest texts, holds nothing up', async () => {
  await using stage = await openStage()
  const long = '日'.repeat(SOURCE_TEXT_CHARS_MAX)
  const texts = { projectName: long, projectFullName: long, buildUrl: long, commitUrl: long, committer: long }
  const details = { ...texts, shortCommitId: long, message: long }
  await stage.hear(...endless(UNENDED_EVENTS_MAX).map((word) => ({ word, details })))
  const takenMs: number[] = []
  for (const word of endless(5)) {
    const before = process.threadCpuUsage()
    await stage.hear({ word, details })
    const { user, system } = process.threadCpuUsage(before)
    takenMs.push((user + system) / 1_000)
  }
  expect(Math.min(...takenMs)).toBeLessThan(50)
})

test('a duplicate is counted on the build event that it repeats, and its body is not stored', async () => {
  await using stage = await openStage()
  const recorded = []
  for (const word of ['initiated', 'error', 'waiting', 'error']) recorded.push(await stage.hear(word))
  expect(recorded.map(({ answer, eventSeq }) => [answer, eventSeq])).toEqual([
    ['recorded', 1],
    ['recorded', 2],
    ['recorded', 3],
    ['duplicate', 2],
  ])
  expect(stage.sql('select seq, repeats from fact where repeats > 0')).toEqual([{ seq: 2, repeats: 1 }])
  expect(stage.sql('select fact_seq as seq from delivery')).toEqual([{ seq: 1 }, { seq: 2 }, { seq: 3 }])
})

test('events of a build that is restarted as often are recorded', async () => {
  await using stage = await openStage()
  const attempts = Array.from({ length: UNENDED_EVENTS_MAX / 2 }, (_, n) => [
    { word: 'initiated', after: n * HOUR },
    { word: 'error', after: n * HOUR + SECOND },
  ])
  await stage.hear(...attempts.flat())
  expect((await stage.hear({ word: 'initiated', after: UNENDED_EVENTS_MAX * HOUR })).answer).toBe('recorded')
})

test('an event that leaves out the branch and the commit gets those of its build', async () => {
  await using stage = await openStage()
  await stage.hear('initiated', { word: 'error', branch: null, commit: null })
  const [began, ended] = stage.sql('select branch, commit_id, lineage_key from fact order by seq')
  expect(ended).toEqual(began)
})
