import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/slack/workspace.ts'
import { objectOf } from '../../../src/sandbox/slack/json.ts'
import { formOf, only, openBoth, payloadOf } from './bot.ts'
import { CHROMIUM, openBrowser } from './page-browser.ts'
import type { Browser, Page } from './page-browser.ts'
import { BUILDS, until } from './stage.ts'

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

let browser: Browser
beforeAll(async () => {
  if (CHROMIUM !== undefined) browser = await openBrowser(CHROMIUM)
})
afterAll(() => browser?.stop())

/** A sandbox with a bot, and its page open at #builds; no test may leave the browser with anything to complain of. */
async function openPage(...args: Parameters<typeof openBoth>) {
  const stage = await openBoth(...args)
  const page = await browser.open(stage.sandbox.url)
  onTestFinished(async () => {
    await page.close()
    expect(page.faults).toEqual([])
  })
  await page.see(`document.querySelector('#composer').placeholder === 'Message #builds as Ada'`)
  return { ...stage, page }
}

const write = async (page: Page, field: string, text: string): Promise<void> => {
  await page.read(`document.querySelector('${field}').focus()`)
  await page.type(text)
  await page.press('Enter')
}

const actAs = (page: Page, user: string): Promise<unknown> =>
  page.read(
    `{ const one = document.querySelector('#person'); one.value = '${user}'; one.dispatchEvent(new Event('change')) }`,
  )

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
  const stage = await openPage((response) => {
    if (told.reply === '') return void response.end()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(told.reply))
  })
  await write(stage.page, '#composer', '/ci subscribe')
  await until(() => stage.bot.received.length > 0)
  const { trigger_id: triggerId } = formOf(only(stage.bot.received))
  await stage.call('views.open', { trigger_id: triggerId, view: form })
  await stage.page.see(`document.querySelector('#modal').open`)
  return Object.assign(told, stage)
}

const choose = (page: Page, selector: string, value: string): Promise<unknown> =>
  page.read(
    `{ const one = document.querySelector('${selector}'); one.value = '${value}'; one.dispatchEvent(new Event('change')) }`,
  )

const shows = (text: string): string =>
  `document.querySelector('#messages').innerText.includes(${JSON.stringify(text)})`

