import { expect, test } from 'vitest'
import { objectOf } from '../../packages/sandbox-slack/src/json.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { formOf, only, openBoth, payloadOf } from '../../packages/sandbox-slack/test/bot.ts'
import { BUILDS, until } from '../../packages/sandbox-slack/test/stage.ts'
import { describeInBrowser, openPage, PHONE } from './stage.ts'
import {
  actAs,
  answer,
  chooseFor,
  expectToFit,
  find,
  goTo,
  message,
  messages,
  modal,
  noDialog,
  openThread,
  reply,
  thread,
  unnamed,
  write,
} from './person.ts'

const { ada, grace } = PEOPLE
const plain = (text: string) => ({ type: 'plain_text', text })
const confirm = {
  title: plain('Stop this build?'),
  text: plain('web #512 stops.'),
  confirm: plain('Stop it'),
  deny: plain('Keep it'),
}
const blocks = [
  {
    type: 'actions',
    block_id: 'b1',
    elements: [
      { type: 'button', action_id: 'open', text: plain('Open build'), url: 'http://127.0.0.1:9/512' },
      { type: 'button', action_id: 'stop', text: plain('Stop'), value: '512', confirm },
      { type: 'button', action_id: 'restart', text: plain('Restart'), value: '512' },
    ],
  },
]

/** A sandbox with a bot that answers as told, and its page, at which Ada sits and looks at #builds. */
async function openSandbox(answering?: Parameters<typeof openBoth>[0], options: Parameters<typeof openBoth>[1] = {}) {
  const stage = await openBoth(answering, options)
  const page = await openPage(stage.sandbox.url)
  await page.getByRole('textbox', { name: 'Message #builds as Ada' }).waitFor()
  return { ...stage, page }
}

const option = (value: string) => ({ text: plain(value), value })
const input = (blockId: string, element: object, more: object = {}) => ({
  type: 'input',
  block_id: blockId,
  label: plain(blockId),
  element,
  ...more,
})
const form = {
  type: 'modal',
  callback_id: 'subscribe',
  title: plain('Subscribe'),
  submit: plain('Save'),
  blocks: [
    input('project', { type: 'plain_text_input', action_id: 'name' }),
    input(
      'event',
      { type: 'static_select', action_id: 'kind', options: ['success', 'failed'].map(option) },
      { optional: true },
    ),
    input(
      'tones',
      { type: 'radio_buttons', action_id: 'tone', options: ['quiet', 'loud'].map(option) },
      { optional: true },
    ),
    input(
      'extras',
      { type: 'checkboxes', action_id: 'extra', options: ['thread', 'mention'].map(option) },
      { optional: true },
    ),
    input('search', { type: 'external_select', action_id: 'find' }, { optional: true }),
    input('place', { type: 'conversations_select', action_id: 'channel', default_to_current_conversation: true }),
  ],
}

/** The page, and a modal that the bot opened for Ada's command; `reply` is what the bot answers from then on. */
async function openForm() {
  const told = { reply: '' as unknown }
  const stage = await openSandbox((response) => {
    if (told.reply === '') return void response.end()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(told.reply))
  })
  await write(stage.page, '/ci subscribe')
  await until(() => stage.bot.received.length > 0)
  const { trigger_id: triggerId } = formOf(only(stage.bot.received))
  await stage.call('views.open', { trigger_id: triggerId, view: form })
  return Object.assign(told, stage, { opened: await modal(stage.page, 'Subscribe') })
}

