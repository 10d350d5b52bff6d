import { describe, expect, test } from 'vitest'
import { objectOf } from '../src/json.ts'
import type { Json } from '../src/json.ts'
import { QUERY_LENGTH_MIN } from '../src/people/suggest.ts'
import { PEOPLE } from '../src/workspace.ts'
import { answering, formOf, only, openBoth, payloadOf } from './bot.ts'
import type { Bot } from './bot.ts'
import { BUILDS, openStage } from './stage.ts'
import type { Stage } from './stage.ts'

type Both = Stage & { bot: Bot }

const ada = PEOPLE.ada
const plain = (text: string) => ({ type: 'plain_text', text })
const option = (value: string) => ({ text: plain(value), value })
const button = (extra: object = {}) => ({
  type: 'button',
  action_id: 'stop',
  value: '512',
  text: plain('Stop'),
  ...extra,
})
const confirm = { title: plain('Stop?'), text: plain('Build 512'), confirm: plain('Stop'), deny: plain('No') }
const actions = (...elements: object[]) => [{ type: 'actions', block_id: 'b1', elements }]
const lastPayload = ({ bot }: Both) => payloadOf(bot.received.at(-1)!)

describe('a confirmation dialog', () => {
  test('sends nothing if the answer is no', async () => {
    const stage = await openBoth()
    const press = { user: ada, channel: BUILDS, ts: await stage.post({ blocks: actions(button({ confirm })) }) }
    const denied = await stage.sandbox.people.click({ ...press, actionId: 'stop', confirmed: false })
    expect(denied).toEqual({ kind: 'unsent', what: 'click stop', because: 'not_confirmed' })
    expect(stage.bot.received).toEqual([])
    await stage.sandbox.people.click({ ...press, actionId: 'stop' })
    expect(lastPayload(stage)['actions']).toMatchObject([{ action_id: 'stop', confirm: { title: { text: 'Stop?' } } }])
  })

  test('cannot be answered if there is none', async () => {
    const { sandbox, post } = await openBoth()
    const press = { user: ada, channel: BUILDS, ts: await post({ blocks: actions(button()) }), actionId: 'stop' }
    expect(() => sandbox.people.click({ ...press, confirmed: false })).toThrow('stop asks for no confirmation')
  })
})

test('a global shortcut has a trigger, but neither a channel nor a response_url', async () => {
  const stage = await openBoth()
  await stage.sandbox.people.useGlobalShortcut({ user: ada, callbackId: 'subscribe' })
  const payload = lastPayload(stage)
  expect(payload).toMatchObject({ type: 'shortcut', callback_id: 'subscribe', user: { id: ada } })
  expect(payload).not.toHaveProperty('channel')
  expect(payload).not.toHaveProperty('response_url')
  const view = modal()
  expect(await stage.call('views.open', { trigger_id: payload['trigger_id'], view })).toMatchObject({ ok: true })
})

describe('a replay', () => {
  test('sends the same request again, and ignores the content of the answer', async () => {
    const { sandbox, bot, clock } = await openBoth(answering({ text: 'pong' }))
    const { what } = await sandbox.people.runCommand({ user: ada, channel: BUILDS, command: '/ci' })
    clock.advance(60_000)
    expect(await sandbox.people.replay(what)).toMatchObject({ kind: 'answered', status: 200 })
    const [first, second] = bot.received
    const told = ({ body, headers }: Bot['received'][number]) => [
      body,
      headers['x-slack-request-timestamp'],
      headers['x-slack-signature'],
    ]
    expect(told(second!)).toEqual(told(first!))
    expect(sandbox.ephemerals(BUILDS)).toHaveLength(1)
  })

  test('fails if nothing was sent under that name', async () => {
    const { sandbox } = await openBoth()
    await expect(sandbox.people.replay('command /ci')).rejects.toThrow('nothing was sent as command /ci')
  })
})

const input = (blockId: string, element: object, extra: object = {}) => ({
  type: 'input',
  block_id: blockId,
  label: plain(blockId),
  element,
  ...extra,
})
const EVENTS = ['failed', 'success'].map(option)

