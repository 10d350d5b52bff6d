import { createSandboxCi } from './server.ts'
import type { SandboxCi, SandboxCiOptions } from './server.ts'
import { parseJson } from '../../lib/json.ts'
import { changeSwitches, defaultSwitches } from './switches.ts'
import type { Switches } from './switches.ts'
import { giveUp, openPort, readFlags, readPort } from '../../lib/program.ts'

/** `npm run sandbox:ci` starts only the sandbox CI service. It prints what a client needs as JSON lines. */
const PORT_DEFAULT = 4010

const values = readFlags({
  port: { type: 'string', default: process.env['PORT'] ?? String(PORT_DEFAULT) },
  host: { type: 'string', default: process.env['HOST'] ?? '127.0.0.1' },
  'webhook-url': { type: 'string', default: process.env['WEBHOOK_URL'] ?? '' },
  seed: { type: 'string', default: process.env['SEED'] ?? '1' },
  switches: { type: 'string', default: process.env['SWITCHES'] ?? '{}' },
})

const ci = createSandboxCi(readOptions())
await openPort(readPort(values.port), (port) => ci.start(port, values.host))
for (const line of introduction(ci)) console.log(JSON.stringify(line))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void ci.stop())

function readOptions(): SandboxCiOptions {
  const webhookUrl = values['webhook-url'] === '' ? {} : { webhookUrl: values['webhook-url'] }
  return { seed: Number(values.seed), switches: readSwitches(values.switches), ...webhookUrl }
}

function readSwitches(text: string): Switches {
  const parsed = parseJson(text)
  if (parsed.kind === 'not-json') return giveUp('--switches is not JSON')
  const changed = changeSwitches(defaultSwitches(), parsed.value)
  if (changed.kind === 'invalid') return giveUp(`--switches: ${changed.reasons.join('; ')}`)
  return changed.switches
}

function introduction(started: SandboxCi): object[] {
  const address = started.address()
  return [
    { sandbox: 'ci', url: started.url, control: `${started.url}/sandbox` },
    { CI_BASE_URL: address.baseUrl, CI_LEGACY_BASE_URL: address.legacyBaseUrl, CI_SITE_URL: address.siteUrl },
    { CI_ORGANIZATION_UUID: address.organizationUuid },
    { CI_AUTHORIZATION: address.authorization, CI_API_KEY: address.apiKey },
    { CI_TOKEN_URL: address.tokenUrl, CI_CLIENT_ID: address.clientId, CI_CLIENT_SECRET: address.clientSecret },
    { switches: started.switches() },
  ]
}
