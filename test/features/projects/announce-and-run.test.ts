import { expect, test } from 'vitest'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada, BUILDS } from '../kit/stage.ts'

test('a write is announced to the requester, who is answered at once, if Slack takes no more in the channel', async () => {
  const { slack, untilForm } = await openPeopleStage()
  await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'project reset-aes-key acme/ios' })
  await untilForm('reset:name')
  slack.faults.add({ kind: 'ratelimited', method: 'chat.postMessage', channel: BUILDS, retryAfterS: 60 })
  await slack.people.submitView({ user: ada, values: { 'reset:name': { value: { value: 'acme/ios' } } } })
  await untilForm('AES key reset')
  expect(slack.counters.calls('chat.postMessage', 'ok')).toBeGreaterThan(0)
  expect(slack.messages(BUILDS)).toEqual([])
})