const modal = (extra: object = {}): Json => ({
  type: 'modal',
  callback_id: 'subscribe',
  private_metadata: '{"channel":"C0BUILDS01"}',
  title: plain('Subscribe'),
  submit: plain('Save'),
  blocks: [
    input('branch', { type: 'plain_text_input', action_id: 'name', initial_value: 'main' }),
    input('events', { type: 'multi_static_select', action_id: 'choose', options: EVENTS }),
    input('quiet', { type: 'radio_buttons', action_id: 'tone', options: EVENTS }, { dispatch_action: true }),
    input('project', { type: 'external_select', action_id: 'find' }),
    ...actions(button({ confirm })),
  ],
  ...extra,
})

async function openModal(stage: Both, view = modal()): Promise<Json> {
  await stage.sandbox.people.useGlobalShortcut({ user: ada, callbackId: 'subscribe' })
  const args = { trigger_id: lastPayload(stage)['trigger_id'], view }
  return objectOf((await stage.call('views.open', args))['view'])
}

describe('a view', () => {
  test('is sent with its state, its hash and its private metadata when a button in it is pressed', async () => {
    const stage = await openBoth()
    const { id, hash } = await openModal(stage)
    await stage.sandbox.people.clickInView({ user: ada, actionId: 'stop' })
    expect(lastPayload(stage)).toMatchObject({
      type: 'block_actions',
      container: { type: 'view', view_id: id },
      view: {
        id,
        hash,
        private_metadata: '{"channel":"C0BUILDS01"}',
        state: {
          values: {
            branch: { name: { type: 'plain_text_input', value: 'main' } },
            events: { choose: { type: 'multi_static_select', selected_options: [] } },
            quiet: { tone: { type: 'radio_buttons', selected_option: null } },
          },
        },
      },
    })
  })

  test('has confirmation dialogs, as a message does', async () => {
    const stage = await openBoth()
    await openModal(stage)
    const denied = await stage.sandbox.people.clickInView({ user: ada, actionId: 'stop', confirmed: false })
    expect(denied).toMatchObject({ kind: 'unsent', because: 'not_confirmed' })
    expect(stage.bot.received).toHaveLength(1)
  })

  test('sends a choice at once only if its block dispatches, and keeps every choice', async () => {
    const stage = await openBoth()
    await openModal(stage)
    const select = (actionId: string, selected: Json) => stage.sandbox.people.select({ user: ada, actionId, selected })
    expect(await select('choose', { selected_options: [option('failed')] })).toEqual({
      kind: 'unsent',
      what: 'click choose',
      because: 'no_dispatch_action',
    })
    expect(await select('tone', { selected_option: option('failed') })).toMatchObject({ kind: 'answered' })
    const { view, actions: pressed } = lastPayload(stage)
    expect(pressed).toMatchObject([{ action_id: 'tone', block_id: 'quiet', selected_option: option('failed') }])
    expect(view).toMatchObject({
      state: {
        values: {
          events: { choose: { selected_options: [option('failed')] } },
          quiet: { tone: { selected_option: option('failed') } },
        },
      },
    })
  })

  test('is submitted with earlier input', async () => {
    const stage = await openBoth()
    await openModal(stage)
    await stage.sandbox.people.select({ user: ada, actionId: 'name', selected: { value: 'release/*' } })
    const values = { events: { choose: { type: 'multi_static_select', selected_options: [option('failed')] } } }
    await stage.sandbox.people.submitView({ user: ada, values })
    const branch = { name: { type: 'plain_text_input', value: 'release/*' } }
    expect(lastPayload(stage)['view']).toMatchObject({ state: { values: { branch, ...values } } })
  })

  test('keeps input over an update if the field stays', async () => {
    const stage = await openBoth()
    const { id } = await openModal(stage)
    await stage.sandbox.people.select({ user: ada, actionId: 'name', selected: { value: 'dev' } })
    const field = { type: 'plain_text_input', action_id: 'name', initial_value: 'main' }
    const update = (blocks: object[]) => stage.call('views.update', { view_id: id, view: modal({ blocks }) })
    await update([input('branch', field)])
    expect(stage.sandbox.views.stack(ada)).toMatchObject([
      { state: { values: { branch: { name: { value: 'dev' } } } } },
    ])
    await update([input('other', field)])
    const [view] = stage.sandbox.views.stack(ada)
    expect(objectOf(view?.['state'])['values']).toEqual({
      other: { name: { type: 'plain_text_input', value: 'main' } },
    })
  })

  test('sends a request when it is closed if it has notify_on_close', async () => {
    const stage = await openBoth()
    await openModal(stage)
    expect(await stage.sandbox.people.closeView({ user: ada })).toMatchObject({ kind: 'unsent' })
    expect(stage.sandbox.views.stack(ada)).toEqual([])
    const { id } = await openModal(stage, modal({ notify_on_close: true }))
    expect(await stage.sandbox.people.closeView({ user: ada })).toMatchObject({ kind: 'answered' })
    expect(lastPayload(stage)).toMatchObject({ type: 'view_closed', is_cleared: false, view: { id } })
    expect(stage.sandbox.views.stack(ada)).toEqual([])
  })
})