describeInBrowser('at the page', () => {
  test('Enter runs a command, and the answer is visible to who asked', async () => {
    const { bot, page } = await openSandbox((response) => response.end('2 projects'))
    await write(page, '/ci list')
    await answer(page, '2 projects')
    expect(formOf(only(bot.received))).toMatchObject({ command: '/ci', text: 'list', user_id: ada })
    await page.getByRole('status').filter({ hasText: 'Buildline: 2 projects' }).waitFor({ state: 'attached' })
    await actAs(page, 'Grace')
    await messages(page, '2 projects').waitFor({ state: 'hidden' })
  })

  test('who acts is remembered', async () => {
    const { page, sandbox } = await openSandbox()
    await actAs(page, 'Grace')
    await page.getByRole('textbox', { name: 'Message #builds as Grace' }).waitFor()
    await page.reload()
    await page.getByRole('textbox', { name: 'Message #builds as Grace' }).waitFor()
    await write(page, 'looking at <main>')
    await message(page, 'looking at <main>')
    expect(sandbox.messages(BUILDS)).toMatchObject([{ user: grace, text: 'looking at &lt;main&gt;' }])
  })

  test('a button that asks is sent after yes, and not after no or Escape', async () => {
    const { bot, page, post } = await openSandbox()
    const ts = await post({ blocks })
    const card = await message(page, 'Restart')
    const stop = card.getByRole('button', { name: 'Stop' })
    await stop.click()
    const sure = page.getByRole('dialog', { name: 'Stop this build?' })
    expect((await sure.innerText()).split('\n').filter(Boolean)).toEqual([
      'Stop this build?',
      'web #512 stops.',
      'Keep it',
      'Stop it',
    ])
    await sure.getByRole('button', { name: 'Keep it' }).click()
    await noDialog(page)
    await stop.click()
    await page.keyboard.press('Escape')
    await noDialog(page)
    await card.getByRole('button', { name: 'Restart' }).click()
    await until(() => bot.received.length > 0)
    await stop.click()
    await sure.getByRole('button', { name: 'Stop it' }).click()
    await until(() => bot.received.length > 1)
    expect(bot.received.map(payloadOf)).toMatchObject([
      { user: { id: ada }, container: { message_ts: ts }, actions: [{ action_id: 'restart' }] },
      { user: { id: ada }, container: { message_ts: ts }, actions: [{ action_id: 'stop' }] },
    ])
  })

  test('a link button is a link, and its click is told', async () => {
    const { bot, page, post } = await openSandbox()
    await post({ blocks })
    const link = (await message(page, 'Restart')).getByRole('link', { name: 'Open build' })
    expect(await link.getAttribute('href')).toBe('http://127.0.0.1:9/512')
    // The link's target is nowhere: what counts is that the click is told.
    await page.evaluate(`addEventListener('click', (event) => event.preventDefault(), { once: true })`)
    await link.click()
    await until(() => bot.received.length > 0)
    expect(payloadOf(only(bot.received))).toMatchObject({ actions: [{ action_id: 'open', type: 'button' }] })
  })

  test('the message’s menu opens a thread and runs a shortcut; a mention in the thread tells the bot', async () => {
    const { bot, page, post } = await openSandbox()
    const ts = await post()
    const card = await message(page, 'acme/web #512')
    await chooseFor(page, card, 'Stop this build')
    await until(() => bot.received.length > 0)
    expect(payloadOf(bot.received[0]!)).toMatchObject({ type: 'message_action', callback_id: 'stop_build' })
    await chooseFor(page, card, 'Reply in thread')
    await reply(page, '@Buildline status')
    await until(() => bot.received.length > 1)
    expect(JSON.parse(bot.received[1]!.body)).toMatchObject({ event: { type: 'app_mention', thread_ts: ts } })
  })

  test('a bot that stays mute is told of, and the command is there to be sent again', async () => {
    const { bot, page } = await openSandbox(() => {}, { ackTimeoutMs: 1_000 })
    await write(page, '/ci list')
    const trouble = page.getByRole('alert').filter({ hasText: 'Buildline did not answer in time' })
    await trouble.waitFor()
    expect(await page.getByRole('textbox', { name: /^Message / }).inputValue()).toBe('/ci list')
    expect(bot.received).toHaveLength(1)
    await trouble.getByRole('button', { name: 'Close this line' }).click()
    await trouble.waitFor({ state: 'hidden' })
  })

  test('Escape closes the menu and only then the thread', async () => {
    const { page, post, call } = await openSandbox()
    const ts = await post()
    await call('chat.postMessage', { channel: BUILDS, text: 'told again', thread_ts: ts })
    const opened = await openThread(page, await message(page, 'acme/web #512'))
    const root = opened.getByRole('article').first()
    await root.hover()
    await root.getByRole('button', { name: /^More actions/ }).click()
    await page.getByRole('menu').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    expect(await opened.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await opened.waitFor({ state: 'hidden' })
  })

  test('the focus stays on a button while its message changes', async () => {
    const { call, page, post } = await openSandbox()
    const ts = await post({ blocks })
    const restart = (await message(page, 'Restart')).getByRole('button', { name: 'Restart' })
    await restart.focus()
    const more = [...blocks, { type: 'section', text: plain('and more') }]
    await call('chat.update', { channel: BUILDS, ts, text: 'changed', blocks: more })
    await message(page, 'and more')
    expect(await restart.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  })

  test('a modal opens, says what is wrong at its field, and goes out with what stands in it', async () => {
    const stage = await openForm()
    const { page, sandbox, opened } = stage
    const project = opened.getByRole('textbox', { name: 'project' })
    await opened.locator('input:focus').waitFor()
    expect(await project.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await opened.getByText('Please complete this required field.').waitFor()
    await opened.locator('[aria-invalid="true"]:focus').waitFor()
    const described = await project.getAttribute('aria-describedby')
    expect(await page.locator(`[id="${described}"]`).innerText()).toBe('Please complete this required field.')
    expect(stage.bot.received).toHaveLength(1)

    stage.reply = { response_action: 'errors', errors: { project: 'CI knows no acme/wob' } }
    await page.keyboard.type('acme/wob')
    await page.keyboard.press('Enter')
    await opened.getByText('CI knows no acme/wob').waitFor()
    expect(await project.inputValue()).toBe('acme/wob')

    stage.reply = 'thanks'
    await opened.getByRole('button', { name: 'Save' }).click()
    await opened.getByRole('alert').filter({ hasText: 'invalid_arguments' }).waitFor()
    expect(sandbox.views.stack(ada)).toHaveLength(1)

    stage.reply = ''
    await project.fill('acme/web')
    await opened.getByRole('combobox', { name: /^event/ }).selectOption('failed')
    await opened.getByRole('radio', { name: 'loud' }).check()
    await opened.getByRole('checkbox', { name: 'thread' }).check()
    await opened.getByRole('button', { name: 'Save' }).click()
    await noDialog(page)
    expect(objectOf(payloadOf(stage.bot.received.at(-1)!)['view'])['state']).toMatchObject({
      values: {
        project: { name: { type: 'plain_text_input', value: 'acme/web' } },
        event: { kind: { type: 'static_select', selected_option: { value: 'failed' } } },
        tones: { tone: { type: 'radio_buttons', selected_option: { value: 'loud' } } },
        extras: { extra: { type: 'checkboxes', selected_options: [{ value: 'thread' }] } },
        place: { channel: { type: 'conversations_select', selected_conversation: BUILDS } },
      },
    })
    expect(sandbox.views.stack(ada)).toEqual([])
  })

  test('a search in a modal asks the bot, and Enter takes the first answer', async () => {
    const stage = await openForm()
    const { page, opened } = stage
    stage.reply = { options: [option('acme/web'), option('acme/api')] }
    await opened.getByRole('searchbox', { name: /^search/ }).fill('acme')
    await opened.getByRole('list', { name: 'Found' }).getByRole('button', { name: 'acme/api' }).waitFor()
    await page.keyboard.press('Enter')
    await opened.getByRole('list', { name: 'Chosen' }).getByText('acme/web').waitFor()
    expect(payloadOf(stage.bot.received.at(-1)!)).toMatchObject({ type: 'block_suggestion', value: 'acme' })
    await find(opened, 'search', 'acme/api')
    await opened.getByRole('list', { name: 'Chosen' }).getByText('acme/api').waitFor()
  })

  test('Escape closes a modal, and only for who has it open', async () => {
    const { page, sandbox } = await openForm()
    await actAs(page, 'Grace')
    await noDialog(page)
    expect(sandbox.views.stack(ada)).toHaveLength(1)
    await actAs(page, 'Ada')
    await modal(page, 'Subscribe')
    await page.keyboard.press('Escape')
    await noDialog(page)
    expect(sandbox.views.stack(ada)).toEqual([])
  })

  test('the home tab tells the bot that it is open, shows what is published, and its buttons are pressed', async () => {
    const { bot, call, page } = await openSandbox()
    await goTo(page, 'Buildline')
    const home = page.getByRole('region', { name: 'Buildline' })
    await home.getByText('no home tab').waitFor()
    await until(() => bot.received.length > 0)
    expect(JSON.parse(only(bot.received).body)).toMatchObject({ event: { type: 'app_home_opened', user: ada } })
    await call('views.publish', { user_id: ada, view: { type: 'home', blocks } })
    await home.getByRole('button', { name: 'Restart' }).click()
    await until(() => bot.received.length > 1)
    expect(payloadOf(bot.received[1]!)).toMatchObject({
      container: { type: 'view' },
      view: { type: 'home' },
      actions: [{ action_id: 'restart' }],
    })
    await actAs(page, 'Grace')
    await home.getByText('no home tab').waitFor()
    await until(() => bot.received.length > 2)
    await goTo(page, 'builds')
    await home.waitFor({ state: 'hidden' })
    await page.getByRole('main').waitFor()
  })

  test('where one may not write it says why', async () => {
    const { page, sandbox } = await openSandbox()
    sandbox.acts.archive(BUILDS)
    const closed = page.getByPlaceholder('#builds is archived')
    await closed.waitFor()
    expect(await closed.isDisabled()).toBe(true)
  })

  test('every control has a name, with a thread, a menu and a form open', async () => {
    const { page, post, call } = await openSandbox()
    const ts = await post({ blocks })
    await call('chat.postMessage', { channel: BUILDS, text: 'told again', thread_ts: ts })
    await openThread(page, await message(page, 'Restart'))
    await thread(page).getByRole('article').first().hover()
    expect(await unnamed(page)).toEqual([])
    await page.evaluate(() => document.body.append(...['button', 'input'].map((name) => document.createElement(name))))
    expect((await unnamed(page)).map((line) => line.trim())).toEqual(['- button', '- textbox'])
  })
})

describeInBrowser('on a phone', () => {
  test('nothing hangs over, in a channel, in a thread and in Home, light and dark', async () => {
    const { sandbox, post, call } = await openBoth()
    const ts = await post({ blocks })
    await call('chat.postMessage', { channel: BUILDS, text: 'told again', thread_ts: ts })
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage(sandbox.url, { ...PHONE, colorScheme })
      const card = await message(page, 'Restart')
      await expectToFit(page)
      await openThread(page, card)
      await expectToFit(page)
    }
  })
})
