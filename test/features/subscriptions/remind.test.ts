import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { readSubscribe } from '../../../src/features/subscriptions/subscribe-input.ts'
import { parseTyped } from '../../../src/slack/commands/parse.ts'
import { HOUR, MINUTE } from '../../support/build-events.ts'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada, BUILDS } from '../kit/stage.ts'

/** acme/web is known by a build. */
async function open() {
  const stage = await openPeopleStage()
  await stage.behind.ended('error')
  return {
    ...stage,
    openForm: async () => {
      await stage.slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'subscribe' })
      await stage.untilForm('subscribe_remind')
    },
    kept: () => stage.store.read.subscriptions(),
  }
}

const WORKDAY = { fromHour: 9, toHour: 18, days: 'weekdays', zone: 'Europe/Berlin' }

describe('/ci subscribe … remind', () => {
  test("uses the requester's time zone from Slack, shows it in /ci rules, and can be turned off", async () => {
    const stage = await open()
    const words = 'reminds after 2 h (9–18 on weekdays, Europe/Berlin)'
    await stage.type('subscribe acme/web changes remind 2h')
    expect(await stage.kept()).toMatchObject([{ remind: { ...WORKDAY, afterMs: 2 * HOUR } }])
    expect(await stage.type('rules')).toContain(words)
    expect(await stage.type('subscribe acme/web changes remind 2h')).toContain('*Already subscribed*')
    await stage.type('subscribe acme/web changes')
    expect((await stage.kept())[0]?.remind).toBeUndefined()
  })

  const WRONG = [
    ['0', '`0` is not a time from 30m to 7d, such as 2h'],
    ['9y', '`9y` is not a time'],
    ['29m', '`29m` is not a time'],
    ['8d', '`8d` is not a time'],
    ['', 'a reminder needs a time'],
    ['2h 25-3', '`25-3` are not hours from 0 to 24'],
    ['2h 9-9', '`9-9` are not hours'],
    ['2h 8-20 Mars/Olympus', 'there is no time zone `Mars/Olympus`'],
    ['2h europe/berln', 'there is no time zone `europe/berln`'],
  ] as const

  test('that was mistyped says what is wrong, and stores nothing', async () => {
    const stage = await open()
    for (const [words, says] of WRONG)
      expect(await stage.type(`subscribe acme/web changes remind ${words}`), words).toContain(says)
    expect(await stage.kept()).toEqual([])
  })

  test.each<[text: string, remind: object | null, branch: string | null]>([
    ['remind 30m', { ...WORKDAY, afterMs: 30 * MINUTE, zone: null }, null],
    ['main remind 7d daily quiet', { ...WORKDAY, afterMs: 168 * HOUR, days: 'daily', zone: null }, 'main'],
    ['remind 2h release/*', { ...WORKDAY, afterMs: 2 * HOUR, zone: null }, 'release/*'],
    [
      'remind 1d 22-6 europe/berlin daily main',
      { afterMs: 24 * HOUR, fromHour: 22, toHour: 6, days: 'daily', zone: 'Europe/Berlin' },
      'main',
    ],
    ['remind 2h poland', { ...WORKDAY, afterMs: 2 * HOUR, zone: null }, 'poland'],
    ['remind 2h utc', { ...WORKDAY, afterMs: 2 * HOUR, zone: 'UTC' }, null],
    ['remind 2h @Mars/Olympus', { ...WORKDAY, afterMs: 2 * HOUR, zone: null }, 'Mars/Olympus'],
    ['remind off main', null, 'main'],
    ['@remind', null, 'remind'],
  ])('%s', (text, remind, branch) => {
    expect(readSubscribe(parseTyped(`acme/web ${text}`))).toMatchObject({ kind: 'wish', input: { remind, branch } })
  })
})

describe('the form of a subscription', () => {
  const send = ({ slack }: Awaited<ReturnType<typeof open>>, remind: string, hours: string) =>
    slack.people.submitView({
      user: ada,
      values: {
        subscribe_project: { subscribe_project: { selected_option: { value: 'acme/web' } } },
        subscribe_remind: { subscribe_remind: { selected_option: { value: remind } } },
        subscribe_hours: { subscribe_hours: { value: hours } },
      },
    })

  test('has reminders: off, after some time, and their hours; errors are at their field', async () => {
    const stage = await open()
    await stage.openForm()
    for (const [hours, says] of [
      ['25-3', '25-3 are not hours'],
      ['8-20 Mars/Olympus', 'there is no time zone Mars/Olympus'],
      ['8-20 whenever', 'whenever is neither days'],
    ])
      expect(await send(stage, '4h', hours!)).toMatchObject({
        errors: { subscribe_hours: expect.stringContaining(says!) },
      })
    await send(stage, '4h', '20-8 daily UTC')
    await stage.untilForm('*Subscribed* to')
    expect(await stage.kept()).toMatchObject([
      { remind: { afterMs: 4 * HOUR, fromHour: 20, toHour: 8, days: 'daily', zone: 'UTC' } },
    ])
  })

  test('submitted unchanged sets no reminder', async () => {
    const stage = await open()
    await stage.openForm()
    await send(stage, 'off', '')
    await stage.untilForm('*Subscribed* to')
    expect((await stage.kept()).map(({ remind }) => remind)).toEqual([undefined])
  })
})

describe('a subscriptions file', () => {
  const read = (words: string) =>
    readConfig(
      {
        SLACK_BOT_TOKEN: 'xoxb-1',
        SLACK_SIGNING_SECRET: 'signing',
        WEBHOOK_SECRET: 'the-secret-of-the-door',
        SUBSCRIPTIONS_FILE: 's.yml',
      },
      () => `subscriptions: [{ channel: C0BUILDS01, project: all, remind: ${words} }]`,
    )

  test('has reminders in the same words, in UTC by default', () => {
    expect(read('2h')).toMatchObject({
      config: { subscriptions: [{ remind: { ...WORKDAY, afterMs: 2 * HOUR, zone: 'UTC' } }] },
    })
    expect(read('1d 22-6 daily Europe/Berlin')).toMatchObject({
      config: { subscriptions: [{ remind: { fromHour: 22, toHour: 6, days: 'daily', zone: 'Europe/Berlin' } }] },
    })
    expect(read('2h 25-3')).toMatchObject({
      faults: [expect.stringContaining('subscriptions[0].remind: 25-3 are not hours')],
    })
  })
})
