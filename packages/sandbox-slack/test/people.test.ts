import { describe, expect, test } from 'vitest'
import { objectOf } from '../src/json.ts'
import { signature } from '../src/sign.ts'
import { PEOPLE } from '../src/workspace.ts'
import { answering, formOf, isSigned, only, openBoth, payloadOf } from './bot.ts'
import type { Bot } from './bot.ts'
import { BUILDS, openStage, START_MS } from './stage.ts'
import type { Stage } from './stage.ts'

const button = (actionId: string, value: string) => ({
  type: 'button',
  action_id: actionId,
  value,
  text: { type: 'plain_text', text: 'Restart' },
})
const blocks = [{ type: 'actions', block_id: 'b1', elements: [button('restart', '512')] }]
const command = { user: PEOPLE.ada, channel: BUILDS, command: '/ci', text: 'status acme/web' }

test('the signature is that of the example in Slack’s documentation', () => {
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V' +
    '&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=' +
    '&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
    '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  expect(signature('8f742231b10e8888abcd99yyyzzz85a5', 1_531_420_618, body)).toBe(
    'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  )
})

describe('every request is signed', () => {
  const doings: [string, (stage: Stage, ts: string) => Promise<unknown>][] = [
    ['a command', ({ sandbox }) => sandbox.people.runCommand(command)],
    [
      'a click',
      ({ sandbox }, ts) => sandbox.people.click({ user: PEOPLE.ada, channel: BUILDS, ts, actionId: 'restart' }),
    ],
    [
      'a shortcut',
      ({ sandbox }, ts) => sandbox.people.useShortcut({ user: PEOPLE.ada, channel: BUILDS, ts, callbackId: 'why' }),
    ],
    ['a mention', ({ sandbox }) => sandbox.people.mentionBot({ user: PEOPLE.ada, channel: BUILDS, text: 'stop' })],
    ['an opened home', ({ sandbox }) => sandbox.people.openHome(PEOPLE.ada)],
    ['the url verification', ({ sandbox }) => sandbox.people.verifyUrl('c1')],
  ]

  test.each(doings)('%s', async (_what, act) => {
    const { bot, ...stage } = await openBoth()
    await act(stage, await stage.post({ blocks }))
    const request = only(bot.received)
    expect(isSigned(request, stage.sandbox.signingSecret)).toBe(true)
    expect(isSigned({ ...request, body: `${request.body} ` }, stage.sandbox.signingSecret)).toBe(false)
    expect(request.headers['x-slack-request-timestamp']).toBe(String(START_MS / 1_000))
  })

  test('with a wrong secret or time, if a test wants to see it refused', async () => {
    const { bot, sandbox } = await openBoth()
    const forged = {
      what: 'forged',
      contentType: 'application/json',
      body: '{}',
      signingSecret: 'other',
      timestampS: 1,
    } as const
    await sandbox.sender.send(forged)
    expect(isSigned(only(bot.received), sandbox.signingSecret)).toBe(false)
    expect(isSigned(only(bot.received), 'other')).toBe(true)
  })
})

describe('a command', () => {
  test('has user, channel and text', async () => {
    const { bot, sandbox } = await openBoth()
    const acknowledgement = await sandbox.people.runCommand(command)
    expect(acknowledgement).toMatchObject({ kind: 'answered', status: 200, what: 'command /ci' })
    expect(formOf(only(bot.received))).toMatchObject({
      command: '/ci',
      text: 'status acme/web',
      user_id: PEOPLE.ada,
      channel_id: BUILDS,
      channel_name: 'builds',
      response_url: expect.stringContaining(`${sandbox.url}/response/`),
      trigger_id: expect.any(String),
    })
  })

  test('shows the body of the answer to the person, or to the channel with in_channel', async () => {
    const { sandbox } = await openBoth(answering({ response_type: 'in_channel', text: 'for all' }))
    await sandbox.people.runCommand(command)
    expect(sandbox.messages(BUILDS)).toMatchObject([{ text: 'for all' }])
    const other = await openBoth((response) => response.end('only you'))
    await other.sandbox.people.runCommand(command)
    expect(other.sandbox.ephemerals(BUILDS)).toMatchObject([{ userId: PEOPLE.ada, message: { text: 'only you' } }])
  })

  test('reports if Slack would refuse the answer', async () => {
    const { sandbox } = await openBoth(answering({ blocks: [{ type: 'sparkle' }] }))
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'answered', refusal: 'invalid_blocks' })
  })

  test('is late without an answer in time, and unreachable if the connection is refused', async () => {
    const { sandbox } = await openBoth(() => {}, { ackTimeoutMs: 20 })
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'late' })
    sandbox.connectBot('http://127.0.0.1:1/')
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'unreachable' })
    expect(sandbox.sender.acknowledgements.map(({ kind }) => kind)).toEqual(['late', 'unreachable'])
  })

  test('throws if no bot is connected', async () => {
    const { sandbox } = await openStage()
    await expect(sandbox.people.runCommand(command)).rejects.toThrow('no bot is connected')
  })
})

