import {
  createSandboxSlack,
  DEFAULT_SCOPES,
  type SandboxSlack,
} from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { ACCOUNTS, CHANNELS, GRID, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'

const BUILDS = CHANNELS.builds
const LETTER = 'sorry'

type Args = Readonly<Record<string, unknown>>

/** A sandbox in which everything that the bot may meet is switched on. */
export interface Answering {
  slack: SandboxSlack
  call(method: string, args?: Args, token?: string): Promise<Record<string, unknown>>
}

export async function openAnswering(): Promise<Answering> {
  const slack = createSandboxSlack({ rates: 'off', namesApp: true, scopes: [...DEFAULT_SCOPES, 'users:read.email'] })
  await slack.start()
  slack.acts.joinGrid()
  slack.acts.setGridTeams(PEOPLE.lin, { teams: [GRID.otherTeam, slack.workspace.team.id], isFlat: true })
  slack.acts.rename(BUILDS, 'all-builds')
  const everything = { isReadOnly: true, isThreadOnly: true, isNonThreadable: true }
  const only = { type: ['admin'], user: [PEOPLE.grace] }
  slack.acts.restrict(CHANNELS.web, { ...everything, postingRestrictedTo: only, threadsRestrictedTo: only })
  return {
    slack,
    // Slack's own clients name no charset either, where they send JSON.
    call: async (method, args = {}, token = slack.botToken) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const response = await fetch(`${slack.apiUrl}${method}`, { method: 'POST', headers, body: JSON.stringify(args) })
      return (await response.json()) as Record<string, unknown>
    },
  }
}

/** Calls of each method that the bot calls, which together show every field that the sandbox's answers can have. */
export const ANSWERS: Readonly<Record<string, (stage: Answering) => Promise<unknown[]>>> = {
  'apps.connections.open': async ({ slack, call }) => [await call('apps.connections.open', {}, slack.appToken)],
  'auth.test': async ({ slack, call }) => [await call('auth.test'), await call('auth.test', {}, slack.appToken)],
  'chat.delete': async (stage) => [await stage.call('chat.delete', { channel: BUILDS, ts: await post(stage) })],
  'chat.postEphemeral': async ({ call }) => [
    await call('chat.postEphemeral', { channel: BUILDS, user: PEOPLE.ada, text: 'a' }),
  ],
  'chat.postMessage': async ({ call }) => {
    const root = await call('chat.postMessage', { channel: BUILDS, ...CARD })
    const reply = { channel: BUILDS, thread_ts: root['ts'], reply_broadcast: true }
    return [
      root,
      await call('chat.postMessage', { ...reply, text: 'a' }),
      await call('chat.postMessage', { channel: BUILDS, text: LETTER.repeat(10_000) }),
      await call('chat.postMessage', { channel: BUILDS, blocks: [{ type: 'none' }] }),
    ]
  },
  'chat.update': async (stage) => {
    const { slack, call } = stage
    await share(stage, {})
    const shared = slack.messages(BUILDS).at(-1)
    return [
      await call('chat.update', { channel: BUILDS, ts: await post(stage), ...CARD }),
      await call('chat.update', { channel: BUILDS, ts: shared?.['ts'], text: 'a' }),
      await call('chat.update', { channel: BUILDS, ts: shared?.['ts'], blocks: [{ type: 'none' }] }),
    ]
  },
  'conversations.history': async (stage) => {
    await thread(stage)
    const found = { channel: BUILDS, include_all_metadata: true, oldest: '1', latest: '9999999999', inclusive: true }
    return [
      await stage.call('conversations.history', found),
      await stage.call('conversations.history', { ...found, limit: 1 }),
    ]
  },
  'conversations.info': async (stage) => channelsBy(stage, 'conversations.info'),
  'conversations.replies': async (stage) => {
    const ts = await thread(stage)
    return [await stage.call('conversations.replies', { channel: BUILDS, ts, include_all_metadata: true })]
  },
  'files.completeUploadExternal': async (stage) => {
    return [await share(stage, {}), await stage.call('files.completeUploadExternal')]
  },
  'files.getUploadURLExternal': async ({ call }) => [
    await call('files.getUploadURLExternal', { filename: 'badge.png', length: 3 }),
    await call('files.getUploadURLExternal'),
  ],
  'usergroups.users.list': async ({ call }) => [await call('usergroups.users.list', { usergroup: 'S0RELEASE1' })],
  'users.conversations': async ({ call }) => [
    await call('conversations.open', { users: PEOPLE.ada }),
    await call('users.conversations', { user: PEOPLE.ada, types: 'public_channel,private_channel,im', limit: 1_000 }),
    await call('users.conversations', { limit: 1 }),
  ],
  'users.info': async ({ call }) => {
    const people = [...Object.values(PEOPLE), ...Object.values(ACCOUNTS)]
    return Promise.all(people.map((user) => call('users.info', { user, include_locale: true })))
  },
  'users.lookupByEmail': async ({ call }) => [
    await call('users.lookupByEmail', { email: 'ada@acme.example' }),
    await call('users.lookupByEmail', { email: 'lin@acme.example' }),
  ],
  'views.open': async (stage) => [await openView(stage), await stage.call('views.open')],
  'views.publish': async ({ call }) => [
    await call('views.publish', { user_id: PEOPLE.ada, view: HOME }),
    await call('views.publish', { user_id: PEOPLE.ada }),
  ],
  'views.update': async (stage) => {
    await openView(stage)
    const view_id = stage.slack.views.stack(PEOPLE.ada).at(-1)?.['id']
    return [
      await stage.call('views.update', { view_id, view: MODAL }),
      await stage.call('views.update', { view_id, view: { ...MODAL, blocks: 'none' } }),
    ]
  },
}

