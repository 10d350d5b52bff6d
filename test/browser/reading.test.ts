import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openBoth } from '../../packages/sandbox-slack/test/bot.ts'
import { BUILDS, until } from '../../packages/sandbox-slack/test/stage.ts'
import { describeInBrowser, openPage } from './stage.ts'
import { answer, isInView, message, write } from './person.ts'

const { ada, grace } = PEOPLE
const button = { type: 'button', action_id: 'restart', text: { type: 'plain_text', text: 'Restart' }, value: '1' }
const card = { text: 'the first card', blocks: [{ type: 'actions', elements: [button] }] }

const CHART = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="240"/>'

/** Ada at #builds, where a card and more was said than fits; she has scrolled up to the card. */
async function openScrolledUp() {
  const stage = await openBoth((response) => response.end('2 projects'))
  await stage.post(card)
  for (let n = 1; n <= 40; n++) await stage.post({ text: `build ${n}` })
  const page = await openPage(stage.sandbox.url)
  const last = await message(page, 'build 40')
  await until(() => isInView(page, last))
  await scrollUp(page)
  const newer = page.getByRole('button', { name: 'New messages' })
  const isReading = () => isInView(page, page.getByRole('button', { name: 'Restart' }))
  return { ...stage, page, newer, isReading }
}

/** A page hears of it with the next frame that is drawn. */
async function scrollUp(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Restart' }).scrollIntoViewIfNeeded()
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
}

describeInBrowser('whoever has scrolled up', () => {
  test('sees the answer to what they type', async () => {
    const { page, newer } = await openScrolledUp()
    await write(page, '/ci list')
    const answered = await answer(page, '2 projects')
    await until(() => isInView(page, answered))
    await newer.waitFor({ state: 'hidden' })
  })

  test('sees the answer to a button of an older card, and what they say themselves', async () => {
    const { page, bot, call } = await openScrolledUp()
    await page.getByRole('button', { name: 'Restart' }).click()
    await until(() => bot.received.length > 0)
    await call('chat.postEphemeral', { channel: BUILDS, user: ada, text: 'Restart requested' })
    const answered = await answer(page, 'Restart requested')
    await until(() => isInView(page, answered))
    await scrollUp(page)
    await write(page, 'thanks')
    const said = await message(page, 'thanks')
    await until(() => isInView(page, said))
  })

  test('sees the answer though somebody else said something right after it', async () => {
    const { page, call, sandbox } = await openScrolledUp()
    await write(page, '/ci list')
    sandbox.acts.say({ user: grace, channel: BUILDS, text: 'me too' })
    await answer(page, '2 projects')
    await call('chat.postMessage', { channel: BUILDS, text: 'build 41' })
    const last = await message(page, 'build 41')
    await until(() => isInView(page, last))
  })

  test('is not moved by what others say, nor by what they did not ask for here', async () => {
    const { page, sandbox, post, call, newer, isReading } = await openScrolledUp()
    await post({ text: 'build 41' })
    sandbox.acts.say({ user: grace, channel: BUILDS, text: 'looking at it' })
    await call('chat.postEphemeral', { channel: BUILDS, user: ada, text: 'a hint for Ada' })
    await call('chat.postEphemeral', { channel: BUILDS, user: grace, text: 'a hint for Grace' })
    await answer(page, 'a hint for Ada')
    await newer.waitFor()
    expect(await isReading()).toBe(true)
    await newer.click()
    await newer.waitFor({ state: 'hidden' })
    expect(await isReading()).toBe(false)
  })
})

describeInBrowser('whoever is at the end', () => {
  test('stays there when less room is left for the messages', async () => {
    const { page, newer, post } = await openScrolledUp()
    await post({ text: 'build 41' })
    await newer.click()
    const last = await message(page, 'build 41')
    await until(() => isInView(page, last))
    await page.setViewportSize({ width: 1280, height: 500 })
    await until(() => isInView(page, last))
    await post({ text: 'build 42' })
    const next = await message(page, 'build 42')
    await until(() => isInView(page, next))
    expect(await newer.count()).toBe(0)
  })
  test('sees the whole of a picture that arrives later than its message', async () => {
    const { page, newer, post, sandbox } = await openScrolledUp()
    await post({ text: 'build 41' })
    await newer.click()
    const arrival = Promise.withResolvers<void>()
    await page.route('**/chart.png', async (route) => {
      await arrival.promise
      await route.fulfill({ contentType: 'image/svg+xml', body: CHART })
    })
    const url = String(new URL('/chart.png', sandbox.url))
    await post({ text: 'digest', blocks: [{ type: 'image', image_url: url, alt_text: 'A week' }] })
    const chart = page.getByRole('img', { name: 'A week' })
    await chart.waitFor({ state: 'attached' })
    arrival.resolve()
    await until(async () => (await chart.boundingBox())!.height > 200)
    await until(() => isInView(page, chart))
  })
})
