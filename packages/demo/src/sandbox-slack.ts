import { CHANNELS } from '../../sandbox-slack/src/workspace.ts'
import { createSandboxSlack } from '../../sandbox-slack/src/sandbox-slack.ts'
import { COMMAND_HINTS } from './demo/hints.ts'
import { openPort, readFlags, readPort } from '../../lib/program.ts'

// npm run sandbox:slack [-- --port 4100] [--host 127.0.0.1] [--bot http://127.0.0.1:3000/slack/events] [--strict]
const PORT_DEFAULT = '4100'

const values = readFlags({
  port: { type: 'string', default: PORT_DEFAULT },
  host: { type: 'string', default: '127.0.0.1' },
  bot: { type: 'string' },
  strict: { type: 'boolean', default: false },
})

const sandbox = createSandboxSlack({
  hints: COMMAND_HINTS,
  rates: values.strict ? { postBurst: 1 } : {},
  ...(values.bot === undefined ? {} : { botUrl: values.bot }),
})
await openPort(readPort(values.port), (port) => sandbox.start(port, values.host))
console.log(introduction())
process.once('SIGINT', stop)
process.once('SIGTERM', stop)

function introduction(): string {
  const channels = [...sandbox.workspace.channels.values()].map(({ id, name }) => `  ${id}  #${name}`)
  return [
    `The sandbox Slack is open: ${sandbox.url}/`,
    '',
    'For the bot:',
    `  SLACK_API_URL=${sandbox.apiUrl}`,
    `  SLACK_BOT_TOKEN=${sandbox.botToken}`,
    `  SLACK_SIGNING_SECRET=${sandbox.signingSecret}`,
    `  SLACK_APP_TOKEN=${sandbox.appToken}  (instead of the secret, for Socket Mode)`,
    `  DEFAULT_CHANNEL=${CHANNELS.builds}`,
    '',
    'Channels:',
    ...channels,
  ].join('\n')
}

function stop(): void {
  void sandbox.stop()
}
