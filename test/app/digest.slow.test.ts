import { expect, it } from 'vitest'
import { listOf } from '../../packages/sandbox-slack/src/json.ts'
import type { ChannelId } from '../../src/domain/ids.ts'
import { digestDue, type Schedule } from '../../src/domain/rules/digest.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { buildOf, databasePath, openStage, sendAll, settled, until, type Stage } from '../support/app.ts'
import { BUILDS } from './channel.ts'

const DAY_MS = 24 * 60 * 60_000

/** A build from yesterday, and a digest that has just become due. */
async function openDue(prepare: (stage: Stage) => void = () => {}): Promise<Stage> {
  const stage = await openStage({ settings: { DEFAULT_CHANNEL: BUILDS } })
  prepare(stage)
  const yesterday = new Date(Date.now() - DAY_MS).toISOString()
  await sendAll(stage.app.url, buildOf(1, { status: 'error', finished_at: yesterday }))
  await settled(stage.app.url)
  const now = Date.now()
  const minute = Math.floor((now % DAY_MS) / 60_000)
  const schedule: Schedule = { kind: 'daily', weekday: null, minute, zone: 'UTC' }
  const store = openSqlite(databasePath(stage.folder))
  const nextAt = digestDue(schedule, now - 60_000).next
  const digest = { channel: BUILDS as ChannelId, schedule, setBy: 'U0ADA00001', setAt: now, nextAt }
  await store.write((tx) => tx.saveDigest(digest))
  await store.close()
  return stage
}

const digestsIn = ({ slack }: Stage) =>
  slack.messages(BUILDS).filter(({ text }) => String(text).startsWith(':bar_chart:'))

it('a due digest is posted by itself, with its chart', async () => {
  const stage = await openDue()
  await until('it is posted', () => digestsIn(stage).length === 1, 40_000)
  const [digest] = digestsIn(stage)
  expect(digest?.['text']).toMatch(/^:bar_chart: \*acme\/web builds, \w+ \d+ \w+\*\n1 build · 0% passed/)
  const picture = listOf(digest?.['blocks']).find(({ type }) => type === 'image')
  const [file] = stage.slack.workspace.files.values()
  expect(picture).toMatchObject({
    slack_file: { id: file?.id },
    alt_text: expect.stringContaining('1 build, 0% passed'),
  })
  expect(file).toMatchObject({ completedAtMs: expect.any(Number), name: expect.stringMatching(/^builds-[\d-]+\.png$/) })
  expect(file!.bytes!.length).toBeGreaterThan(5_000)
})

it('a digest is posted without a chart if Slack accepts no files', async () => {
  const stage = await openDue(({ slack }) =>
    slack.faults.add({ kind: 'error', method: 'files.getUploadURLExternal', error: 'missing_scope' }),
  )
  await until('it is posted', () => digestsIn(stage).length === 1, 40_000)
  expect(listOf(digestsIn(stage)[0]?.['blocks']).map(({ type }) => type)).not.toContain('image')
})
