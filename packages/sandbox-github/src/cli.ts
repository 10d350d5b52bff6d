import { openPort, readFlags, readPort } from '../../lib/program.ts'
import { createSandboxGithub } from './server.ts'

/** Starts only the sandbox GitHub. Prints what a client needs as JSON lines. */
const PORT_DEFAULT = 4020

const values = readFlags({
  port: { type: 'string', default: process.env['PORT'] ?? String(PORT_DEFAULT) },
  host: { type: 'string', default: process.env['HOST'] ?? '127.0.0.1' },
  'webhook-url': { type: 'string', default: process.env['WEBHOOK_URL'] ?? '' },
})

const webhookUrl = values['webhook-url']
const github = createSandboxGithub(webhookUrl === '' ? {} : { webhookUrl })
await openPort(readPort(values.port), (port) => github.start(port, values.host))
const { apiUrl, token, webhookSecret, repositories } = github.address()
for (const line of [
  { sandbox: 'github', url: github.url, control: `${github.url}/sandbox` },
  { GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token, GITHUB_WEBHOOK_SECRET: webhookSecret },
  { GITHUB_REPOSITORIES: repositories.join(',') },
])
  console.log(JSON.stringify(line))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void github.stop())
