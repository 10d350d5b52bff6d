import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { App, ExpressReceiver } from '@slack/bolt'

// What the bot's door is held against: the app that one writes first. It posts each delivery with the SDK's defaults and
// answers without waiting for Slack; what Slack has not taken yet is in its memory only.

const setting = (name: string): string => process.env[name] ?? ''

const receiver = new ExpressReceiver({ signingSecret: setting('SLACK_SIGNING_SECRET') })
const app = new App({
  token: setting('SLACK_BOT_TOKEN'),
  receiver,
  clientOptions: { slackApiUrl: setting('SLACK_API_URL') },
})

interface Delivery {
  build: { build_url: string; build_id: number; status: string; project_full_name: string; branch: string }
}

receiver.router.post('/webhooks/builds/:secret', (request, response) => {
  if (request.params.secret !== setting('WEBHOOK_SECRET')) return void response.status(404).end()
  return take(request).then(() => void response.status(200).json({ status: 'ok' }))
})

async function take(request: IncomingMessage): Promise<void> {
  const delivery = (await json(request)) as Delivery
  post(delivery).catch((error: unknown) => console.error('a build could not be posted', error))
}

function post({ build }: Delivery): Promise<unknown> {
  const text = `${build.project_full_name} <${build.build_url}|#${build.build_id}> on ${build.branch}: *${build.status}*`
  return app.client.apiCall('chat.postMessage', { channel: setting('DEFAULT_CHANNEL'), text })
}

await app.start(Number(setting('PORT')))
