import { endWords, offWords } from '../features/doctor/messages.ts'
import { existsSync } from 'node:fs'
import * as z from 'zod'
import { createSubscriptions } from '../projects/named-sources.ts'
import { createTransport } from '../sources/http/transport.ts'
import { createClients, createHostedClients } from '../runtime/clients.ts'
import { readConfig, type Config, secretsOf } from '../config/config.ts'
import { withEnvFile, type Environment } from '../config/environment.ts'
import { secretForms, withoutForms } from '../http/logger.ts'
import { systemClock } from '../lib/clock.ts'
import { forTerminal } from '../lib/escape.ts'
import { examine, type Found } from '../features/doctor/examine.ts'
import { describedFeatures } from '../features/features.ts'
import { type Receiving, type Verdict, IN_PLAIN_TEXT } from '../features/kit/check.ts'
import { createSlackExaminer } from '../slack/api/examiner.ts'
import { freeBytesOf, openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

/**
 * Checks the settings, Slack, CI and the database, and prints each finding with its remedy. The bot may run meanwhile.
 * It changes only one row in the database: when it last looked. No line contains a secret.
 * @returns the exit code: 0 if nothing is wrong, else 1
 */
export async function runDoctor(env: Environment, print: (line: string) => void): Promise<0 | 1> {
  const reading = readConfig(withEnvFile(env))
  if (reading.kind === 'faults') {
    for (const fault of reading.faults) print(forTerminal(`${MARKS.wrong} Settings: ${fault}`))
    return 1
  }
  const { config } = reading
  const findings = await findingsWith(config)
  const forms = secretForms(secretsOf(config))
  const show = (line: string) => print(forTerminal(withoutForms(line, forms)))
  for (const finding of findings) for (const line of linesOf(finding)) show(line)
  const notSetUp = offWords(findings)
  if (notSetUp !== '') show(`${MARKS.off} Not set up: ${notSetUp}`)
  show(endWords(findings))
  return findings.some(({ verdict }) => verdict === 'wrong') ? 1 : 0
}

async function findingsWith(config: Config): Promise<readonly Found[]> {
  const clock = systemClock
  const transport = createTransport({ clock })
  const store = await open(config)
  const log = { warn: () => {} }
  const subscriptions = createSubscriptions({ fixed: config.subscriptions, store, clock, log })
  const { botToken: token, appToken, apiUrl } = config.slack
  try {
    const deps = {
      clock,
      log,
      config,
      slack: createSlackExaminer({ token, appToken, apiUrl, clock }),
      store,
      freeBytes: freeBytesOf(config.database),
      subscriptions,
      webhookSecrets: config.webhookSecrets,
      receiving: () => askReadyz(config),
      ...createClients(config.ci, transport),
      ...createHostedClients(config, transport),
    }
    const { findings } = await examine(deps, IN_PLAIN_TEXT, describedFeatures().checks)
    return findings
  } finally {
    await Promise.all([store?.close(), transport.close()])
  }
}

const READYZ_MS_MAX = 2_000
const READYZ = z.looseObject({ signatures: z.object({ wrong: z.int() }).optional(), socket: z.string().optional() })

/** Asks the running bot at /readyz. If no bot answers, nothing is known. */
async function askReadyz({ host, port, metricsPort }: Config): Promise<Receiving> {
  // In a URL, an IPv6 address is in brackets.
  const name = host?.includes(':') ? `[${host}]` : (host ?? '127.0.0.1')
  const url = `http://${name}:${metricsPort ?? port}/readyz`
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(READYZ_MS_MAX) })
    const { signatures, socket = 'ok' } = READYZ.parse(await response.json())
    return { wrongSignatures: signatures?.wrong ?? 0, socketTrouble: socket === 'ok' ? null : socket }
  } catch {
    return { wrongSignatures: 0, socketTrouble: null }
  }
}

/** Null if the bot has not created its SQLite file yet: opening it would create an empty one. */
const open = async ({ database }: Config): Promise<Store | null> =>
  database.kind === 'sqlite' && !existsSync(database.path) ? null : openStore(database)

const MARKS: Record<Verdict, string> = { fine: 'ok   ', wrong: 'WRONG', unsure: '?    ', off: '-    ' }

function linesOf({ verdict, title, what, remedy }: Found): string[] {
  if (verdict === 'off') return []
  const said = `${MARKS[verdict]} ${title}: ${what}`
  return remedy === null ? [said] : [said, `      → ${remedy}`]
}
