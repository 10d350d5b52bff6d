import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { openStage, send, sendAll, settled, WEBHOOK_SECRET } from '../../support/app.ts'
import { type, untilAnswered } from '../../support/world.ts'
import { openPeopleStage, restartedUntilGreen } from '../kit/people-stage.ts'

describe('/ci flaky', () => {
  test('lists tests that passed when their commit was built again, and no test that fails on', async () => {
    const stage = await openStage({ settings: { DEFAULT_CHANNEL: CHANNELS.builds }, slack: { rates: 'off' } })
    stage.slack.connectBot(`${stage.app.url}/slack/events`)
    const fail = async (build_id: number, report: object, ...names: readonly string[]) => {
      await sendAll(stage.app.url, { build_id, status: 'error' })
      const build = { project_id: 11, build_id, project_name: 'acme/web', branch: 'main' }
      const failures = names.map((name) => ({ name, message: `${name} went wrong` }))
      const body = { build, report: { tests: 412, failed: names.length, failures, ...report } }
      await send(stage.app.url, body, { path: `/webhooks/reports/${WEBHOOK_SECRET}` })
    }
    await fail(512, { flaky_tests: ['Search › finds'] }, 'CartTest › sums', 'LoginTest › redirects', 'Prices › round')
    await fail(513, {}, 'Prices › round')
    await settled(stage.app.url)
    await type(stage, PEOPLE.ada, '/ci flaky')
    const { text } = await untilAnswered(stage, PEOPLE.ada, ['acme/web'])
    const names = ['CartTest › sums', 'LoginTest › redirects', 'Search › finds']
    expect(text).toContain(names.map((name) => `• ${name} (acme/web): 1 commit`).join('\n'))
    expect(text).not.toContain('Prices')
    for (const command of ['subscribe acme/web failed details none', 'flaky'])
      await type(stage, PEOPLE.ada, `/ci ${command}`)
    await untilAnswered(stage, PEOPLE.ada, ['*Nothing flaky*'])
  })

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
