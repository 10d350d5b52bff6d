import { expect, test } from 'vitest'
import type { Sent, Failure } from '../../../src/slack/notifier.ts'
import { openPeopleStage } from '../kit/people-stage.ts'
import { ada, BUILDS } from '../kit/stage.ts'

test.each<[does: string, Sent | Failure]>([
  ['takes', { kind: 'sent', ts: '1.000001' as Sent['ts'] }],
  ['refuses', { kind: 'unclear', code: 'x' }],
])(
  'a write that has ended is one line for its channel; its requester is answered also if Slack %s that',
  async (_, ended) => {
    const said: string[] = []
    const sendText = async (to: string, text: string) => (said.push(`${to} ${text}`), ended)
    const { slack, untilForm } = await openPeopleStage({ sendText })
    await slack.people.runCommand({
      user: ada,
      channel: BUILDS,
      command: '/ci',
      text: 'project reset-aes-key acme/ios',
    })
    await untilForm('reset:name')
    await slack.people.submitView({ user: ada, values: { 'reset:name': { value: { value: 'acme/ios' } } } })
    await untilForm('AES key reset')
    await expect.poll(() => said).toEqual([`${BUILDS} :key: <@${ada}> reset the AES key of *acme/ios*.`])
  },
)