describe('a click', () => {
  test('names the button and the message', async () => {
    const { bot, sandbox, post } = await openBoth()
    const root = await post()
    const ts = await post({ blocks, thread_ts: root })
    await sandbox.people.click({ user: PEOPLE.lin, channel: BUILDS, ts, actionId: 'restart' })
    expect(payloadOf(only(bot.received))).toMatchObject({
      type: 'block_actions',
      user: { id: PEOPLE.lin, team_id: 'T0SANDBOX1' },
      team: { id: 'T0SANDBOX1' },
      channel: { id: BUILDS, name: 'builds' },
      container: { type: 'message', message_ts: ts, channel_id: BUILDS, thread_ts: root, is_ephemeral: false },
      message: { ts, text: 'acme/web #512 failed' },
      trigger_id: expect.any(String),
      response_url: expect.any(String),
      actions: [{ action_id: 'restart', block_id: 'b1', value: '512', type: 'button', action_ts: expect.any(String) }],
    })
  })

  test('in an attachment names the attachment', async () => {
    const { bot, sandbox, post } = await openBoth()
    const ts = await post({ attachments: [{ color: '#e01e5a', blocks }] })
    await sandbox.people.click({ user: PEOPLE.lin, channel: BUILDS, ts, actionId: 'restart', blockId: 'b1' })
    const { container } = payloadOf(only(bot.received))
    expect(container).toMatchObject({ type: 'message_attachment', attachment_id: 1, message_ts: ts })
  })

  test('on an ephemeral message does not contain the message', async () => {
    const { bot, call, sandbox } = await openBoth()
    const args = { channel: BUILDS, user: PEOPLE.ada, text: 'sure?', blocks }
    const ts = String((await call('chat.postEphemeral', args))['message_ts'])
    await sandbox.people.click({ user: PEOPLE.ada, channel: BUILDS, ts, actionId: 'restart' })
    const payload = payloadOf(only(bot.received))
    expect(payload['container']).toMatchObject({ is_ephemeral: true, message_ts: ts })
    expect(payload).not.toHaveProperty('message')
  })

  test('on an unknown button throws', async () => {
    const { sandbox, post } = await openBoth()
    const ts = await post({ blocks })
    expect(() => sandbox.people.click({ user: PEOPLE.ada, channel: BUILDS, ts, actionId: 'stop' })).toThrow(
      'no element stop',
    )
  })
})

