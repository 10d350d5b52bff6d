import { describe, expect, test } from 'vitest'
import type { SandboxSlack } from '../src/sandbox-slack.ts'
import { ACCOUNTS, CHANNELS, PEOPLE } from '../src/workspace.ts'
import { answering, formOf, isSigned, only, openBoth, payloadOf } from './bot.ts'
import { BUILDS, bodyOf, openStage } from './stage.ts'

const { ada, grace, gus, lin, sol } = PEOPLE

const confirm = {
  title: { type: 'plain_text', text: 'Stop?' },
  text: { type: 'plain_text', text: 'web #512 stops.' },
  confirm: { type: 'plain_text', text: 'Stop' },
  deny: { type: 'plain_text', text: 'Keep' },
}
const button = (actionId: string, more: object = {}) => ({
  type: 'button',
  action_id: actionId,
  value: '512',
  text: { type: 'plain_text', text: actionId },
  ...more,
})
const menu = {
  type: 'static_select',
  action_id: 'pick',
  options: [{ text: { type: 'plain_text', text: 'main' }, value: 'main' }],
}
const blocks = [{ type: 'actions', block_id: 'b1', elements: [button('stop', { confirm }), button('restart'), menu] }]

const searching = {
  type: 'actions',
  block_id: 'b2',
  elements: [{ type: 'external_select', action_id: 'find', placeholder: { type: 'plain_text', text: 'A branch' } }],
}
const search = { kind: 'search', user: lin, channel: BUILDS, actionId: 'find', value: 'mai' }

