import { expect, it, onTestFinished } from 'vitest'
import { createSendText } from '../../../src/slack/api/send-text.ts'
import { MESSAGE_TEXT_CHARS_MAX } from '../../../src/slack/messages/limits.ts'
import { createSandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'

const { builds: BUILDS, archived: ARCHIVED, elsewhere: ELSEWHERE } = CHANNELS

async function openSlack() {
  const slack = createSandboxSlack({ rates: 'off' })
  await slack.start()
  onTestFinished(() => slack.stop())
  const say = createSendText({ token: slack.botToken, apiUrl: slack.apiUrl, timeoutMs: 300 })
  const saidIn = (channel: string) => slack.messages(channel).map(({ text }) => text)
  return { slack, say, saidIn }
}

it('a text is posted in a channel, or sent to a person directly', async () => {
  const { slack, say, saidIn } = await openSlack()
  expect(await say(BUILDS, 'this channel follows acme/web')).toMatchObject({ kind: 'sent', ts: expect.any(String) })
  expect(await say(PEOPLE.ada, 'it is archived')).toMatchObject({ kind: 'sent' })
  expect(saidIn(BUILDS)).toEqual(['this channel follows acme/web'])
  expect(saidIn(`D${PEOPLE.ada.slice(1)}`)).toEqual(['it is archived'])
  expect(slack.counters.calls('chat.postMessage')).toBe(2)
})

it('a text may be as long as a message, and is cut beyond that', async () => {
  const { say, saidIn } = await openSlack()
  await say(BUILDS, 'x'.repeat(MESSAGE_TEXT_CHARS_MAX))
  await say(BUILDS, 'x'.repeat(MESSAGE_TEXT_CHARS_MAX + 1))
  expect(saidIn(BUILDS)).toEqual(['x'.repeat(MESSAGE_TEXT_CHARS_MAX), `${'x'.repeat(MESSAGE_TEXT_CHARS_MAX - 1)}…`])
})

it.each([
  [ARCHIVED, { kind: 'channel-closed', code: 'is_archived' }],
  [ELSEWHERE, { kind: 'channel-closed', code: 'not_in_channel' }],
  ['C0NOWHERE1', { kind: 'channel-closed', code: 'channel_not_found' }],
])('say returns the reason why %s does not accept a message', async (channel, failure) => {
  const { say } = await openSlack()
  expect(await say(channel, 'hello')).toEqual(failure)
})

it('a text is sent only once, whatever the outcome', async () => {
  const { slack, say } = await openSlack()
  slack.faults.add({ kind: 'ratelimited', retryAfterS: 3, times: 1 })
  expect(await say(BUILDS, 'one')).toEqual({ kind: 'rate-limited', code: 'ratelimited', retryAfterMs: 3_000 })
  slack.faults.add({ kind: 'accept-then-drop', times: 1 })
  expect(await say(BUILDS, 'two')).toMatchObject({ kind: 'unclear' })
  expect(slack.messages(BUILDS)).toHaveLength(1)
})
