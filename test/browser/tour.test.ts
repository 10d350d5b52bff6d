import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { DESK, describeDemo, openPage, PHONE } from './stage.ts'
import { expectToFit, goTo, message, unnamed, write } from './person.ts'

/** The longest that a step may take to be done: Slack takes one message a second. */
const STEP_MAX_MS = 60_000

async function openTour(url: string, look = DESK) {
  const page = await openPage(url, look)
  const tour = page.getByRole('region', { name: /^\d of 8/ })
  await tour.waitFor()
  const isDone = () => tour.getByRole('status').filter({ hasText: '✓' }).waitFor({ timeout: STEP_MAX_MS })
  const next = async () => {
    await isDone()
    await tour.getByRole('button', { name: 'Next' }).click()
  }
  return { page, tour, isDone, next }
}

const openPanel = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Panels' }).getByRole('button', { name }).click()

describeDemo('the tour', (demo) => {
  it('is dismissed, taken up where it was, and remembered over a reload', async () => {
    const { page, tour } = await openTour(demo().url, PHONE)
    expect(await unnamed(page)).toEqual([])
    await expectToFit(page)
    await tour.getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('region', { name: '2 of 8 Push a commit' }).waitFor()
    await page.getByRole('button', { name: 'Dismiss the tour' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Tour 2/8' }).waitFor()
    expect(await tour.count()).toBe(0)
    await page.getByRole('button', { name: 'Tour 2/8' }).click()
    await page.getByRole('region', { name: '2 of 8 Push a commit' }).waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('region', { name: '1 of 8 Say who you are' }).waitFor()
  })

  it('is followed to its end: each of its eight steps sees by itself that it was done', async () => {
    const { page, tour, isDone, next } = await openTour(demo().url)
    await write(page, '/ci me Ada')
    await next()
    await openPanel(page, 'CI')
    await page.getByRole('button', { name: 'Push', exact: true }).click()
    await next()
    await page.getByRole('button', { name: 'Fail it acme/web #501' }).click()
    await next()
    await page.getByRole('log', { name: 'Messages' }).getByRole('button', { name: 'Restart' }).click()
    await next()
    await tour.getByRole('button', { name: 'Start a storm of 8 builds' }).click()
    await message(page, 'storm-2')
    await openPanel(page, 'Break it')
    await page.getByRole('button', { name: 'Pull the plug' }).click()
    await next()
    await page.getByRole('button', { name: 'Start it again' }).click()
    await isDone()
    expect(await page.getByText('lost 0 · doubled 0', { exact: true }).count()).toBe(1)
    await page.locator('dd').filter({ hasText: /^9$/ }).waitFor()
    await next()
    await write(page, '/ci why')
    await next()
    await goTo(page, 'ops')
    await write(page, '/ci subscribe acme/api failed,recovered')
    await isDone()
    await tour.getByRole('button', { name: 'End the tour' }).click()
    await tour.waitFor({ state: 'detached' })
  })
})
