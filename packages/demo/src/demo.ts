import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { listenFault } from '../../../src/http/http-server.ts'
import { createSandboxSlack, type SandboxSlack } from '../../sandbox-slack/src/sandbox-slack.ts'
import { COMMAND_HINTS } from './demo/hints.ts'
import { openAddress } from './demo/open-address.ts'
import { playRound } from './demo/round.ts'
import { GOLDEN, keptGallery } from './gallery/site.ts'
import { SERVICES } from './service/services.ts'
import { giveUp, openPort, readFlags, readPort } from '../../lib/program.ts'

// npm run demo: the sandbox CI, a sandbox Slack with a page, and the bot between them; `-- --source github` puts the sandbox
// GitHub in place of the CI. `-- --once` plays it headless, prints what each channel shows, compares that with what CI did
// and what people asked for, and exits 0 or 1. `-- --quiet` plays nothing by itself, `-- --no-open` opens no browser.

const PORT_DEFAULT = 4100

const values = readFlags({
  once: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  port: { type: 'string' },
  folder: { type: 'string' },
  source: { type: 'string', default: 'ci' },
  'no-open': { type: 'boolean', default: false },
})

const createService =
  SERVICES.get(values.source) ?? giveUp(`--source must be one of ${[...SERVICES.keys()].join(', ')}`)

const WORKSPACE = { hints: COMMAND_HINTS, gallery: keptGallery(GOLDEN) }

async function demo(): Promise<number> {
  const interrupted = untilInterrupted()
  let slack = createSandboxSlack(WORKSPACE)
  const port = await openPage(slack)
  if (!values.once && !values['no-open']) openAddress(slack.url, surroundings())
  const round = { folder: values.folder ?? folderOf(port), isOnce: values.once, clock, interrupted }
  for (let [isPlayed, ciPort] = [values.once || !values.quiet, 0]; ;) {
    const end = await playRound({ ...round, slack, ci: createService(), isPlayed, ciPort })
    if (end.kind === 'over') return end.code
    ;({ isPlayed, ciPort } = end)
    console.log('\nThe demo starts again, with an empty database.\n')
    slack = createSandboxSlack(WORKSPACE)
    // At the same address, for people who have the page open.
    await slack.start(port)
  }
}

/** Opens the page's port. If the default port is taken, another one is used. */
async function openPage(slack: SandboxSlack): Promise<number> {
  if (values.once) await slack.start(0)
  else if (values.port !== undefined) await openPort(readPort(values.port), (port) => slack.start(port))
  else await slack.start(PORT_DEFAULT).catch(async (error: unknown) => elsewhere(slack, error))
  return Number(new URL(slack.url).port)
}

async function elsewhere(slack: SandboxSlack, error: unknown): Promise<void> {
  const fault = listenFault(error, PORT_DEFAULT)
  if (fault === null) throw error
  console.log(`It takes another port for the page: ${fault}, perhaps another demo.`)
  await slack.start(0)
}

const DATA = join(import.meta.dirname, '..', '..', '..', 'data')

/** Two demos at once must not write over each other's database. */
function folderOf(port: number): string {
  if (values.once) return mkdtempSync(join(tmpdir(), 'buildline-demo-'))
  return join(DATA, port === PORT_DEFAULT ? 'demo' : `demo-${port}`)
}

const surroundings = () => ({
  platform: process.platform,
  env: process.env,
  isTerminal: process.stdout.isTTY,
})

function untilInterrupted(): AbortSignal {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())
  return interrupted.signal
}

process.exit(await demo())