/** The answer of a method to a token without its scopes; of one that needs none, to a missing token. */
export async function refusal({ slack, call }: Answering, method: string): Promise<unknown> {
  for (const scope of DEFAULT_SCOPES) slack.acts.revokeScope(scope)
  slack.acts.revokeScope('users:read.email')
  return call(method, {}, NEEDS_NO_SCOPE.test(method) ? 'xoxb-other' : slack.botToken)
}

const NEEDS_NO_SCOPE = /^(?:apps|auth|views)\./

const metadata = { event_type: 'buildline_message', event_payload: { key: 'k-1' } }
const button = { type: 'button', action_id: 'stop', text: { type: 'plain_text', text: 'Stop' } }
const CARD = {
  text: 'card',
  blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'card' } }],
  attachments: [{ color: '#2eb67d', blocks: [{ type: 'actions', elements: [button] }] }],
  metadata,
}

const text = (words: string) => ({ type: 'plain_text', text: words })
const field = {
  type: 'input',
  block_id: 'b',
  label: text('Project'),
  element: { type: 'plain_text_input', action_id: 'a' },
}
const look = { type: 'actions', elements: [{ ...button, action_id: 'look' }] }
const shown = { title: text('Subscribe'), submit: text('Save'), close: text('Cancel'), notify_on_close: true }
const MODAL = { type: 'modal', ...shown, blocks: [field, look] }
const HOME = { type: 'home', blocks: [{ type: 'divider' }] }

const post = async ({ call }: Answering): Promise<string> =>
  String((await call('chat.postMessage', { channel: BUILDS, ...CARD }))['ts'])

/** A thread in #builds with what messages there can be: edited, broadcast, with a file, a person's, another bot's. */
export async function thread(stage: Answering): Promise<string> {
  const { slack, call } = stage
  const ts = await post(stage)
  const reply = { channel: BUILDS, thread_ts: ts, text: 'Failed' }
  await call('chat.update', { channel: BUILDS, ts, text: 'card 2' })
  await call('chat.postMessage', { ...reply, reply_broadcast: true })
  await call('chat.postMessage', reply)
  await call('reactions.add', { channel: BUILDS, timestamp: ts, name: 'eyes' })
  slack.acts.say({ user: PEOPLE.ada, channel: BUILDS, text: 'thanks', threadTs: ts })
  await share(stage, { thread_ts: ts })
  await share(stage, {})
  return ts
}

async function share(stage: Answering, to: Args): Promise<unknown> {
  const id = await upload(stage)
  return stage.call('files.completeUploadExternal', { files: [{ id, title: 'Badge' }], channel_id: BUILDS, ...to })
}

async function upload({ call }: Answering): Promise<unknown> {
  const ticket = await call('files.getUploadURLExternal', { filename: 'badge.png', length: 3, alt_txt: 'passing' })
  await fetch(String(ticket['upload_url']), { method: 'POST', body: 'png' })
  return ticket['file_id']
}

const channelsBy = (stage: Answering, method: string): Promise<unknown[]> =>
  Promise.all(
    [...stage.slack.workspace.channels.keys()].map((channel) =>
      stage.call(method, { channel, include_locale: true, include_num_members: true }),
    ),
  )

/** Opens a modal for Ada. */
export async function openView({ slack, call }: Answering): Promise<unknown> {
  await using bot = await startHttpStub(() => ({}))
  slack.connectBot(bot.url)
  await slack.people.runCommand({ user: PEOPLE.ada, channel: BUILDS, command: '/ci' })
  const [command] = bot.requests
  return call('views.open', { trigger_id: new URLSearchParams(command?.body).get('trigger_id'), view: MODAL })
}
