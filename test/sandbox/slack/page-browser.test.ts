import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/slack/workspace.ts'
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
    const { bot, page } = await openPage(() => {}, { ackTimeoutMs: 20 })
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