test('a home tab keeps its id, and refuses an update with a stale hash', async () => {
  const { call, sandbox } = await openStage()
  const publish = async (args: object = {}) =>
    call('views.publish', { user_id: ada, view: { type: 'home', blocks: [{ type: 'divider' }] }, ...args })
  const first = objectOf((await publish())['view'])
  const second = objectOf((await publish({ hash: first['hash'] }))['view'])
  expect(second['id']).toBe(first['id'])
  expect((await publish({ hash: first['hash'] })).error).toBe('hash_conflict')
  expect(sandbox.views.home(ada)).toMatchObject({ id: first['id'], hash: second['hash'] })
})

describe('a menu with options from the bot', () => {
  const search = { user: ada, actionId: 'find', value: 'acme' }

  const answeringOptions = async (answer: unknown) => {
    const stage = await openBoth(answering(answer))
    await openModal(stage)
    return stage
  }

  test('in a view sends the typed text, and shows the options of the answer', async () => {
    const stage = await answeringOptions({ options: [option('acme/web'), option('acme/api')] })
    const { options, acknowledgement } = await stage.sandbox.people.suggest(search)
    expect(options).toEqual([option('acme/web'), option('acme/api')])
    expect(acknowledgement).not.toHaveProperty('refusal')
    expect(lastPayload(stage)).toMatchObject({
      type: 'block_suggestion',
      action_id: 'find',
      block_id: 'project',
      value: 'acme',
      view: { callback_id: 'subscribe' },
    })
  })

  test('in a message names the message', async () => {
    const stage = await openBoth(answering({ option_groups: [{ label: plain('Pro'), options: [option('acme/web')] }] }))
    const ts = await stage.post({ blocks: actions({ type: 'external_select', action_id: 'find' }) })
    const { options } = await stage.sandbox.people.suggest({ ...search, channel: BUILDS, ts })
    expect(options).toEqual([option('acme/web')])
    expect(lastPayload(stage)).toMatchObject({ channel: { id: BUILDS }, container: { message_ts: ts } })
    expect(lastPayload(stage)).not.toHaveProperty('response_url')
  })

  test.each([
    ['101 options', { options: Array.from({ length: 101 }, () => option('acme/web')) }],
    ['an option of 76 characters', { options: [option('a'.repeat(76))] }],
    ['neither options nor groups', {}],
  ])('shows nothing if the answer has %s', async (_what, answer) => {
    const { sandbox } = await answeringOptions(answer)
    const { options, acknowledgement } = await sandbox.people.suggest(search)
    expect([options, acknowledgement]).toMatchObject([[], { refusal: 'invalid_arguments' }])
  })

  test('shows 100 options, of 75 characters each', async () => {
    const { sandbox } = await answeringOptions({ options: Array.from({ length: 100 }, () => option('a'.repeat(75))) })
    expect((await sandbox.people.suggest(search)).options).toHaveLength(100)
  })

  test('shows nothing if the answer is late', async () => {
    const stage = await openBoth(() => {}, { ackTimeoutMs: 20 })
    const ts = await stage.post({ blocks: actions({ type: 'external_select', action_id: 'find' }) })
    const { options, acknowledgement } = await stage.sandbox.people.suggest({ ...search, channel: BUILDS, ts })
    expect([options, acknowledgement]).toMatchObject([[], { kind: 'late' }])
  })

  test('asks the bot from three characters on, or from min_query_length', async () => {
    const { sandbox, post, bot } = await openBoth(answering({ options: [] }))
    const menu = (extra: object) => actions({ type: 'external_select', action_id: 'find', ...extra })
    const [ts, eager] = [await post({ blocks: menu({}) }), await post({ blocks: menu({ min_query_length: 0 }) })]
    const type = (value: string, message = ts) =>
      sandbox.people.suggest({ ...search, value, channel: BUILDS, ts: message })
    await expect(type('a'.repeat(QUERY_LENGTH_MIN - 1))).rejects.toThrow('from 3 characters on')
    expect(bot.received).toEqual([])
    await type('a'.repeat(QUERY_LENGTH_MIN))
    await type('', eager)
    expect(bot.received).toHaveLength(2)
  })
})

