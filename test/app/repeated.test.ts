import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { delivery, openStage, rowsOf, send, settled, until, WEBHOOK_SECRET, type Stage } from '../support/app.ts'

const STARTED = delivery()
const PASSED = delivery({ status: 'success' })

/** Sends a delivery and closes the connection before the answer. */
async function sendAndHangUp({ app, folder }: Stage, body: unknown): Promise<void> {
  const { port } = new URL(app.url)
  const text = JSON.stringify(body)
  const head = [
    `POST /webhooks/builds/${WEBHOOK_SECRET} HTTP/1.1`,
    'host: bot',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ]
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.resetAndDestroy())
  await until('it is stored', () => rowsOf(folder, 'select 1 from fact').length === 1)
}

const acknowledged = ({ folder }: Stage) => rowsOf(folder, 'select acknowledged from fact order by seq')

const openFollowed = () => openStage({ settings: { DEFAULT_CHANNEL: CHANNELS.builds } })

async function cardOf({ app, slack }: Stage): Promise<string> {
  await settled(app.url)
  return messagesIn(slack, CHANNELS.builds)[0]!.text
}

test("a delivery that is repeated after the build's end, because its answer was lost, is no restart", async () => {
  const stage = await openFollowed()
  const { url } = stage.app
  await sendAndHangUp(stage, STARTED)
  expect(await send(url, PASSED)).toMatchObject({ status: 202, text: '{"status":"recorded"}' })
  expect(await send(url, STARTED)).toMatchObject({ status: 202, text: '{"status":"duplicate"}' })
  expect(await cardOf(stage)).toMatch(/passed/i)
  await until('the answers are noted', () => acknowledged(stage).every((row) => row['acknowledged'] === 1))
  // The repetition got its answer: from now on, the same delivery is a restart.
  expect(await send(url, STARTED)).toMatchObject({ status: 202, text: '{"status":"recorded"}' })
  expect(await cardOf(stage)).toMatch(/running/i)
})

test('a delivery with more details than the one whose answer was lost is recorded', async () => {
  const stage = await openFollowed()
  const { url } = stage.app
  await sendAndHangUp(stage, STARTED)
  await send(url, PASSED)
  const again = delivery({ started_at: '2026-01-02T03:04:05Z' })
  expect(await send(url, again)).toMatchObject({ status: 202, text: '{"status":"recorded"}' })
  expect(await cardOf(stage)).toMatch(/running/i)
})
