import { expect, it } from 'vitest'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { buildOf, prepareStage, sendAll, until } from '../support/app.ts'
import { startProcess } from '../support/process.ts'
import { headlines } from './channel.ts'

const LOADED = 'the Slack endpoint is loaded'

it('the code that answers clicks is loaded after the first card was posted, and not before', async () => {
  const settings = { DEFAULT_CHANNEL: CHANNELS.builds, LOG_LEVEL: 'debug' }
  const { folder, settings: all, slack } = await prepareStage({ settings })
  const bot = startProcess(folder, all)
  // Longer than loading may take.
  slack.faults.add({ kind: 'slow', ms: 1_500, method: 'chat.postMessage', times: 1 })
  await sendAll(await bot.url(), buildOf(1, { status: 'error' }))
  await until('nobody has pressed, and it is loaded', () => bot.output().includes(LOADED))
  expect(headlines(slack, CHANNELS.builds)).toEqual(['Failed acme/web #1'])
  const lines = bot.output().split('\n')
  const [told, loaded] = ['"outcome":"sent"', LOADED].map((text) => lines.findIndex((line) => line.includes(text)))
  expect(told).toBeGreaterThan(-1)
  expect(loaded).toBeGreaterThan(told!)
})
