import { describe, expect, test } from 'vitest'
import { openPeopleStage, restartedUntilGreen } from '../kit/people-stage.ts'

describe('/ci flaky', () => {
  test('lists branches with commits that passed only on a later attempt', async () => {
    const stage = await openPeopleStage()
    expect(await stage.type('flaky')).toBe(':white_check_mark: *Nothing flaky* in the last 14 days.')
    await restartedUntilGreen(stage)
    await stage.behind.ended('success')
    for (const text of ['flaky', 'flaky 1d', 'flaky acme/web 30d', 'flaky WEB'])
      expect(await stage.type(text)).toMatch(/acme\/web `main`: 1 of 2 commits \(50%\), 1 min lost to reruns/)
  })

  test('leaves out builds older than the period', async () => {
    const stage = await openPeopleStage()
    await restartedUntilGreen(stage)
    await stage.behind.rest(25 * 60 * 60_000)
    expect(await stage.type('flaky 1d')).toContain('*Nothing flaky* in the last day')
    expect(await stage.type('flaky 2d')).toContain('1 of 1 commit')
  })

  test('says since when there is data if the period begins earlier', async () => {
    const stage = await openPeopleStage({ retentionDays: 10 })
    expect(await stage.type('flaky')).toMatch(/Since .*2026-02-20 14:0\d UTC.*, as older builds are not kept/)
    expect(await stage.type('flaky 7d')).not.toContain('Since')
  })

  const WRONG = [
    ['flaky 0d', '`0d` is not a period from `1d` to `90d`'],
    ['flaky 91d', '`91d` is not a period from `1d` to `90d`'],
    ['flaky nowhere', 'No project matches'],
    ['flaky acme/web main 30d', "I didn't expect `main` there"],
    ['flaky ""', 'Which project?'],
  ] as const

  test('that was mistyped says what is wrong', async () => {
    const stage = await openPeopleStage()
    for (const [text, says] of WRONG) expect(await stage.type(text), text).toContain(says)
  })
})
