import { describe, expect, test } from 'vitest'
import type { ChannelId } from '../../../src/domain/ids.ts'
import { lin, openStage as openOperations, type Changes, type StageDeps } from '../operations-stage.ts'
import { openPeopleStage, restartedUntilGreen } from '../kit/people-stage.ts'
import { ada, BUILDS } from '../kit/stage.ts'
import { previewDigest, setDigest, showDigest } from '../../../src/features/subscriptions/digest.ts'

async function open(changes: Changes = {}) {
  const stage = await openPeopleStage(changes)
  return { ...stage, kept: () => stage.store.read.digest(BUILDS) }
}

describe('/ci digest', () => {
  test("is set in the requester's time zone from Slack, and the channel gets a message", async () => {
    const stage = await open()
    expect(await stage.type('digest')).toContain('*This channel has no digest.*')
    expect(await stage.type('digest weekly mon 9:00')).toMatch(
      /^:bar_chart: \*Digest set\*: every Monday at 9:00 \(Europe\/Berlin\) · next .*2026-03-09 08:00 UTC/,
    )
    expect(stage.behind.said).toEqual([
      {
        to: BUILDS,
        text: `:bar_chart: <@${ada}> set a digest for this channel: every Monday at 9:00 (Europe/Berlin).`,
      },
    ])
    expect(await stage.kept()).toMatchObject({ setBy: ada, nextAt: Date.UTC(2026, 2, 9, 8) })
    expect(await stage.type('digest')).toContain('*Digest*: every Monday at 9:00 (Europe/Berlin) · next')
    expect(await stage.type('rules')).toContain('*Digest*: every Monday at 9:00 (Europe/Berlin) · next')
  })

  const SCHEDULES = [
    ['digest daily 17', { kind: 'daily', weekday: null, minute: 17 * 60, zone: 'Europe/Berlin' }],
    ['digest DAILY 09:05 utc', { kind: 'daily', weekday: null, minute: 9 * 60 + 5, zone: 'UTC' }],
    ['digest weekly Sunday 0:00 america/new_york', { kind: 'weekly', weekday: 7, minute: 0, zone: 'America/New_York' }],
  ] as const

  test('takes a time of day or a weekday, in any case, with a time zone', async () => {
    const stage = await open()
    for (const [text, schedule] of SCHEDULES) {
      await stage.type(text)
      expect(await stage.kept(), text).toMatchObject({ schedule })
    }
  })

  test('set again is unchanged, set differently replaces the first one, and turned off is gone', async () => {
    const stage = await open()
    await stage.type('digest daily 9:00')
    expect(await stage.type('digest daily 9:00')).toContain('*Already set*')
    await stage.type('digest weekly fri 16:30')
    expect(await stage.kept()).toMatchObject({ schedule: { kind: 'weekly', weekday: 5, minute: 990 } })
    expect(await stage.type('digest off')).toContain('*Digest turned off*')
    expect(await stage.kept()).toBeNull()
    expect(await stage.type('digest off')).toContain('*Nothing changed*')
    expect(stage.behind.said).toHaveLength(3)
  })

  const WRONG = [
    ['digest daily 25:00', '`25:00` is not a time of day.'],
    ['digest daily 9:60', '`9:60` is not a time of day.'],
    ['digest daily', 'this command needs a time of day'],
    ['digest weekly', 'this command needs a weekday and a time'],
    ['digest weekly foo', '`foo` is not a weekday.'],
    ['digest weekly 9:00', '`9:00` is not a weekday.'],
    ['digest weekly mon', 'this command needs a time of day'],
    ['digest daily 9:00 Mars/Olympus', 'there is no time zone `Mars/Olympus`.'],
    ['digest daily 9:00 UTC please', "I didn't expect `please` there"],
    ['digest hourly', '`hourly` is not one of `daily`, `weekly`, `now`, `off`.'],
    ['digest off now', "I didn't expect `now` there"],
  ] as const

  test('that was mistyped says what is wrong, and stores nothing', async () => {
    const stage = await open()
    for (const [text, says] of WRONG) expect(await stage.type(text), text).toContain(says)
    expect(await stage.kept()).toBeNull()
    expect(stage.behind.said).toEqual([])
  })

  test('belongs to a channel, and not to a direct message', async () => {
    await using stage = await openOperations()
    const { deps } = stage.main
    const by = { ...lin(), channel: 'D0LIN00001' as ChannelId }
    expect(await showDigest(deps, by)).toEqual({ kind: 'no-channel' })
    expect(await previewDigest(deps, by)).toEqual({ kind: 'no-channel' })
  })

  test.each([
    ['2026-03-28T23:30[Europe/Berlin]', '2026-03-28'],
    ['2026-10-25T00:15[Europe/Berlin]', '2026-10-25'],
  ])('previews the day of %s, although a clock change makes a day shorter or longer', async (time, day) => {
    await using stage = await openOperations()
    const now = Temporal.ZonedDateTime.from(time).epochMilliseconds
    const { deps } = stage.another({ clock: { ...stage.clock, now: () => now } })
    await setDigest(deps, { kind: 'daily', weekday: null, minute: 0, zone: 'Europe/Berlin' }, lin())
    const preview = await previewDigest(deps, lin())
    expect(preview).toMatchObject({ kind: 'preview', view: { firstDay: day, lastDay: day } })
  })

  test('by a person who may not subscribe sets nothing', async () => {
    const permits: StageDeps['permits'] = async (right) =>
      right === 'read' ? { kind: 'yes' } : { kind: 'no', why: 'guest', who: [] }
    const stage = await open({ permits })
    expect(await stage.type('digest daily 9:00')).toContain('*Not allowed*')
    expect(await stage.type('digest off')).toContain('*Not allowed*')
    expect(await stage.kept()).toBeNull()
  })

  test('uses UTC if Slack gives no time zone', async () => {
    const stage = await open({ timeZoneOf: async () => 'UTC' })
    expect(await stage.type('digest daily 9:00')).toContain('every day at 9:00 (UTC)')
  })

  test("previews the digest with today's builds for the requester only", async () => {
    const stage = await open()
    await restartedUntilGreen(stage)
    const shown = await stage.type('digest now')
    expect(shown).toMatch(/^:bar_chart: \*acme\/web builds, 24 February – 2 March\*\n2 builds · 50% passed/)
    expect(shown).toMatch(/\*Flaky\*\n• acme\/web `main`: 1 of 1 commit \(100%\), 1 min lost to reruns/)
    await stage.type('digest daily 9:00')
    expect(await stage.type('digest now')).toMatch(/^:bar_chart: \*acme\/web builds, Monday 2 March\*/)
    expect(stage.behind.said).toHaveLength(1)
  })

  test('counts a red branch as red up to now in a preview, and not until midnight', async () => {
    const stage = await open()
    await stage.behind.ended('error')
    await stage.behind.rest(30 * 60_000)
    expect(await stage.type('digest now')).toContain('*Red the longest*\n• acme/web `main`: 31 min\n')
  })
})
