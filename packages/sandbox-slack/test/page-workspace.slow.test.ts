import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { describeInBrowser, openPage, PHONE } from '../../../test/browser/stage.ts'
import { actAs, answer, find, message, messages, openThread, write } from '../../../test/browser/person.ts'
import { answering, formOf, only, openBoth, payloadOf } from './bot.ts'
import { until } from './stage.ts'

const { ada, grace } = PEOPLE
const plain = (text: string) => ({ type: 'plain_text', text })
const option = (value: string) => ({ text: plain(value), value })
const blocks = [
  {
    type: 'actions',
    block_id: 'b1',
    elements: [
      { type: 'static_select', action_id: 'pick', placeholder: plain('Branch'), options: ['main', 'next'].map(option) },
      { type: 'overflow', action_id: 'more', options: ['mute', 'unfollow'].map(option) },
    ],
  },
]

/** Starts a sandbox with a bot, and opens its page as Ada in #builds. */
async function openSandbox(told?: Parameters<typeof openBoth>[0]) {
  const stage = await openBoth(told)
  const page = await openPage(stage.sandbox.url)
  await page.getByRole('textbox', { name: 'Message #builds as Ada' }).waitFor()
  return { ...stage, page }
}

const link = (page: Page, name: RegExp) =>
  page.getByRole('navigation', { name: 'Channels' }).getByRole('link', { name })
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