/** Performs an action of a person over HTTP. Returns the answer's status and body. */
async function deed({ url }: SandboxSlack, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/sandbox/people`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, body: await bodyOf(answer) }
}

describe('an action over HTTP', () => {
  test('a command reaches the bot, and the answer reaches the person', async () => {
    const { bot, sandbox } = await openBoth((response) => response.end('2 projects'))
    const { status, body } = await deed(sandbox, {
      kind: 'command',
      user: ada,
      channel: BUILDS,
      command: '/ci',
      text: 'list',
    })
    expect([status, body]).toMatchObject([200, { kind: 'answered', what: 'command /ci', status: 200 }])
    expect(formOf(only(bot.received))).toMatchObject({ command: '/ci', text: 'list', user_id: ada, channel_id: BUILDS })
    expect(sandbox.ephemerals(BUILDS, ada)).toMatchObject([{ message: { text: '2 projects' } }])
  })

  test('a click reaches the bot with the choice', async () => {
    const { bot, sandbox, post } = await openBoth()
    const ts = await post({ blocks })
    const selected = { selected_option: menu.options[0] }
    const { body } = await deed(sandbox, {
      kind: 'click',
      user: lin,
      channel: BUILDS,
      ts,
      actionId: 'pick',
      blockId: 'b1',
      selected,
    })
    expect(body).toMatchObject({ kind: 'answered', what: 'click pick' })
    expect(payloadOf(only(bot.received))).toMatchObject({
      type: 'block_actions',
      user: { id: lin },
      container: { message_ts: ts },
      actions: [{ action_id: 'pick', selected_option: { value: 'main' } }],
    })
  })

  test('a search in a message sends a signed request, and returns the bot’s options', async () => {
    const { bot, sandbox, post } = await openBoth(answering({ options: menu.options }))
    const ts = await post({ blocks: [searching] })
    const { body } = await deed(sandbox, { ...search, ts })
    expect(body).toMatchObject({ kind: 'suggested', what: 'suggestion find', options: [{ value: 'main' }] })
    const asked = only(bot.received)
    expect(isSigned(asked, sandbox.signingSecret)).toBe(true)
    expect(payloadOf(asked)).toMatchObject({
      type: 'block_suggestion',
      user: { id: lin },
      container: { type: 'message', message_ts: ts, channel_id: BUILDS },
      channel: { id: BUILDS },
      action_id: 'find',
      block_id: 'b2',
      value: 'mai',
    })
  })

  test.each<[string, object, object]>([
    ['options that violate Slack’s limits', { options: [{ value: 'main' }] }, { refusal: expect.any(String) }],
    ['an answer without options', { found: 1 }, { refusal: expect.any(String) }],
  ])('a search that is answered with %s finds nothing', async (_what, answer, told) => {
    const { sandbox, post } = await openBoth(answering(answer))
    const ts = await post({ blocks: [searching] })
    const { body } = await deed(sandbox, { ...search, ts })
    expect(body).toMatchObject({ kind: 'answered', ...told })
    expect(body).not.toHaveProperty('options')
  })

  test('a no in the dialog sends nothing', async () => {
    const { bot, sandbox, post } = await openBoth()
    const click = { kind: 'click', user: lin, channel: BUILDS, ts: await post({ blocks }), actionId: 'stop' }
    expect((await deed(sandbox, { ...click, confirmed: false })).body).toMatchObject({
      kind: 'unsent',
      because: 'not_confirmed',
    })
    expect(bot.received).toEqual([])
    expect((await deed(sandbox, { ...click, confirmed: true })).body).toMatchObject({ kind: 'answered' })
    expect(bot.received).toHaveLength(1)
  })

  test('a shortcut sends its message', async () => {
    const { bot, sandbox, post } = await openBoth()
    const ts = await post()
    await deed(sandbox, { kind: 'shortcut', user: ada, channel: BUILDS, ts, callbackId: 'restart_build' })
    expect(payloadOf(only(bot.received))).toMatchObject({
      type: 'message_action',
      callback_id: 'restart_build',
      message: { ts },
    })
  })

  test('a reply appears in the thread, and sends the bot nothing', async () => {
    const { bot, sandbox, post } = await openBoth()
    const threadTs = await post()
    const said = await deed(sandbox, { kind: 'say', user: grace, channel: BUILDS, text: 'my fault', threadTs })
    const [, reply] = sandbox.messages(BUILDS)
    expect(said).toMatchObject({ status: 200, body: { kind: 'said', ts: reply?.['ts'] } })
    expect(reply).toMatchObject({ text: 'my fault', user: grace, thread_ts: threadTs })
    expect(bot.received).toEqual([])
  })

  test.each([
    ['@Buildline restart', '<@U0BUILDBOT> restart'],
    ['@buildline, why?', '<@U0BUILDBOT>, why?'],
    ['  <@U0BUILDBOT>  stop  now ', '<@U0BUILDBOT>  stop  now'],
    ['@Buildline', '<@U0BUILDBOT>'],
    ['hey @Buildline status', 'hey <@U0BUILDBOT> status'],
  ])('a text with the bot’s name is a mention: %s', async (text, told) => {
    const { bot, sandbox, post } = await openBoth()
    const threadTs = await post()
    const { body } = await deed(sandbox, { kind: 'say', user: ada, channel: BUILDS, text, threadTs })
    expect(body).toMatchObject({ kind: 'answered', what: 'event app_mention' })
    expect(JSON.parse(only(bot.received).body)).toMatchObject({
      event: { type: 'app_mention', user: ada, text: told, thread_ts: threadTs },
    })
  })

  test.each(['@Buildlines restart', 'ask x@Buildline', 'Buildline stop', '@Grace restart'])(
    'another text is not: %s',
    async (text) => {
      const { bot, sandbox } = await openBoth()
      expect((await deed(sandbox, { kind: 'say', user: ada, channel: BUILDS, text })).body).toMatchObject({
        kind: 'said',
      })
      expect(sandbox.messages(BUILDS)).toMatchObject([{ text }])
      expect(bot.received).toEqual([])
    },
  )

  test('the answer says if the bot is late or unreachable, or if Slack refuses its answer', async () => {
    const command = { kind: 'command', user: ada, channel: BUILDS, command: '/ci', text: '' }
    const { sandbox } = await openBoth(() => {}, { ackTimeoutMs: 20 })
    expect(await deed(sandbox, command)).toMatchObject({ status: 200, body: { kind: 'late' } })
    sandbox.connectBot('http://127.0.0.1:1/')
    expect((await deed(sandbox, command)).body).toMatchObject({ kind: 'unreachable', cause: expect.any(String) })
    const refused = await openBoth(answering({ blocks: [{ type: 'sparkle' }] }))
    expect((await deed(refused.sandbox, command)).body).toMatchObject({ refusal: 'invalid_blocks' })
  })
})

describe('a refused action', () => {
  const command = { kind: 'command', user: ada, channel: BUILDS, command: '/ci', text: '' }
  const say = { kind: 'say', user: ada, channel: BUILDS, text: 'hello' }

  test.each<[string, unknown, string]>([
    ['a text instead of an object', 'hello', 'expected object'],
    ['an unknown kind', { kind: 'dance', user: ada, channel: BUILDS }, 'kind'],
    ['a command without its slash', { ...command, command: 'ci' }, 'command'],
    ['an unknown field', { ...command, threadTs: '1.0' }, 'threadTs'],
    ['a blank text', { ...say, text: ' \n' }, 'nothing is said'],
    ['a number as text', { ...say, text: 5 }, 'text'],
    ['the bot as a person', { ...say, user: 'U0BUILDBOT' }, 'nobody acts as Buildline'],
    ['a deactivated account', { ...say, user: ACCOUNTS.deactivated }, 'nobody acts as Former member'],
    ['an archived channel', { ...say, channel: CHANNELS.archived }, '#old-builds is archived'],
    ['a channel that the person is not in', { ...say, user: gus, channel: CHANNELS.ops }, 'Gus is not in #ops'],
  ])('%s: 400, and nothing happens', async (_what, body, reason) => {
    const { bot, sandbox } = await openBoth()
    const refusal = await deed(sandbox, body)
    expect(refusal).toMatchObject({ status: 400, body: { ok: false, error: expect.stringContaining(reason) } })
    expect([bot.received, sandbox.transcript(BUILDS)]).toEqual([[], ''])
  })

  test('a no without a dialog, and a thread in a thread: 400', async () => {
    const { bot, sandbox, post } = await openBoth()
    const ts = await post({ blocks })
    const reply = await post({ thread_ts: ts })
    const no = { kind: 'click', user: ada, channel: BUILDS, ts, actionId: 'restart', confirmed: false }
    expect(await deed(sandbox, no)).toMatchObject({ status: 400, body: { error: 'restart asks for no confirmation' } })
    expect(await deed(sandbox, { ...say, threadTs: reply })).toMatchObject({ status: 400 })
    expect([bot.received.length, sandbox.messages(BUILDS).length]).toEqual([0, 2])
  })

  test('a search with too few characters: 400, and the bot gets nothing', async () => {
    const { bot, sandbox, post } = await openBoth()
    const ts = await post({ blocks: [searching] })
    expect(await deed(sandbox, { ...search, ts, value: 'ma' })).toMatchObject({
      status: 400,
      body: { error: 'find asks the bot from 3 characters on' },
    })
    expect(bot.received).toEqual([])
  })

  test('an unknown person or target: 404, and nothing happens', async () => {
    const { bot, call, post, sandbox } = await openBoth()
    const ts = await post({ blocks })
    const shown = await call('chat.postEphemeral', { channel: BUILDS, user: grace, text: 'sure?', blocks })
    const click = { kind: 'click', user: ada, channel: BUILDS, ts, actionId: 'restart' }
    const absent = [
      { ...command, user: 'U0NOBODY01' },
      { ...command, channel: 'C0NOWHERE1' },
      { ...say, threadTs: '1.000000' },
      { ...click, ts: '1.000000' },
      { ...click, actionId: 'launch' },
      { ...click, blockId: 'b2' },
      { ...click, ts: shown['message_ts'] },
      { kind: 'shortcut', user: ada, channel: BUILDS, ts: shown['message_ts'], callbackId: 'stop_build' },
      { ...search, ts },
    ]
    const statuses = []
    for (const body of absent) statuses.push((await deed(sandbox, body)).status)
    expect(statuses).toEqual(absent.map(() => 404))
    expect([bot.received.length, sandbox.messages(BUILDS).length]).toEqual([0, 1])
    expect((await deed(sandbox, { ...click, user: grace, ts: shown['message_ts'] })).status).toBe(200)
  })

  test('a command while no bot is connected: 503; a message is still posted', async () => {
    const { sandbox } = await openStage()
    expect(await deed(sandbox, command)).toMatchObject({
      status: 503,
      body: { error: expect.stringContaining('no bot') },
    })
    expect(await deed(sandbox, say)).toMatchObject({ status: 200, body: { kind: 'said' } })
  })

  test('a page of another site: 403; an outsider in a channel that is not shared: 400', async () => {
    const { bot, sandbox } = await openBoth()
    expect((await deed(sandbox, command, { origin: 'http://elsewhere.test' })).status).toBe(403)
    expect((await deed(sandbox, { ...command, user: sol })).status).toBe(400)
    expect(bot.received).toEqual([])
    expect((await deed(sandbox, command, { origin: sandbox.url })).status).toBe(200)
    expect((await deed(sandbox, { ...command, user: sol, channel: CHANNELS.shared })).status).toBe(200)
  })
})
