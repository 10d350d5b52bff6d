import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { BUILDS, headlines, WEB } from '../app/channel.ts'
import { openStage as openWork, type Stage as Work } from '../alerts/stage.ts'
import { databasePath, openStage, sendAll, settled, until, type RunningApp } from '../support/app.ts'
import { MINUTE, SECOND, type Said } from '../support/build-events.ts'
import { inBrief } from '../support/fake-notifier.ts'
import { readyAt, redBuild } from './team-at-door.ts'

/** A healthy channel gets its messages within this time, whatever goes wrong elsewhere. */
const SOON_MS = 20_000

const numberIn = async ({ url }: RunningApp, line: RegExp): Promise<number> =>
  Number(line.exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? 0)

describe('a channel for which Slack always answers', () => {
  it.each([
    ['msg_too_long', 'refused'],
    ['invalid_blocks', 'refused'],
    ['internal_error', 'unclear'],
    ['a_word_that_nobody_knows', 'refused'],
  ])('%s holds up no other channel, and appears in the log and the metrics', async (error, outcome) => {
    const { app, slack } = await openStage({
      slack: { rates: 'off' },
      subscriptions: [`{ channel: ${WEB}, project: all }`, `{ channel: ${BUILDS}, project: all }`],
    })
    slack.faults.add({ kind: 'error', error, channel: WEB })
    await sendAll(app.url, ...[1, 2].map(redBuild))
    await until('the other channel is told all', () => headlines(slack, BUILDS).length === 2, SOON_MS)
    expect(headlines(slack, WEB)).toEqual([])
    expect(app.lines.some((line) => line.includes(WEB) && line.includes(`"code":"${error}"`))).toBe(true)
    const line = new RegExp(`^buildline_slack_calls_total\\{queue="post",outcome="${outcome}"\\} (\\d+)`, 'm')
    expect(await numberIn(app, line)).toBeGreaterThanOrEqual(1)
    expect(await numberIn(app, /^buildline_backlog\{queue="(?:post|look)"\} ([1-9]\d*)/m)).toBeGreaterThanOrEqual(1)
  })

  it('a build is sent and nothing waits if nothing is wrong', async () => {
    const { app, slack } = await openStage({
      slack: { rates: 'off' },
      subscriptions: [`{ channel: ${WEB}, project: all }`, `{ channel: ${BUILDS}, project: all }`],
    })
    await sendAll(app.url, redBuild(1))
    await settled(app.url)
    expect([headlines(slack, WEB), headlines(slack, BUILDS)]).toEqual([['Failed acme/web #1'], ['Failed acme/web #1']])
    expect(await numberIn(app, /^buildline_slack_calls_total\{queue="post",outcome="refused"\} (\d+)/m)).toBe(0)
  })
})

const build = (id: number): Said => ({
  word: 'error',
  build: String(id),
  commit: String(id).repeat(10),
  branch: `fix/${id}`,
})

const shown = ({ slack }: Work) => slack.messages.map(({ view }) => inBrief(view))
const failures = ({ log }: Work) => log.filter(({ text }) => text.startsWith('a revision could not be ingested')).length

describe('/readyz', () => {
  it('says that ingesting fails again and again, since a row is broken, until it is repaired', async () => {
    const { app, folder, slack } = await openStage({ settings: { DEFAULT_CHANNEL: BUILDS }, slack: { rates: 'off' } })
    const db = new DatabaseSync(databasePath(folder))
    onTestFinished(() => db.close())
    await sendAll(app.url, { build_id: 1, status: 'error' })
    await settled(app.url)
    db.exec(`update fact set details = 'broken'`)
    // Another build of the same commit, so that both are read.
    await sendAll(app.url, { build_id: 2, status: 'error' })
    const failing = await until('it is not ready', async () => {
      const ready = await readyAt(app.url)
      return ready.status === 503 && ready
    })
    expect(failing).toMatchObject({
      store: 'ok',
      slack: 'ok',
      ingest: 'failing',
      wrong: [expect.stringMatching(/^Ingesting keeps failing.*could not be ingested/)],
    })
    expect(JSON.stringify(failing)).not.toContain('acme')
    db.exec(`update fact set details = (select details from fact where build_id = '2') where build_id = '1'`)
    await until('it is ready', async () => (await readyAt(app.url)).status === 200, 60_000)
    expect(headlines(slack, BUILDS)).not.toEqual([])
  }, 120_000)
})

describe('a build with a broken row', () => {
  test('holds up no other, is retried with growing delays, and is shown when it can be read', async () => {
    await using stage = await openWork()
    await stage.hear(build(512))
    stage.sql("update fact set details = 'broken'")
    await stage.live()
    await stage.hear(build(513))
    await stage.clock.advance(5 * SECOND)
    expect(shown(stage)).toEqual(['card 513 failed'])
    await stage.clock.advance(20 * MINUTE)
    const atFirst = failures(stage)
    expect(atFirst).toBeGreaterThan(5)
    expect(atFirst).toBeLessThan(16)
    await stage.clock.advance(20 * MINUTE)
    expect(failures(stage) - atFirst).toBeLessThan(5)
    expect(stage.log.find(({ level }) => level === 'error')?.fields).toMatchObject({
      revision: expect.any(String),
    })
    stage.sql("update fact set details = (select details from fact where build_id = '513') where build_id = '512'")
    await stage.clock.advance(10 * MINUTE)
    expect(shown(stage)).toEqual(['card 513 failed', 'card 512 failed'])
  }, 90_000)

  test('that was repaired before is ingested at once, without a log line', async () => {
    await using stage = await openWork()
    await stage.live()
    await stage.hear(build(512))
    await stage.clock.advance(5 * SECOND)
    expect(shown(stage)).toEqual(['card 512 failed'])
    expect(stage.log.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('does not prevent messages about the next build of its branch', async () => {
    await using stage = await openWork()
    await stage.hear({ ...build(512), branch: 'main' })
    stage.sql("update fact set details = 'broken'")
    await stage.live()
    await stage.hear({ ...build(513), branch: 'main' })
    await stage.clock.advance(5 * SECOND)
    expect(shown(stage)).toEqual(['card 513 failed'])
  })
})
