import { describe, expect, test } from 'vitest'
import { objectOf } from '../src/json.ts'
import type { Json } from '../src/json.ts'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { openBoth, payloadOf } from './bot.ts'
import type { Bot } from './bot.ts'
import { BUILDS, bodyOf } from './stage.ts'
import type { Stage } from './stage.ts'

const { ada, grace } = PEOPLE
const plain = (text: string) => ({ type: 'plain_text', text })
const option = (value: string) => ({ text: plain(value), value })
const input = (blockId: string, element: object, extra: object = {}) => ({
  type: 'input',
  block_id: blockId,
  label: plain(blockId),
  element: { action_id: 'a', ...element },
  ...extra,
})
const modalOf = (blocks: object[], extra: object = {}) => ({
  type: 'modal',
  title: plain('Subscribe'),
  submit: plain('Save'),
  blocks,
  ...extra,
})

interface Form extends Stage {
  bot: Bot
  view: Json
  /** what the bot answers from now on */
  told: { reply: unknown }
  /** performs an action of a person over HTTP */
  deed: (body: object) => Promise<Json>
  last: () => Json
}

/** Opens a modal for Ada, from a command in #builds. */
async function openForm(view: object): Promise<Form> {
  const told = { reply: '' as unknown }
  const stage = await openBoth((response) =>
    told.reply === ''
      ? void response.end()
      : void response.setHeader('content-type', 'application/json').end(JSON.stringify(told.reply)),
  )
  await stage.sandbox.people.runCommand({ user: ada, channel: BUILDS, command: '/ci' })
  const { trigger_id: triggerId } = Object.fromEntries(new URLSearchParams(stage.bot.received[0]!.body))
  const opened = await stage.call('views.open', { trigger_id: triggerId, view })
  expect(opened).toMatchObject({ ok: true })
  const deed = async (body: object) => {
    const answer = await fetch(`${stage.sandbox.url}/sandbox/people`, { method: 'POST', body: JSON.stringify(body) })
    return { ...(await bodyOf(answer)), httpStatus: answer.status }
  }
  return { ...stage, told, deed, view: objectOf(opened['view']), last: () => payloadOf(stage.bot.received.at(-1)!) }
}

const submitOf = ({ view }: Form, values: object = {}) => ({ kind: 'submit', user: ada, view: view['id'], values })