describe('events', () => {
  test('a mention is posted in the thread and sent', async () => {
    const { bot, sandbox, post } = await openBoth()
    const threadTs = await post()
    await sandbox.people.mentionBot({ user: PEOPLE.ada, channel: BUILDS, text: 'restart', threadTs })
    const [, said] = sandbox.messages(BUILDS)
    const text = '<@U0BUILDBOT> restart'
    expect(said).toMatchObject({ text, user: PEOPLE.ada, thread_ts: threadTs })
    const envelope = objectOf(JSON.parse(only(bot.received).body))
    expect(envelope).toMatchObject({
      type: 'event_callback',
      event_id: expect.stringMatching(/^Ev/),
      event: { type: 'app_mention', text, user: PEOPLE.ada, channel: BUILDS, thread_ts: threadTs, ts: said?.['ts'] },
    })
  })

  test('an edited mention is sent again, as another event about the same message', async () => {
    const { bot, sandbox } = await openBoth()
    await sandbox.people.mentionBot({ user: PEOPLE.ada, channel: BUILDS, text: 'stop' })
    const ts = String(sandbox.messages(BUILDS)[0]?.['ts'])
    await sandbox.people.editMention({ channel: BUILDS, ts, text: 'restart' })
    const text = '<@U0BUILDBOT> restart'
    const edited = { user: PEOPLE.ada, ts: expect.stringMatching(/^\d+\.\d{6}$/) }
    expect(sandbox.messages(BUILDS)).toMatchObject([{ ts, text, edited }])
    expect(sandbox.counters.writes(BUILDS, ts)).toBe(0)
    const [first, second] = bot.received.map(({ body }) => objectOf(JSON.parse(body)))
    expect(first?.['event']).not.toHaveProperty('edited')
    expect(second?.['event']).toMatchObject({ type: 'app_mention', ts, text, user: PEOPLE.ada, edited })
    expect(second?.['event_id']).not.toBe(first?.['event_id'])
  })

  test('can be sent as retries, like Slack’s', async () => {
    const { bot, sandbox } = await openBoth()
    await sandbox.people.sendEvent({ type: 'app_home_opened', user: PEOPLE.ada }, { eventId: 'Ev1', retryNum: 1 })
    const { headers, body } = only(bot.received)
    expect([headers['x-slack-retry-num'], body.includes('"event_id":"Ev1"')]).toEqual(['1', true])
  })

  test('the url verification has its challenge', async () => {
    const { bot, sandbox } = await openBoth()
    await sandbox.people.verifyUrl('c-42')
    expect(JSON.parse(only(bot.received).body)).toMatchObject({ type: 'url_verification', challenge: 'c-42' })
  })

  test('a shortcut has its message', async () => {
    const { bot, sandbox, post } = await openBoth()
    const ts = await post()
    await sandbox.people.useShortcut({ user: PEOPLE.ada, channel: BUILDS, ts, callbackId: 'why' })
    const payload = payloadOf(only(bot.received))
    expect(payload).toMatchObject({ type: 'message_action', callback_id: 'why', message_ts: ts, message: { ts } })
  })
})

const modal = (title: string) => ({
  type: 'modal',
  callback_id: 'subscribe',
  title: { type: 'plain_text', text: title },
  submit: { type: 'plain_text', text: 'Save' },
  blocks: [
    {
      type: 'input',
      block_id: 'project',
      label: { type: 'plain_text', text: 'Project' },
      element: { type: 'plain_text_input', action_id: 'name' },
    },
    { type: 'actions', elements: [button('add', '1')] },
  ],
})