describeInBrowser('the workspace', () => {
  test('a channel with unread messages is marked, with the number of mentions', async () => {
    const { page, call } = await openSandbox()
    await call('chat.postMessage', { channel: CHANNELS.web, text: `<@${ada}> broke acme/web` })
    await link(page, /web.*unread.*1 mention/).click()
    await page.getByRole('separator').filter({ hasText: 'New' }).waitFor()
    await page.getByRole('textbox', { name: 'Message #web as Ada' }).waitFor()
    expect(await page.getByRole('link', { name: /unread/ }).count()).toBe(0)
    await actAs(page, 'Grace')
    await page.getByRole('textbox', { name: 'Message #web as Grace' }).waitFor()
  })

  test('a message that is posted while the page loads is shown, even if an answer is late', async () => {
    const { page, call } = await openSandbox()
    await page.route('**/sandbox/state', async (route) => {
      const response = await route.fetch()
      await page.waitForTimeout(1_500)
      await route.fulfill({ response })
    })
    const opened = page.waitForResponse('**/sandbox/events')
    await page.reload()
    await opened
    // By now, a page that had requested the state would be waiting for the delayed answer.
    await page.waitForTimeout(500)
    await call('chat.postMessage', { channel: CHANNELS.builds, text: 'said meanwhile' })
    await page.waitForTimeout(1_500)
    await message(page, 'said meanwhile')
  })

  test('commands and their arguments are suggested; arrows choose, Tab takes, Enter sends', async () => {
    const { bot, page } = await openSandbox()
    const field = page.getByRole('textbox', { name: 'Message #builds as Ada' })
    await field.pressSequentially('/ci-')
    await page.getByRole('option', { name: /\/ci-stop/ }).waitFor()
    expect(await page.getByRole('listbox').getByRole('option', { selected: true }).textContent()).toContain('/ci-list')
    for (let command = 1; command <= 2; command++) await field.press('ArrowDown')
    await field.press('Tab')
    expect(await field.inputValue()).toBe('/ci-restart ')
    await page.getByRole('status').filter({ hasText: '[project[@branch] | #build' }).waitFor()
    await field.pressSequentially('acme/web')
    await field.press('Enter')
    await until(() => bot.received.length > 0)
    expect(formOf(only(bot.received))).toMatchObject({ command: '/ci-restart', text: 'acme/web' })
  })

  test('people are suggested after @, and sent as ids; Escape only closes the list', async () => {
    const { page, sandbox } = await openSandbox()
    const field = page.getByRole('textbox', { name: 'Message #builds as Ada' })
    await field.pressSequentially('ask @gr')
    await page.getByRole('option', { name: /@Grace/ }).waitFor()
    await field.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    expect(await field.inputValue()).toBe('ask @gr')
    await field.pressSequentially('a')
    await field.press('Enter')
    expect(await field.inputValue()).toBe('ask @Grace ')
    await field.press('Enter')
    await message(page, 'ask @Grace')
    expect(sandbox.messages(CHANNELS.builds)).toMatchObject([{ user: ada, text: `ask <@${grace}>` }])
  })

  test('a menu opens, moves and closes by keyboard, and returns the focus', async () => {
    const { bot, page, post } = await openSandbox()
    await post({ blocks })
    const button = page.getByRole('button', { name: 'More', exact: true })
    await button.focus()
    await button.press('Enter')
    await page.locator('[role="menuitem"]:focus').filter({ hasText: 'mute' }).waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('unfollow')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'hidden' })
    expect(await button.evaluate((one) => one === document.activeElement)).toBe(true)
    await button.press('Enter')
    await page.locator('[role="menuitem"]:focus').waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await until(() => bot.received.length > 0)
    expect(payloadOf(only(bot.received))).toMatchObject({
      actions: [{ action_id: 'more', selected_option: { value: 'unfollow' } }],
    })
  })

  test('a select in a message sends the choice to the bot, and shows it', async () => {
    const { bot, page, post } = await openSandbox()
    await post({ blocks })
    const select = page.getByRole('combobox', { name: 'Branch' })
    await select.selectOption({ label: 'next' })
    await until(() => bot.received.length > 0)
    expect(payloadOf(only(bot.received))).toMatchObject({
      actions: [{ action_id: 'pick', selected_option: { value: 'next' } }],
    })
    expect(await select.locator('option:checked').textContent()).toBe('next')
  })

  test('a search in a message gets options from the bot; the choice is sent and shown', async () => {
    const { bot, page, post } = await openSandbox(answering({ options: ['main', 'next'].map(option) }))
    const menu = { type: 'external_select', action_id: 'find', placeholder: plain('A branch') }
    await post({ blocks: [{ type: 'actions', block_id: 'b1', elements: [menu] }] })
    const log = page.getByRole('log', { name: 'Messages' })
    await find(log, 'A branch', 'next')
    await log.getByRole('list', { name: 'Chosen' }).getByText('next').waitFor()
    await until(() => bot.received.length > 1)
    expect(bot.received.map(payloadOf)).toMatchObject([
      { type: 'block_suggestion', value: 'next', channel: { id: CHANNELS.builds } },
      { type: 'block_actions', actions: [{ action_id: 'find', selected_option: { value: 'next' } }] },
    ])
  })

  test('a direct message is unread for its receiver, and not visible to others or to the bot', async () => {
    const { bot, page } = await openSandbox()
    const people = page.getByRole('navigation', { name: 'Channels' })
    await people.getByRole('button', { name: 'Grace' }).click()
    await page.getByRole('textbox', { name: 'Message Grace as Ada' }).waitFor()
    await write(page, '@Buildline or you: who broke main?')
    await message(page, 'who broke main?')
    await link(page, /^# builds$/).click()
    await actAs(page, 'Lin')
    await people.getByRole('button', { name: 'Ada' }).waitFor()
    expect(await link(page, /unread/).count()).toBe(0)
    await page.reload()
    await actAs(page, 'Grace')
    await link(page, /Ada.*unread.*1 mention/).click()
    await message(page, 'who broke main?')
    await page.getByRole('heading', { name: 'Ada', exact: true }).waitFor()
    await write(page, 'not me')
    await actAs(page, 'Ada')
    await page.getByRole('textbox', { name: 'Message Grace as Ada' }).waitFor()
    await message(page, 'not me')
    expect(await link(page, /unread/).count()).toBe(0)
    expect(bot.received).toEqual([])
  })

  test('an ephemeral message can be dismissed, and stays dismissed after a reload', async () => {
    const { page, post } = await openSandbox((response) => response.end('2 projects'))
    await post()
    await write(page, '/ci list')
    const own = await answer(page, '2 projects')
    await own.getByRole('button', { name: 'Dismiss' }).click()
    await messages(page, '2 projects').waitFor({ state: 'hidden' })
    await page.reload()
    await message(page, 'acme/web #512 failed')
    expect(await messages(page, '2 projects').count()).toBe(0)
  })

  test('a guest sees only their own channels, with a note that says why', async () => {
    const { page } = await openSandbox()
    await link(page, /ops/).waitFor()
    await actAs(page, 'Gus')
    await link(page, /ops/).waitFor({ state: 'hidden' })
    await page.getByText('As a guest Gus sees only channels they were invited to.').waitFor()
  })

  test('the app’s direct channel is beside its home, and read-only as its manifest says', async () => {
    const { page, call } = await openSandbox()
    await page.getByRole('link', { name: /^Buildline/ }).click()
    await page.getByRole('link', { name: 'Messages', exact: true }).click()
    const { channel } = await call('conversations.open', { users: ada })
    const { id } = channel as { id: string }
    await call('chat.postMessage', { channel: id, text: 'for you alone' })
    await message(page, 'for you alone')
    expect(await page.getByPlaceholder('Sending messages to this app is turned off').isDisabled()).toBe(true)
  })

  test('the focus moves to an opened thread, and back when it is closed', async () => {
    const { page, call, post } = await openSandbox()
    const ts = await post()
    await call('chat.postMessage', { channel: CHANNELS.builds, text: 'told again', thread_ts: ts })
    const card = await message(page, 'acme/web #512 failed')
    await openThread(page, card)
    await until(async () => (await focused(page)) === 'Thread #builds')
    await page.keyboard.press('Escape')
    await until(async () => (await focused(page))?.includes('1 reply') === true)
  })

  test('arrows move through the channels and through the messages', async () => {
    const { page, post } = await openSandbox()
    await post({ text: 'first' })
    await page.getByRole('log', { name: 'Messages' }).focus()
    await post({ text: 'second' })
    await message(page, 'second')
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toContain('second')
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toContain('first')
    await link(page, /^# builds$/).focus()
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toContain('web')
  })

  test('without the demo there is no line at the bottom, and no panel', async () => {
    const { page } = await openSandbox()
    expect(await page.locator('footer').isVisible()).toBe(false)
    expect(await page.getByRole('group', { name: 'Panels' }).count()).toBe(0)
  })

  test('light and dark follow the machine until a theme is chosen, which is kept over a reload', async () => {
    const { page } = await openSandbox()
    const theme = () => page.locator('html').getAttribute('data-theme')
    expect(await theme()).toBe('light')
    await page.emulateMedia({ colorScheme: 'dark' })
    await until(async () => (await theme()) === 'dark')
    await page.getByRole('button', { name: /^Colours/ }).click()
    await until(async () => (await theme()) === 'light')
    await page.reload()
    await page.getByRole('button', { name: /^Colours: light/ }).waitFor()
    expect(await theme()).toBe('light')
  })
})

describeInBrowser('the workspace on a phone', () => {
  test('the sidebar opens over the page, and closes at Escape, a tap beside it, or a choice', async () => {
    const { sandbox } = await openBoth()
    const page = await openPage(sandbox.url, PHONE)
    const menu = page.getByRole('button', { name: 'Channels' })
    const channels = page.getByRole('navigation', { name: 'Channels' })
    await menu.click()
    await channels.waitFor()
    await page.keyboard.press('Escape')
    await channels.waitFor({ state: 'hidden' })
    await menu.click()
    await page.mouse.click(360, 400)
    await channels.waitFor({ state: 'hidden' })
    await menu.click()
    await link(page, /web$/).click()
    await channels.waitFor({ state: 'hidden' })
    await page.getByRole('textbox', { name: 'Message #web as Ada' }).waitFor()
  })
})
