import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEmulator } from 'emulate'
import { onTestFinished } from 'vitest'
import type { Settings } from '../support/app.ts'

export type Json = Record<string, unknown>
export type Message = Json & { ts: string; text: string }

const TOKEN = 'xoxb-emulated'
/** The test's own token: emulate answers each only 5,000 times an hour, and so the test must not look too often. */
const LOOKING_TOKEN = 'xoxb-looking'
const LOOK_MS = 200
const SIGNING_SECRET = 'emulated-signing-secret'
const BOT = { app_id: 'A0BUILDLINE', bot_id: 'B0BUILDLINE', bot_user_id: 'U0BUILDLINE', bot_name: 'buildline' }
const FORM = 'application/x-www-form-urlencoded'

/** A Slack that nobody of this project wrote, in which Ada is. It knows no commands and clicks: the test signs them. */
export interface EmulatedSlack {
  settings: Settings
  channel: string
  ada: string
  /** Calls a method as the bot. */
  call(method: string, args?: Json): Promise<Json>
  /** The channel's messages without replies, oldest first. */
  roots(): Promise<Message[]>
  /** The replies in a message's thread. */
  replies(ts: string): Promise<Message[]>
  /** Sends the bot a click of Ada's on a button of this message. Returns the status of its answer. */
  click(botUrl: string, message: Message, actionId: string): Promise<number>
}

/** Starts the emulated Slack. It ends with the test. */
export async function openEmulatedSlack(): Promise<EmulatedSlack> {
  const emulator = await createEmulator({ service: 'slack', port: 0, seed: { slack: SEED } })
  onTestFinished(() => emulator.close())
  const call: EmulatedSlack['call'] = async (method, args = {}) => {
    const headers = { authorization: `Bearer ${LOOKING_TOKEN}`, 'content-type': 'application/json' }
    const response = await fetch(`${emulator.url}/api/${method}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(args),
    })
    return (await response.json()) as Json
  }
  const idOf = async (method: string, list: string, name: string): Promise<string> =>
    String(((await call(method, { limit: 100 }))[list] as Json[]).find((one) => one['name'] === name)?.['id'])
  const channel = await idOf('conversations.list', 'channels', 'builds')
  const ada = await idOf('users.list', 'members', 'ada')
  const messagesOf = async (method: string, args: Json): Promise<Message[]> => {
    await sleep(LOOK_MS)
    return (await call(method, { channel, limit: 1_000, ...args }))['messages'] as Message[]
  }
  return {
    settings: {
      SLACK_API_URL: `${emulator.url}/api/`,
      SLACK_BOT_TOKEN: TOKEN,
      SLACK_SIGNING_SECRET: SIGNING_SECRET,
      DEFAULT_CHANNEL: channel,
    },
    channel,
    ada,
    call,
    roots: async () => (await messagesOf('conversations.history', {})).toReversed(),
    replies: async (ts) => (await messagesOf('conversations.replies', { ts })).filter((one) => one.ts !== ts),
    click: (botUrl, message, actionId) => sendClick(botUrl, clickOf({ channel, ada }, message, actionId)),
  }
}

const SEED = {
  users: [{ name: 'ada', real_name: 'Ada' }],
  channels: [{ name: 'builds' }],
  oauth_apps: [
    { client_id: '1.1', client_secret: 's', name: 'Buildline', redirect_uris: [], scopes: ['chat:write'], ...BOT },
  ],
  tokens: [TOKEN, LOOKING_TOKEN].map((token) => ({ token, type: 'bot', user_id: BOT.bot_user_id, ...BOT })),
  signing_secret: SIGNING_SECRET,
}

let clicks = 0

function clickOf({ channel, ada }: Pick<EmulatedSlack, 'channel' | 'ada'>, message: Message, actionId: string): Json {
  const button = buttonsOf(message).find((one) => one['action_id'] === actionId)
  if (!button) throw new Error(`${message.text} has no button ${actionId}`)
  return {
    type: 'block_actions',
    user: { id: ada, team_id: 'T000000001' },
    team: { id: 'T000000001' },
    container: { type: 'message_attachment', message_ts: message.ts, channel_id: channel, attachment_id: 1 },
    channel: { id: channel, name: 'builds' },
    message,
    trigger_id: `${(clicks += 1)}.1`,
    actions: [{ ...button, action_ts: '1.1' }],
  }
}

/** The buttons of a message, wherever they are in it. */
export function buttonsOf(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'action_id' in value ? [{ ...value }] : []
  return [...own, ...Object.values(value).flatMap(buttonsOf)]
}

async function sendClick(botUrl: string, payload: Json): Promise<number> {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
  const time = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', SIGNING_SECRET).update(`v0:${time}:${body}`).digest('hex')
  const headers = { 'content-type': FORM, 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${signature}` }
  return (await fetch(`${botUrl}/slack/events`, { method: 'POST', headers, body })).status
}