describe('a form', () => {
  const required = modalOf([input('project', { type: 'plain_text_input' })])

  test('is not sent while a required field is empty, and is sent once it is filled', async () => {
    const form = await openForm(required)
    expect(await form.deed(submitOf(form))).toMatchObject({
      kind: 'unsent',
      because: 'invalid_input',
      errors: { project: 'Please complete this required field.' },
    })
    expect(form.bot.received).toHaveLength(1)
    const values = { project: { a: { type: 'plain_text_input', value: 'acme/web' } } }
    expect(await form.deed(submitOf(form, values))).toMatchObject({ kind: 'answered' })
    expect(form.last()).toMatchObject({ type: 'view_submission', response_urls: [], view: { state: { values } } })
    expect(form.sandbox.views.stack(ada)).toEqual([])
  })

  test('has null for an empty optional field', async () => {
    const form = await openForm(modalOf([input('project', { type: 'plain_text_input' }, { optional: true })]))
    await form.deed(submitOf(form, { project: { a: { type: 'plain_text_input', value: '' } } }))
    expect(objectOf(form.last()['view'])['state']).toEqual({
      values: { project: { a: { type: 'plain_text_input', value: null } } },
    })
  })

  const options = ['a', 'b', 'c'].map(option)
  const chosen = (...values: string[]) => values.map((value) => ({ value }))
  test.each<[string, object, unknown, string | null]>([
    ['a text of min_length', { type: 'plain_text_input', min_length: 3 }, 'abc', null],
    ['a shorter text', { type: 'plain_text_input', min_length: 3 }, 'ab', 'Use at least 3 characters.'],
    ['a text of max_length', { type: 'plain_text_input', max_length: 3 }, 'abc', null],
    ['a longer text', { type: 'plain_text_input', max_length: 3 }, 'abcd', 'Use at most 3 characters.'],
    ['3,000 characters', { type: 'plain_text_input', multiline: true }, 'a'.repeat(3_000), null],
    ['3,001', { type: 'plain_text_input', multiline: true }, 'a'.repeat(3_001), 'Use at most 3000 characters.'],
    ['a number', { type: 'number_input', is_decimal_allowed: true, min_value: '1', max_value: '5' }, '5', null],
    [
      'one too low',
      { type: 'number_input', is_decimal_allowed: true, min_value: '1' },
      '0.9',
      'Enter a number of at least 1.',
    ],
    [
      'one too high',
      { type: 'number_input', is_decimal_allowed: true, max_value: '5' },
      '5.1',
      'Enter a number of at most 5.',
    ],
    ['no whole number', { type: 'number_input', is_decimal_allowed: false }, '1.5', 'Enter a whole number.'],
    ['no number', { type: 'number_input', is_decimal_allowed: true }, 'many', 'Enter a number.'],
    ['an address', { type: 'url_text_input' }, 'https://example.com/a', null],
    ['no address', { type: 'url_text_input' }, 'example', 'Enter a web address.'],
    ['a mail address', { type: 'email_text_input' }, 'ada@example.com', null],
    ['no mail address', { type: 'email_text_input' }, 'ada', 'Enter an email address.'],
    ['as many as may be', { type: 'multi_static_select', options, max_selected_items: 2 }, chosen('a', 'b'), null],
    [
      'one more',
      { type: 'multi_static_select', options, max_selected_items: 2 },
      chosen('a', 'b', 'c'),
      'Choose up to 2.',
    ],
    ['a person', { type: 'users_select' }, grace, null],
    ['people', { type: 'multi_users_select' }, [ada, grace], null],
    ['a channel', { type: 'channels_select' }, BUILDS, null],
    ['a conversation', { type: 'conversations_select' }, BUILDS, null],
    ['conversations', { type: 'multi_conversations_select' }, [BUILDS, CHANNELS.web], null],
    ['checked boxes', { type: 'checkboxes', options }, chosen('b'), null],
    ['a radio button', { type: 'radio_buttons', options }, { value: 'c' }, null],
  ])('with %s is sent, or gives the right error', async (_what, element, value, error) => {
    const form = await openForm(modalOf([input('field', element)]))
    const type = String(objectOf(element)['type'])
    const name = Object.keys(objectOf(objectOf(objectOf(stateOf(form.view)['field'])['a']))).find(
      (key) => key !== 'type',
    )!
    const outcome = await form.deed(submitOf(form, { field: { a: { type, [name]: value } } }))
    if (error !== null) return expect(outcome).toMatchObject({ kind: 'unsent', errors: { field: error } })
    expect(outcome).toMatchObject({ kind: 'answered' })
    expect(stateOf(objectOf(form.last()['view']))).toMatchObject({ field: { a: { type, [name]: value } } })
  })

  test('sends an option as a whole object, even if only its value was given', async () => {
    const form = await openForm(modalOf([input('field', { type: 'static_select', options })]))
    await form.deed(submitOf(form, { field: { a: { type: 'static_select', selected_option: { value: 'b' } } } }))
    expect(stateOf(objectOf(form.last()['view']))).toEqual({
      field: {
        a: {
          type: 'static_select',
          selected_option: { text: { type: 'plain_text', text: 'b', emoji: true }, value: 'b' },
        },
      },
    })
  })

  test.each<[string, object]>([
    ['an unknown block', { other: { a: { type: 'plain_text_input', value: 'x' } } }],
    ['an unknown field', { project: { b: { type: 'plain_text_input', value: 'x' } } }],
    ['another type', { project: { a: { type: 'number_input', value: '1' } } }],
    ['a list for a field with one value', { project: { a: { type: 'plain_text_input', value: ['x'] } } }],
  ])('refuses values with %s', async (_what, values) => {
    const form = await openForm(required)
    expect(await form.deed(submitOf(form, values))).toMatchObject({ httpStatus: 400, ok: false })
    expect(form.bot.received).toHaveLength(1)
  })

  test('starts with the current conversation if a field has default_to_current_conversation', async () => {
    const current = { type: 'conversations_select', default_to_current_conversation: true }
    const form = await openForm(
      modalOf([
        input('place', { ...current, response_url_enabled: true }),
        input('named', { ...current, initial_conversation: CHANNELS.web }),
      ]),
    )
    expect(stateOf(form.view)).toMatchObject({
      place: { a: { selected_conversation: BUILDS } },
      named: { a: { selected_conversation: CHANNELS.web } },
    })
    await form.deed(submitOf(form))
    const [place] = form.last()['response_urls'] as Json[]
    expect(place).toMatchObject({ block_id: 'place', action_id: 'a', channel_id: BUILDS })
    await fetch(String(place?.['response_url']), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'saved', response_type: 'in_channel' }),
    })
    expect(form.sandbox.messages(BUILDS)).toMatchObject([{ text: 'saved' }])
  })
})

