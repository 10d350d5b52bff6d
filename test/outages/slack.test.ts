import { describe, expect, it, onTestFinished } from 'vitest'
import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { BUILDS, headlines } from '../app/channel.ts'
import { openStage, prepareStage, sendAll, settingsWith, settled, startApp, testFolder, until } from '../support/app.ts'
import { openGate, type Gate } from './gate.ts'
import { IS_LONG, readyAt, redBuild, sendRed, SOON_MS, untilTold } from './team-at-door.ts'

/** From Slack's return to the first message, with a margin unless the machine is reserved for this. */
const FIRST_MAX_MS = IS_LONG ? 2_000 : 20_000

/** After a short hang, the call in flight still blocks its channel until its timeout. */
const CALL_MAX_MS = 10_000

interface Way {
  slack: SandboxSlack
  gate: Gate
}

const KINDS: readonly [name: string, go: (way: Way) => void, comeBack: (way: Way) => void, firstMaxMs?: number][] = [
  ['refuses connections', ({ gate }) => gate.refuse(), ({ gate }) => gate.open()],
  ['never answers', ({ gate }) => gate.swallow(), ({ gate }) => gate.open(), FIRST_MAX_MS + CALL_MAX_MS],
  ['answers 503', ({ slack }) => slack.faults.add({ kind: '5xx' }), ({ slack }) => slack.faults.clear()],
  [
    'does it and answers 500',
    ({ slack }) => slack.faults.add({ kind: 'accept-then-5xx' }),
    ({ slack }) => slack.faults.clear(),
  ],
]

describe.each(IS_LONG ? KINDS : KINDS.slice(0, 1))('a Slack that %s', (_, go, comeBack, firstMaxMs = FIRST_MAX_MS) => {
  it('is named by /readyz, holds up no delivery, and gets every build once when it is back, with its newest state', async () => {
    const stage = await prepareStage({ slack: { rates: { timeScale: 20 } } })
    const gate = await openGate({ host: '127.0.0.1', port: Number(new URL(stage.slack.url).port) })
    const { slack } = stage
    const app = await startApp({
      ...stage.settings,
      DEFAULT_CHANNEL: BUILDS,
      SLACK_API_URL: `http://127.0.0.1:${gate.port}/api/`,
    })
    onTestFinished(() => app.stop())
    expect(await sendRed(app.url, [1])).toEqual([1])
    await untilTold(slack, [1])
    go({ slack, gate })
    const late = [2, 3, 4, 5, 6, 7]
    for (const n of late) await sendAll(app.url, { ...redBuild(n), status: 'initiated' })
    expect(await sendRed(app.url, late)).toEqual(late)
    const ready = await until(
      'it is named',
      async () => {
        const said = await readyAt(app.url)
        return said.status === 503 && said
      },
      SOON_MS,
    )
    expect(ready).toMatchObject({ store: 'ok', wrong: [expect.stringContaining('Slack')] })
    const before = slack.counters.snapshot().writes
    comeBack({ slack, gate })
    const backAt = performance.now()
    await until(
      'the first message is there',
      () => JSON.stringify(slack.counters.snapshot().writes) !== JSON.stringify(before),
      firstMaxMs,
    )
    expect(performance.now() - backAt).toBeLessThan(firstMaxMs + 500)
    await untilTold(slack, [1, ...late])
    await settled(app.url, SOON_MS)
    await untilTold(slack, [1, ...late])
  }, 150_000)
})

describe('a Slack whose name does not resolve', () => {
  it('is named by /readyz, and every delivery is accepted', async () => {
    const folder = testFolder()
    const app = await startApp(
      settingsWith(folder, { DEFAULT_CHANNEL: BUILDS, SLACK_API_URL: 'http://slack.invalid/api/' }),
    )
    onTestFinished(() => app.stop())
    expect(await sendRed(app.url, [1, 2, 3, 4])).toHaveLength(4)
    const said = await until('it is named', async () => (await readyAt(app.url)).wrong, SOON_MS)
    expect(said.join()).toMatch(/Slack does not answer properly \((?:ENOTFOUND|EAI_AGAIN)\)/)
  }, 60_000)
})

it('a Slack that works gets messages at once, and nothing is reported', async () => {
  const { app, slack } = await openStage({ settings: { DEFAULT_CHANNEL: BUILDS } })
  await sendRed(app.url, [1])
  await untilTold(slack, [1])
  expect(await readyAt(app.url)).toMatchObject({ status: 200, slack: 'ok' })
  expect(headlines(slack, BUILDS)).toHaveLength(1)
})