describe.skipIf(CHROMIUM === undefined)('in a browser', { timeout: 30_000 }, () => {
  test('Enter runs a command, and the answer is visible to who asked', async () => {
    const { bot, page } = await openPage((response) => response.end('2 projects'))
    await write(page, '#composer', '/ci list')
    await page.see(shows('2 projects'))
    expect(await page.read(shows('Only visible to you'))).toBe(true)
    expect(formOf(only(bot.received))).toMatchObject({ command: '/ci', text: 'list', user_id: ada })
    expect(await page.read(`document.querySelector('#news').textContent`)).toBe('Buildline: 2 projects')
    await actAs(page, grace)
    expect(await page.read(shows('2 projects'))).toBe(false)
  })

  test('who acts is remembered', async () => {
    const { page, sandbox } = await openPage()
    await actAs(page, grace)
    await page.read('{ window.isBefore = true; location.reload() }')
    await page.see(
      `!window.isBefore && document.querySelector('#composer')?.placeholder === 'Message #builds as Grace'`,
    )
    await write(page, '#composer', 'looking at <main>')
    await page.see(shows('looking at <main>'))
    expect(sandbox.messages(BUILDS)).toMatchObject([{ user: grace, text: 'looking at &lt;main&gt;' }])
  })

  test('a button that asks is sent after yes, and not after no or Escape', async () => {
    const { bot, page, post } = await openPage()
    const ts = await post({ blocks })
    await page.click('#messages [data-action-id="stop"]')
    expect(await page.read(`document.querySelector('#confirm').innerText.split('\\n').filter(Boolean)`)).toEqual([
      'Stop this build?',
      'web #512 stops.',
      'Keep it',
      'Stop it',
    ])
    await page.click('#confirm-no')
    await page.click('#messages [data-action-id="stop"]')
    await page.press('Escape')
    await page.see(`!document.querySelector('dialog[open]')`)
    await page.click('#messages [data-action-id="restart"]')
    await until(() => bot.received.length > 0)
    await page.click('#messages [data-action-id="stop"]')
    await page.click('#confirm-yes')
    await until(() => bot.received.length > 1)
    expect(bot.received.map(payloadOf)).toMatchObject([
      { user: { id: ada }, container: { message_ts: ts }, actions: [{ action_id: 'restart' }] },
      { user: { id: ada }, container: { message_ts: ts }, actions: [{ action_id: 'stop' }] },
    ])
  })

  test('a link button is a link, and its click is told', async () => {
    const { bot, page, post } = await openPage()
    await post({ blocks })
    await page.see(`document.querySelector('a[data-action-id="open"]')?.href === 'http://127.0.0.1:9/512'`)
    // The link's target is nowhere: what counts is that the click is told.
    await page.read(`addEventListener('click', (event) => event.preventDefault(), { once: true })`)
    await page.click('a[data-action-id="open"]')
    await until(() => bot.received.length > 0)
    expect(payloadOf(only(bot.received))).toMatchObject({ actions: [{ action_id: 'open', type: 'button' }] })
  })

  test('the message’s menu opens a thread and runs a shortcut; a mention in the thread tells the bot', async () => {
    const { bot, page, post } = await openPage()
    const ts = await post()
    await page.click('#messages .more')
    await page.click('#message-menu [value="stop_build"]')
    await until(() => bot.received.length > 0)
    expect(payloadOf(bot.received[0]!)).toMatchObject({ type: 'message_action', callback_id: 'stop_build' })
    await page.click('#messages .more')
    await page.click('#message-menu [value="reply"]')
    await page.see(`!document.querySelector('#thread').hidden`)
    await write(page, '#reply', '@Buildline why')
    await until(() => bot.received.length > 1)
    expect(JSON.parse(bot.received[1]!.body)).toMatchObject({ event: { type: 'app_mention', thread_ts: ts } })
  })

  test('a bot that stays mute is told of, and the command is there to be sent again', async () => {
    const { bot, page } = await openPage(() => {}, { ackTimeoutMs: 1_000 })
    await write(page, '#composer', '/ci list')
    await page.see(`document.querySelector('#trouble').innerText.includes('Buildline did not answer in time')`)
    expect(await page.read(`document.querySelector('#composer').value`)).toBe('/ci list')
    expect(bot.received).toHaveLength(1)
    await page.click('#trouble-close')
    expect(await page.read(`document.querySelector('#trouble').innerText.trim()`)).toBe('')
  })

  test('Escape closes the menu and only then the thread', async () => {
    const { page, post } = await openPage()
    const ts = await post()
    await page.read(`location.hash = '${BUILDS}/${ts}'`)
    await page.click('#replies .more')
    await page.press('Escape')
    await page.see(`!document.querySelector('dialog[open]')`)
    expect(await page.read(`document.querySelector('#thread').hidden`)).toBe(false)
    await page.press('Escape')
    await page.see(`document.querySelector('#thread').hidden`)
  })

  test('the focus stays on a button while its message changes', async () => {
    const { call, page, post } = await openPage()
    const ts = await post({ blocks })
    await page.see(`document.querySelector('[data-action-id="restart"]')`)
    await page.read(`document.querySelector('[data-action-id="restart"]').focus()`)
    await call('chat.update', { channel: BUILDS, ts, text: 'changed', blocks: [...blocks, { type: 'divider' }] })
    await page.see(`document.querySelector('#messages hr')`)
    expect(await page.read('document.activeElement.dataset.actionId')).toBe('restart')
  })

  test('a modal opens, says what is wrong at its field, and goes out with what stands in it', async () => {
    const stage = await openForm()
    const { page, sandbox } = stage
    await page.see(`document.activeElement.dataset.actionId === 'name'`)
    expect(await page.read(`document.querySelector('#modal-title').textContent`)).toBe('Subscribe')
    await page.press('Enter')
    await page.see(`document.querySelector('#error-project')`)
    expect(await page.read(`document.querySelector('#error-project').textContent`)).toBe(
      'Please complete this required field.',
    )
    expect(await page.read(`document.activeElement.getAttribute('aria-describedby')`)).toBe('error-project')
    expect(stage.bot.received).toHaveLength(1)

    stage.reply = { response_action: 'errors', errors: { project: 'CI knows no acme/wob' } }
    await page.type('acme/wob')
    await page.press('Enter')
    await page.see(`document.querySelector('#error-project')?.textContent === 'CI knows no acme/wob'`)
    expect(await page.read(`document.querySelector('#field-project').value`)).toBe('acme/wob')

    stage.reply = 'thanks'
    await page.click('#modal-submit')
    await page.see(`document.querySelector('#modal-trouble').innerText.includes('invalid_arguments')`)
    expect(sandbox.views.stack(ada)).toHaveLength(1)

    stage.reply = ''
    await page.read(`document.querySelector('#field-project').select()`)
    await page.type('acme/web')
    await choose(page, '[data-key="event/kind"]', '1')
    await page.click('[data-key="tones/tone/loud"]')
    await page.click('[data-key="extras/extra/thread"]')
    await page.click('#modal-submit')
    await page.see(`!document.querySelector('#modal').open`)
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
    stage.reply = { options: [option('acme/web'), option('acme/api')] }
    await stage.page.read(`document.querySelector('[data-action-id="find"]').focus()`)
    await stage.page.type('acme')
    await stage.page.see(`document.querySelectorAll('.found button').length === 2`)
    await stage.page.press('Enter')
    await stage.page.see(`document.querySelector('.chosen')?.innerText.includes('acme/web')`)
    expect(payloadOf(stage.bot.received.at(-1)!)).toMatchObject({ type: 'block_suggestion', value: 'acme' })
  })

  test('Escape closes a modal, and only for who has it open', async () => {
    const { page, sandbox } = await openForm()
    await actAs(page, grace)
    await page.see(`!document.querySelector('#modal').open`)
    expect(sandbox.views.stack(ada)).toHaveLength(1)
    await actAs(page, ada)
    await page.see(`document.querySelector('#modal').open`)
    await page.press('Escape')
    await page.see(`!document.querySelector('#modal').open`)
    expect(sandbox.views.stack(ada)).toEqual([])
  })

  test('the home tab tells the bot that it is open, shows what is published, and its buttons are pressed', async () => {
    const { bot, call, page } = await openPage()
    await page.click('#home-link')
    await page.see(`document.querySelector('#home').innerText.includes('no home tab')`)
    await until(() => bot.received.length > 0)
    expect(JSON.parse(only(bot.received).body)).toMatchObject({ event: { type: 'app_home_opened', user: ada } })
    await call('views.publish', { user_id: ada, view: { type: 'home', blocks } })
    await page.click('#home [data-action-id="restart"]')
    await until(() => bot.received.length > 1)
    expect(payloadOf(bot.received[1]!)).toMatchObject({
      container: { type: 'view' },
      view: { type: 'home' },
      actions: [{ action_id: 'restart' }],
    })
    await actAs(page, grace)
    await page.see(`document.querySelector('#home').innerText.includes('no home tab')`)
    await until(() => bot.received.length > 2)
    await page.click('#channels a')
    await page.see(`document.querySelector('#home').hidden`)
    expect(await page.read(`getComputedStyle(document.querySelector('main')).display`)).not.toBe('none')
  })

  test('nothing hangs over at the width of a phone, and where one may not write it says why', async () => {
    const { page, post, sandbox } = await openPage()
    await post({ blocks })
    await page.resize(360, 640)
    await page.see(shows('Restart'))
    const widths = 'innerWidth >= document.documentElement.scrollWidth && innerWidth'
    expect(await page.read(widths)).toBe(360)
    sandbox.acts.archive(BUILDS)
    await page.see(`document.querySelector('#composer').disabled`)
    expect(await page.read(`document.querySelector('#composer').placeholder`)).toBe('#builds is archived')
  })
})