const stateOf = (view: Json): Json => objectOf(objectOf(view['state'])['values'])

describe('the answer to a form', () => {
  const view = modalOf([
    input('project', { type: 'plain_text_input', initial_value: 'acme/web' }),
    { type: 'divider', block_id: 'line' },
  ])

  test('can have errors for its fields, and the form stays open', async () => {
    const form = await openForm(view)
    form.told.reply = { response_action: 'errors', errors: { project: 'unknown' } }
    expect(await form.deed(submitOf(form))).toMatchObject({ kind: 'answered', errors: { project: 'unknown' } })
    expect(form.sandbox.views.stack(ada)).toHaveLength(1)
  })

  test.each<[string, unknown]>([
    ['an error for a block that is not an input', { response_action: 'errors', errors: { line: 'unknown' } }],
    ['an error for an unknown block', { response_action: 'errors', errors: { other: 'unknown' } }],
    ['no errors', { response_action: 'errors', errors: {} }],
    ['errors that are not texts', { response_action: 'errors', errors: { project: 5 } }],
    ['an unknown action', { response_action: 'dance' }],
    ['a home tab', { response_action: 'update', view: { type: 'home', blocks: [] } }],
    ['a text instead of an object', 'thanks'],
  ])('is refused if it has %s, and the form stays open', async (_what, reply) => {
    const form = await openForm(view)
    form.told.reply = reply
    const outcome = await form.deed(submitOf(form))
    expect(outcome).toMatchObject({ kind: 'answered', refusal: 'invalid_arguments' })
    expect(outcome).not.toHaveProperty('errors')
    expect(form.sandbox.views.stack(ada)).toHaveLength(1)
  })

  test('can push up to three views; a fourth is refused', async () => {
    const form = await openForm(view)
    form.told.reply = { response_action: 'push', view: modalOf(view.blocks) }
    const push = () => form.sandbox.people.submitView({ user: ada })
    expect([await push(), await push()]).not.toContainEqual(expect.objectContaining({ refusal: expect.any(String) }))
    expect(await push()).toMatchObject({ refusal: 'push_limit_reached' })
    const [root, middle, top] = form.sandbox.views.stack(ada)
    expect(top).toMatchObject({ root_view_id: root?.['id'], previous_view_id: middle?.['id'] })
  })
})