describe('triggers and views', () => {
  const triggerOf = async ({ sandbox, bot }: Stage & { bot: Bot }): Promise<string> => {
    await sandbox.people.runCommand(command)
    return formOf(bot.received.at(-1)!)['trigger_id'] ?? ''
  }

  test('a trigger opens one view within 3 s', async () => {
    const stage = await openBoth()
    const trigger = await triggerOf(stage)
    stage.clock.advance(3_000)
    const open = (id: string) => stage.call('views.open', { trigger_id: id, view: modal('Subscribe') })
    expect(await open(trigger)).toMatchObject({ ok: true, view: { callback_id: 'subscribe', id: expect.any(String) } })
    expect((await open(trigger)).error).toBe('exchanged_trigger_id')
    expect((await open('made-up')).error).toBe('invalid_trigger_id')
    expect(stage.sandbox.views.stack(PEOPLE.ada)).toHaveLength(1)
  })

  test('a trigger expires after 3 s', async () => {
    const stage = await openBoth()
    const trigger = await triggerOf(stage)
    stage.clock.advance(3_001)
    const body = await stage.call('views.open', { trigger_id: trigger, view: modal('Subscribe') })
    expect(body.error).toBe('expired_trigger_id')
    expect(stage.sandbox.views.stack(PEOPLE.ada)).toEqual([])
  })

  test('a view that Slack refuses does not use up the trigger', async () => {
    const stage = await openBoth()
    const trigger = await triggerOf(stage)
    const bad = await stage.call('views.open', { trigger_id: trigger, view: modal('A title longer than 24 chars') })
    expect(bad).toMatchObject({
      error: 'invalid_arguments',
      response_metadata: { messages: [expect.stringContaining('/view/title/text')] },
    })
    expect(await stage.call('views.open', { trigger_id: trigger, view: modal('Subscribe') })).toMatchObject({
      ok: true,
    })
  })

  async function openModal(stage: Stage & { bot: Bot }): Promise<Record<string, unknown>> {
    const trigger = await triggerOf(stage)
    const { view } = await stage.call('views.open', { trigger_id: trigger, view: modal('Subscribe') })
    return objectOf(view)
  }

  test('an update with a stale hash is refused', async () => {
    const stage = await openBoth()
    const { id, hash } = await openModal(stage)
    const update = (args: object) => stage.call('views.update', { view_id: id, view: modal('Changed'), ...args })
    expect(await update({ hash })).toMatchObject({ ok: true, view: { id, title: { text: 'Changed' } } })
    expect((await update({ hash })).error).toBe('hash_conflict')
    expect((await update({ view_id: 'V0NONE' })).error).toBe('not_found')
  })

  test('a stack has at most three views', async () => {
    const stage = await openBoth()
    await openModal(stage)
    const push = async () => stage.call('views.push', { trigger_id: await triggerOf(stage), view: modal('More') })
    expect([(await push()).ok, (await push()).ok, (await push()).error]).toEqual([true, true, 'push_limit_reached'])
  })

  test('a home tab is published and opened', async () => {
    const { bot, call, sandbox } = await openBoth()
    const view = { type: 'home', blocks: [{ type: 'divider' }] }
    expect(await call('views.publish', { user_id: PEOPLE.ada, view })).toMatchObject({
      ok: true,
      view: { type: 'home' },
    })
    expect((await call('views.publish', { user_id: 'U0NOBODY01', view })).error).toBe('user_not_found')
    expect((await call('views.publish', { user_id: PEOPLE.ada, view: modal('No') })).error).toBe('invalid_arguments')
    await sandbox.people.openHome(PEOPLE.ada)
    expect(JSON.parse(only(bot.received).body)).toMatchObject({
      event: { type: 'app_home_opened', tab: 'home', view: { type: 'home' } },
    })
  })

  test('a submission has the values, and an empty answer closes the modal', async () => {
    const stage = await openBoth()
    await openModal(stage)
    const values = { project: { name: { type: 'plain_text_input', value: 'acme/web' } } }
    await stage.sandbox.people.submitView({ user: PEOPLE.ada, values })
    expect(payloadOf(stage.bot.received.at(-1)!)).toMatchObject({
      type: 'view_submission',
      user: { id: PEOPLE.ada },
      view: { callback_id: 'subscribe', state: { values } },
    })
    expect(stage.sandbox.views.stack(PEOPLE.ada)).toEqual([])
  })

  test.each([
    [
      'errors leave the modal open',
      { response_action: 'errors', errors: { project: 'unknown' } },
      ['Subscribe'],
      undefined,
    ],
    ['update changes it', { response_action: 'update', view: modal('Done') }, ['Done'], undefined],
    ['push opens one above it', { response_action: 'push', view: modal('Sure?') }, ['Subscribe', 'Sure?'], undefined],
    ['clear closes all', { response_action: 'clear' }, [], undefined],
    [
      'a refused view changes nothing',
      { response_action: 'update', view: { type: 'modal' } },
      ['Subscribe'],
      'invalid_arguments',
    ],
  ])('%s', async (_what, answer, titles, refusal) => {
    let reply: unknown = ''
    const stage = await openBoth((response) => void (reply ? answering(reply)(response) : response.end()))
    await openModal(stage)
    reply = answer
    const acknowledgement = await stage.sandbox.people.submitView({ user: PEOPLE.ada })
    expect(stage.sandbox.views.stack(PEOPLE.ada)).toMatchObject(titles.map((text) => ({ title: { text } })))
    expect(acknowledgement).toMatchObject(refusal ? { refusal } : { kind: 'answered' })
  })

  test('a click in a modal names the view', async () => {
    const stage = await openBoth()
    const { id } = await openModal(stage)
    await stage.sandbox.people.clickInView({ user: PEOPLE.ada, actionId: 'add' })
    const payload = payloadOf(stage.bot.received.at(-1)!)
    expect(payload).toMatchObject({
      type: 'block_actions',
      container: { type: 'view', view_id: id },
      actions: [{ value: '1' }],
    })
  })
})

