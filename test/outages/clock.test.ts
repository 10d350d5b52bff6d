import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { BUILDS, headline, headlines, saidIn } from '../app/channel.ts'
import { buildOf, prepareStage, sendAll, settled, until } from '../support/app.ts'
import { HOUR } from '../support/build-events.ts'
import { startProcess } from '../support/process.ts'
import { doorsOf, IS_LONG, redBuild as red, SOON_MS } from './team-at-door.ts'

const SET_CLOCK = fileURLToPath(new URL('set-clock.ts', import.meta.url))

/** The real process on a machine whose clock the test can set. */
async function startOnMachine() {
  const stage = await prepareStage({ settings: { DEFAULT_CHANNEL: BUILDS, LOG_LEVEL: 'info' } })
  const file = join(stage.folder, 'ahead')
  const settings = { ...stage.settings, NODE_OPTIONS: `--import=${SET_CLOCK}`, CLOCK_FILE: file }
  const bot = startProcess(stage.folder, settings)
  const setClock = (aheadMs: number) => {
    writeFileSync(file, String(aheadMs))
    bot.kill('SIGUSR2')
  }
  return { ...stage, url: await doorsOf(bot), setClock }
}

describe.each([
  ['forward', HOUR, IS_LONG, true],
  ['back', -HOUR, true, IS_LONG],
])('a clock that is set %s by an hour', (_, aheadMs, goesOn, isFound) => {
  it.runIf(goesOn)(
    'stops nothing and duplicates nothing: builds, edits and jobs continue',
    async () => {
      const { slack, url, setClock } = await startOnMachine()
      await sendAll(url, buildOf(1), buildOf(2), red(3))
      await settled(url, SOON_MS)
      // Both queues were used in this second, and one of them has to wait.
      slack.faults.add({ kind: 'ratelimited', method: 'chat.postMessage', times: 1, retryAfterS: 2 })
      await sendAll(url, red(4))
      await until('Slack has said 429', () => slack.counters.ratelimited() === 1)
      setClock(aheadMs)
      await sendAll(url, buildOf(1, { status: 'success' }), buildOf(2, { status: 'error' }), red(5))
      await settled(url, SOON_MS)
      expect(headlines(slack, BUILDS).toSorted()).toEqual([
        'Failed acme/web #2',
        'Failed acme/web #3',
        'Failed acme/web #4',
        'Failed acme/web #5',
        'Passed acme/web #1',
      ])
      const replied = saidIn(slack, BUILDS).filter(({ replies }) => replies.length > 0)
      expect(replied.map(({ text, replies }) => `${headline(text)}: ${replies.length}`).toSorted()).toEqual([
        'Failed acme/web #2: 1',
        'Passed acme/web #1: 1',
      ])
      // One more is possible if a call arrives late on a busy machine.
      expect(slack.counters.ratelimited()).toBeLessThanOrEqual(3)
      const done = await jobsDone(url)
      await until('the jobs are done again', async () => (await jobsDone(url)) > done, SOON_MS)
    },
    120_000,
  )

  it.runIf(isFound)(
    'lets a message whose answer was lost be found, and not be posted again',
    async () => {
      const { slack, url, setClock } = await startOnMachine()
      slack.faults.add({ kind: 'accept-then-drop', method: 'chat.postMessage', times: 1 })
      slack.faults.add({ kind: '5xx', method: 'conversations.history' })
      await sendAll(url, red(1))
      await until('it is looked for', () => slack.counters.calls('conversations.history') > 0)
      setClock(aheadMs)
      slack.faults.clear()
      await settled(url, SOON_MS)
      slack.faults.add({ kind: 'accept-then-drop', method: 'chat.postMessage', times: 1 })
      await sendAll(url, red(2))
      await settled(url, SOON_MS)
      expect(headlines(slack, BUILDS)).toEqual(['Failed acme/web #1', 'Failed acme/web #2'])
      expect(slack.counters.calls('chat.postMessage')).toBe(2)
    },
    120_000,
  )
})

/** How often this job was done. */
async function jobsDone(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^buildline_jobs_total\{job="confirm-requests",end="done"\} (\d+)/m.exec(metrics)?.[1] ?? 0)
}