describe('a view', () => {
  const named = modalOf([{ type: 'divider' }], { external_id: 'subscribe-1', notify_on_close: true })

  test('has a unique external id', async () => {
    const form = await openForm(named)
    await form.sandbox.people.useGlobalShortcut({ user: grace, callbackId: 'find' })
    const triggerId = form.last()['trigger_id']
    const open = (view: object) => form.call('views.open', { trigger_id: triggerId, view })
    expect((await open(named)).error).toBe('duplicate_external_id')
    const changed = { external_id: 'subscribe-1', view: { ...named, title: plain('Changed') } }
    expect(await form.call('views.update', changed)).toMatchObject({ ok: true, view: { id: form.view['id'] } })
    expect((await form.call('views.publish', { user_id: ada, view: HOME('subscribe-1') })).error).toBe(
      'duplicate_external_id',
    )
    expect(await form.call('views.publish', { user_id: ada, view: HOME('home-1') })).toMatchObject({ ok: true })
    expect(await form.call('views.publish', { user_id: ada, view: HOME('home-1') })).toMatchObject({ ok: true })
  })

  test('loses fields that an update leaves out', async () => {
    const form = await openForm(modalOf([{ type: 'divider' }], { private_metadata: 'kept?', close: plain('Back') }))
    const { submit: _submit, ...bare } = modalOf([{ type: 'divider' }])
    const { view } = await form.call('views.update', { view_id: form.view['id'], view: bare })
    expect(view).toMatchObject({ private_metadata: '', close: null, submit: null, id: form.view['id'] })
  })

  test('with clear_on_close closes the whole stack, and its request says so', async () => {
    const form = await openForm(modalOf([input('project', { type: 'plain_text_input', initial_value: 'a' })]))
    form.told.reply = {
      response_action: 'push',
      view: modalOf([{ type: 'divider' }], { clear_on_close: true, notify_on_close: true }),
    }
    await form.deed(submitOf(form))
    const [, top] = form.sandbox.views.stack(ada)
    expect(await form.deed({ kind: 'close', user: ada, view: form.view['id'] })).toMatchObject({ httpStatus: 400 })
    await form.deed({ kind: 'close', user: ada, view: top?.['id'] })
    expect(form.last()).toMatchObject({ type: 'view_closed', is_cleared: true, view: { id: top?.['id'] } })
    expect(form.sandbox.views.stack(ada)).toEqual([])
    expect(await form.deed({ kind: 'close', user: ada, view: top?.['id'] })).toMatchObject({ httpStatus: 404 })
  })

  test('sends its values with a button press, without a response_url', async () => {
    const form = await openForm(
      modalOf([
        input('project', { type: 'plain_text_input' }),
        input('event', { type: 'static_select', options: [option('failed')] }, { dispatch_action: true }),
      ]),
    )
    const values = {
      project: { a: { type: 'plain_text_input', value: 'acme/api' } },
      event: { a: { type: 'static_select', selected_option: { value: 'failed' } } },
    }
    const press = { kind: 'press', user: ada, view: form.view['id'], actionId: 'a', values }
    expect(await form.deed({ ...press, blockId: 'project' })).toMatchObject({ because: 'no_dispatch_action' })
    await form.deed({ ...press, blockId: 'event' })
    expect(form.last()).toMatchObject({
      type: 'block_actions',
      container: { type: 'view', view_id: form.view['id'] },
      trigger_id: expect.any(String),
      view: { state: { values } },
      actions: [{ block_id: 'event', type: 'static_select', selected_option: option('failed') }],
    })
    expect(form.last()).not.toHaveProperty('response_url')
    expect(await form.deed({ ...press, actionId: 'b' })).toMatchObject({ httpStatus: 404 })
    expect(await form.deed({ ...press, blockId: 'event', confirmed: false })).toMatchObject({ httpStatus: 400 })
    expect(await form.deed({ ...press, user: grace })).toMatchObject({ httpStatus: 404 })
  })

  test('gets the options of a search from the bot', async () => {
    const form = await openForm(modalOf([input('project', { type: 'external_select' })]))
    form.told.reply = { options: [option('acme/web')] }
    const search = { kind: 'suggest', user: ada, view: form.view['id'], actionId: 'a', value: 'acm' }
    expect(await form.deed(search)).toMatchObject({ kind: 'suggested', options: [option('acme/web')] })
    expect(form.last()).toMatchObject({ type: 'block_suggestion', value: 'acm', view: { id: form.view['id'] } })
    expect(await form.deed({ ...search, value: 'ac' })).toMatchObject({ httpStatus: 400 })
    form.told.reply = {}
    expect(await form.deed(search)).toMatchObject({ kind: 'answered', refusal: 'invalid_arguments' })
  })
})

const HOME = (externalId: string) => ({ type: 'home', external_id: externalId, blocks: [{ type: 'divider' }] })

describe('a home tab', () => {
  const blocks = [{ type: 'actions', elements: [{ type: 'button', action_id: 'list', text: plain('Projects') }] }]

  test('can be opened and used, even under a modal, but not submitted or closed', async () => {
    const form = await openForm(modalOf([{ type: 'divider' }]))
    const { view } = await form.call('views.publish', { user_id: ada, view: { type: 'home', blocks } })
    const id = objectOf(view)['id']
    await form.deed({ kind: 'open-home', user: ada })
    expect(JSON.parse(form.bot.received.at(-1)!.body)).toMatchObject({
      event: { type: 'app_home_opened', user: ada, channel: 'D0ADA00001', tab: 'home', view: { id } },
    })
    expect(await form.call('chat.postMessage', { channel: 'D0ADA00001', text: 'welcome' })).toMatchObject({ ok: true })
    await form.deed({ kind: 'press', user: ada, view: id, actionId: 'list' })
    expect(form.last()).toMatchObject({
      type: 'block_actions',
      view: { id, type: 'home' },
      trigger_id: expect.any(String),
    })
    expect(form.last()).not.toHaveProperty('response_url')
    expect(await form.deed({ kind: 'submit', user: ada, view: id })).toMatchObject({ httpStatus: 400 })
    expect(await form.deed({ kind: 'close', user: ada, view: id })).toMatchObject({ httpStatus: 400 })
  })

  test('can have up to 100 blocks', async () => {
    const { call } = await openBoth()
    const publish = (count: number) =>
      call('views.publish', {
        user_id: ada,
        view: { type: 'home', blocks: Array.from({ length: count }, () => ({ type: 'divider' })) },
      })
    expect([(await publish(100)).ok, (await publish(101)).error]).toEqual([true, 'invalid_arguments'])
  })
})
