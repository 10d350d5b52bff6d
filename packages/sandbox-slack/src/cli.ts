import { openPort, readFlags, readPort } from '../../lib/program.ts'
import { createSandboxSlack } from './sandbox-slack.ts'

// sandbox-slack [--port 4100] [--host 127.0.0.1] [--bot http://127.0.0.1:3000/slack/events] [--strict]
const values = readFlags({
  port: { type: 'string', default: '4100' },
  host: { type: 'string', default: '127.0.0.1' },
  bot: { type: 'string' },
  strict: { type: 'boolean', default: false },
})

const sandbox = createSandboxSlack({
  rates: values.strict ? { postBurst: 1 } : {},
  ...(values.bot === undefined ? {} : { botUrl: values.bot }),
})
await openPort(readPort(values.port), (port) => sandbox.start(port, values.host))
console.log(
  [
    `The sandbox Slack is open: ${sandbox.url}/`,
    '',
    'For your app:',
    `  SLACK_API_URL=${sandbox.apiUrl}`,
    `  SLACK_BOT_TOKEN=${sandbox.botToken}`,
    `  SLACK_SIGNING_SECRET=${sandbox.signingSecret}`,
    `  SLACK_APP_TOKEN=${sandbox.appToken}  (instead of the secret, for Socket Mode)`,
    '',
    'Channels:',
    ...[...sandbox.workspace.channels.values()].map(({ id, name }) => `  ${id}  #${name}`),
  ].join('\n'),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.stop())