describe('a response_url', () => {
  const use = (url: string, body: object) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  async function openUrl(): Promise<Stage & { url: string; ts: string }> {
    const stage = await openBoth()
    const ts = await stage.post({ blocks })
    await stage.sandbox.people.click({ user: PEOPLE.ada, channel: BUILDS, ts, actionId: 'restart' })
    return { ...stage, ts, url: String(payloadOf(only(stage.bot.received))['response_url']) }
  }

  test('accepts five answers and no sixth', async () => {
    const { url, sandbox } = await openUrl()
    const statuses = []
    for (let count = 0; count < 6; count += 1) statuses.push((await use(url, { text: 'a' })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 404])
    expect(await (await use(url, { text: 'a' })).json()).toEqual({ ok: false, error: 'used_url' })
    expect(sandbox.ephemerals(BUILDS)).toHaveLength(5)
  })

  test('works for 30 minutes and not longer', async () => {
    const { url, clock } = await openUrl()
    clock.advance(30 * 60_000)
    expect((await use(url, { text: 'a' })).status).toBe(200)
    clock.advance(1)
    expect(await (await use(url, { text: 'a' })).json()).toEqual({ ok: false, error: 'expired_url' })
  })

  test('posts to the channel on request, also in a thread', async () => {
    const { url, sandbox, ts } = await openUrl()
    await use(url, { text: 'for all', response_type: 'in_channel', thread_ts: ts })
    expect(sandbox.messages(BUILDS)[1]).toMatchObject({ text: 'for all', thread_ts: ts })
  })

  test('replaces the original with its blocks, or deletes it', async () => {
    const { url, sandbox } = await openUrl()
    await use(url, { text: 'restarted', replace_original: true })
    expect(sandbox.messages(BUILDS)).toMatchObject([{ text: 'restarted' }])
    expect(sandbox.messages(BUILDS)[0]).not.toHaveProperty('blocks')
    await use(url, { delete_original: true })
    expect(sandbox.messages(BUILDS)).toEqual([])
  })

  test('replaces an ephemeral message', async () => {
    const { call, bot, sandbox } = await openBoth()
    const args = { channel: BUILDS, user: PEOPLE.ada, text: 'sure?', blocks }
    const ts = String((await call('chat.postEphemeral', args))['message_ts'])
    await sandbox.people.click({ user: PEOPLE.ada, channel: BUILDS, ts, actionId: 'restart' })
    const url = String(payloadOf(only(bot.received))['response_url'])
    await use(url, { text: 'done', replace_original: true })
    expect(sandbox.ephemerals(BUILDS)).toMatchObject([{ message: { text: 'done' } }])
    await use(url, { delete_original: true })
    expect(sandbox.ephemerals(BUILDS)).toEqual([])
  })

  test('refuses content that Slack refuses, and an unknown URL', async () => {
    const { url, sandbox } = await openUrl()
    const bad = await use(url, { blocks: [{ type: 'sparkle' }] })
    expect([bad.status, await bad.json()]).toMatchObject([400, { error: 'invalid_blocks' }])
    expect((await use(`${sandbox.url}/response/T0SANDBOX1/none`, { text: 'a' })).status).toBe(404)
    expect(sandbox.ephemerals(BUILDS)).toEqual([])
  })

  test('can have faults like any method', async () => {
    const { url, sandbox } = await openUrl()
    sandbox.faults.add({ kind: '5xx', method: 'response_url', times: 1 })
    expect((await use(url, { text: 'a' })).status).toBe(503)
    expect((await use(url, { text: 'a' })).status).toBe(200)
  })
})