describe('an ephemeral message', () => {
  const use = (url: unknown, body: object) =>
    fetch(String(url), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  /** Ada runs `/ci`, and the bot answers at its response_url with a button. */
  async function openList() {
    const stage = await openBoth()
    await stage.sandbox.people.runCommand({ user: ada, channel: BUILDS, command: '/ci' })
    const url = formOf(only(stage.bot.received))['response_url']
    await use(url, { text: 'running', blocks: actions(button()) })
    await stage.call('chat.postEphemeral', { channel: BUILDS, user: PEOPLE.lin, text: 'not a member' })
    return { ...stage, ts: only(stage.sandbox.ephemerals(BUILDS, ada)).message.ts }
  }

  test('is listed by person, whether it came from chat.postEphemeral or a response_url', async () => {
    const { sandbox } = await openList()
    expect(sandbox.ephemerals(BUILDS, ada)).toMatchObject([{ message: { text: 'running' } }])
    expect(sandbox.ephemerals(BUILDS, PEOPLE.lin)).toMatchObject([{ message: { text: 'not a member' } }])
    expect(sandbox.ephemerals(BUILDS, PEOPLE.gus)).toEqual([])
    expect(sandbox.ephemerals(BUILDS)).toHaveLength(2)
  })

  test('can be clicked, replaced, clicked again and deleted', async () => {
    const stage = await openList()
    const press = { user: ada, channel: BUILDS, ts: stage.ts, actionId: 'stop' }
    await stage.sandbox.people.click(press)
    await use(lastPayload(stage)['response_url'], {
      text: 'Sure?',
      blocks: actions(button({ value: 'sure' })),
      replace_original: true,
    })
    await stage.sandbox.people.click(press)
    expect(lastPayload(stage)).toMatchObject({ container: { is_ephemeral: true }, actions: [{ value: 'sure' }] })
    await use(lastPayload(stage)['response_url'], { delete_original: true })
    expect(stage.sandbox.ephemerals(BUILDS, ada)).toEqual([])
    expect(stage.sandbox.messages(BUILDS)).toEqual([])
    expect(() => stage.sandbox.people.click(press)).toThrow('has no message')
  })

  test('cannot be clicked by anybody else', async () => {
    const { sandbox, ts } = await openList()
    const press = { user: PEOPLE.lin, channel: BUILDS, ts, actionId: 'stop' }
    expect(() => sandbox.people.click(press)).toThrow(`not visible to ${PEOPLE.lin}`)
  })
})
