import { describe, expect, it, onTestFinished } from 'vitest'
import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { createChannel } from '../../packages/sandbox-slack/src/workspace.ts'
import type { Build } from '../support/app.ts'
import { buildOf, delivery, prepareStage, send, settled } from '../support/app.ts'
import { startProcess, type Process } from '../support/process.ts'
import { headline, saidIn } from './channel.ts'

const BUILDS = 30
const CHANNELS = Array.from({ length: 10 }, (_, n) => `C0BURST00${n}`)

/**
 * How many messages and edits Slack has accepted when the process is killed, before it gets the answer. The kill sweep
 * tests more moments.
 */
const POINTS = [1, 7, 22, 47]

const SETTLED_MS_MAX = 100_000

describe('a process that is killed during a burst', () => {
  it(
    `after ${POINTS.join(', ')} messages and edits loses nothing, duplicates nothing and ends up right`,
    async () => {
      const faults = await Promise.all(POINTS.map(async (point) => [point, await survive(point)] as const))
      expect(Object.fromEntries(faults.filter(([, found]) => found.length > 0))).toEqual({})
    },
    SETTLED_MS_MAX + 50_000,
  )
})

const builds = Array.from({ length: BUILDS }, (_, n) => n + 1)
const projectOf = (n: number): number => n % CHANNELS.length
const startOf = (n: number): Build =>
  buildOf(n, {
    status: 'initiated',
    branch: `b${n}`,
    project_id: projectOf(n) + 1,
    project_name: `acme/p${projectOf(n)}`,
  })
const endOf = (n: number): Build => ({ ...startOf(n), status: n % 2 === 0 ? 'success' : 'error' })
const told = (n: number): string => `${n % 2 === 0 ? 'Passed' : 'Failed'} acme/p${projectOf(n)} #${n}`

/** One burst with one kill. @returns everything that is wrong in the end */
async function survive(point: number): Promise<string[]> {
  const subscriptions = CHANNELS.map((channel, n) => `{ channel: ${channel}, project: acme/p${n} }`)
  const { folder, settings, slack } = await prepareStage({ subscriptions, settings: { LOG_LEVEL: 'info' } })
  for (const id of CHANNELS)
    slack.workspace.channels.set(id, createChannel(id, id.toLowerCase(), [slack.workspace.bot.userId]))
  const first = startProcess(folder, settings)
  const url = await first.url()
  killAfter(slack, first, point)
  // A sender without an answer sends again.
  const unanswered = [...(await sendOrKeep(url, builds.map(startOf))), ...(await sendOrKeep(url, builds.map(endOf)))]
  // If there are fewer writes than this point needs, the process is killed when it has finished.
  settled(url, SETTLED_MS_MAX).then(
    () => first.kill('SIGKILL'),
    () => {},
  )
  await first.exit
  const second = startProcess(folder, settings)
  const lost = await sendOrKeep(await second.url(), unanswered)
  await settled(await second.url(), SETTLED_MS_MAX)
  return [...lost.map(() => 'a delivery that nobody took'), ...wrongIn(slack)]
}

function killAfter(slack: SandboxSlack, bot: Process, point: number): void {
  let writes = 0
  const off = slack.workspace.changes.on((change) => {
    if ('byBot' in change && change.byBot && ++writes === point) bot.kill('SIGKILL')
  })
  onTestFinished(off)
}

/** Sends everything at once. @returns what was not answered with 202 */
async function sendOrKeep(url: string, said: readonly Build[]): Promise<Build[]> {
  const answers = await Promise.all(
    said.map((build) =>
      send(url, delivery(build)).then(
        ({ status }) => status === 202,
        () => false,
      ),
    ),
  )
  return said.filter((_, n) => !answers[n])
}

function wrongIn(slack: SandboxSlack): string[] {
  const expected = builds.map(told)
  const cards = CHANNELS.flatMap((channel) => saidIn(slack, channel))
  const said = cards.map(({ text }) => headline(text))
  const count = (line: string) => said.filter((other) => other === line).length
  return [
    ...expected.filter((line) => count(line) !== 1).map((line) => `${count(line)} × ${line}`),
    ...said.filter((line) => !expected.includes(line)).map((line) => `unexpected: ${line}`),
    ...cards
      .filter(({ replies }) => replies.length > 1)
      .map(({ text, replies }) => `${replies.length} replies: ${headline(text)}`),
  ]
}
