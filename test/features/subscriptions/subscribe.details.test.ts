import { expect, test } from 'vitest'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada, BUILDS } from '../kit/stage.ts'

test('how much of what failed is shown is typed, said again, shown in /ci rules, and chosen in the form', async () => {
  const stage = await openPeopleStage()
  await stage.behind.ended('error')
  const kept = () => stage.store.read.subscriptions()
  expect(await stage.type('subscribe acme/web changes details some')).toContain('Type `details none`')
  expect(await kept()).toEqual([])
  const words = 'names of failures, without messages'
  expect(await stage.type('subscribe acme/web changes details names')).toContain(words)
  expect(await kept()).toMatchObject([{ details: 'names' }])
  expect(await stage.type('rules')).toContain(words)
  expect(await stage.type('subscribe acme/web changes details names')).toContain('*Already subscribed*')
  expect(await stage.type('subscribe acme/web changes')).toContain('no reminders')
  expect((await kept())[0]?.details).toBeUndefined()

  await stage.slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'subscribe' })
  await stage.untilForm('subscribe_details')
  await stage.slack.people.submitView({
    user: ada,
    values: {
      subscribe_project: { subscribe_project: { selected_option: { value: 'acme/web' } } },
      subscribe_details: { subscribe_details: { selected_option: { value: 'none' } } },
    },
  })
  await stage.untilForm('*Subscribed* to')
  expect((await kept()).map(({ details }) => details)).toContain('none')
})
