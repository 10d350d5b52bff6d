import { giveUp, openPort, readFlags, readPort } from '../../lib/program.ts'
import { createSandboxGitlab } from './server.ts'

/** Starts only the sandbox GitLab. Prints what a client needs as JSON lines. */
const PORT_DEFAULT = 4030

const values = readFlags({
  port: { type: 'string', default: process.env['PORT'] ?? String(PORT_DEFAULT) },
  host: { type: 'string', default: process.env['HOST'] ?? '127.0.0.1' },
  prefix: { type: 'string', default: '/gitlab' },
  'webhook-url': { type: 'string', default: process.env['WEBHOOK_URL'] ?? '' },
  'signing-token': { type: 'string', default: '' },
})
const { prefix, 'webhook-url': webhookUrl, 'signing-token': signs } = values
if (!/^(\/[\w.-]+)*$/.test(prefix)) giveUp('--prefix must be empty or a path such as /gitlab')
if (webhookUrl !== '' && !URL.canParse(webhookUrl)) giveUp('--webhook-url is not a valid URL')

const gitlab = createSandboxGitlab({
  prefix,
  ...(webhookUrl === '' ? {} : { webhookUrl }),
  ...(signs === '' ? {} : { signingToken: signs }),
})
await openPort(readPort(values.port), (port) => gitlab.start(port, values.host))
const { url, token, readToken, webhookToken, signingToken, projects } = gitlab.address()
const secrets = [webhookToken, signingToken].filter((secret) => secret !== null)
for (const line of [
  { sandbox: 'gitlab', url: gitlab.url, control: `${gitlab.url}/sandbox`, readToken },
  { GITLAB_URL: url, GITLAB_TOKEN: token, GITLAB_WEBHOOK_SECRET: secrets.join(',') },
  { GITLAB_PROJECTS: projects.join(',') },
])
  console.log(JSON.stringify(line))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void gitlab.stop())
