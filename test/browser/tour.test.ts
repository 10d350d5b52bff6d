import { expect, it } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { until } from '../../packages/sandbox-slack/test/stage.ts'
import { DESK, describeDemo, openPage, PHONE } from './stage.ts'
import { answer, expectToFit, isInView, message, modal, reach, unnamed, write } from './person.ts'

/** The longest that a step may take to be done: Slack takes one message a second. */
const STEP_MAX_MS = 60_000

/** A line of text, with a finger's room. */
const LINE_MAX_PX = 56

/** The longest that all nine may take, with each key on the way. */
const TOUR_MAX_MS = 300_000

async function openTour(url: string, look = DESK) {
  const page = await openPage(url, look)
  const tour = page.getByRole('region', { name: /^\d of 9/ })
  await tour.waitFor()
  const isDone = () => tour.getByRole('status').filter({ hasText: '✓' }).waitFor({ timeout: STEP_MAX_MS })
  const next = async (key: 'Tab' | 'Shift+Tab' = 'Tab') => {
    await isDone()
    await press(tour.getByRole('button', { name: 'Next' }), key)
    await page.locator('#tour-title:focus').waitFor()
  }
  return { page, tour, isDone, next }
}

/** Without a mouse: goes there, and presses Enter. */
async function press(one: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
  await reach(one, key)
  await one.page().keyboard.press('Enter')
}

async function type(page: Page, text: string, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
  const field = page.getByRole('main').getByRole('textbox', { name: /^Message / })
  await reach(field, key)
  await page.keyboard.type(text)
  await until(async () => (await field.inputValue()) === text)
  await page.keyboard.press('Enter')
}

const openPanel = (page: Page, name: string) =>
  press(page.getByRole('group', { name: 'Panels' }).getByRole('button', { name }))

describeDemo('the tour', (demo) => {
  it('is dismissed, taken up where it was, and remembered over a reload', async () => {
    const { page, tour } = await openTour(demo().url, PHONE)
    expect(await unnamed(page)).toEqual([])
    await expectToFit(page)
    // A trial of a click fails where something lies over it.
    await page.getByRole('textbox', { name: 'Message #builds as Ada' }).click({ trial: true })
    await page.getByRole('button', { name: 'Commands' }).click({ trial: true })
    await tour.getByRole('button', { name: 'More' }).click()
    await tour.getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('region', { name: '2 of 9 Push a commit' }).waitFor()
    await page.getByRole('button', { name: 'Dismiss the tour' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Tour 2/9' }).waitFor()
    expect(await tour.count()).toBe(0)
    await page.getByRole('button', { name: 'Tour 2/9' }).click()
    await page.getByRole('region', { name: '2 of 9 Push a commit' }).waitFor()
    await tour.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('region', { name: '1 of 9 Say who you are' }).waitFor()
  })

  it.each([
    ['at a desk', DESK],
    ['on a phone', PHONE],
  ])('stands below the columns %s, over nothing, and no word of its buttons is broken', async (_, look) => {
    const { page, tour } = await openTour(demo().url, look)
    if (look === PHONE) await tour.getByRole('button', { name: 'More' }).click()
    for (let step = 1; step < 9; step++) await tour.getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('region', { name: '9 of 9 Subscribe a channel' }).waitFor()
    const below = (await tour.boundingBox())!
    const columns = (await page.locator('.columns').boundingBox())!
    const line = (await page.locator('footer').boundingBox())!
    expect(columns.y + columns.height).toBeLessThanOrEqual(below.y)
    expect(below.y + below.height).toBeLessThanOrEqual(line.y)
    const [back, end] = await Promise.all(
      ['Back', 'End the tour'].map((name) => tour.getByRole('button', { name }).boundingBox()),
    )
    expect(back!.height).toBe(end!.height)
    expect(back!.y + back!.height).toBeLessThanOrEqual(below.y + below.height)
  })

  it('is one line on a phone until somebody asks for more, and whole at a desk', async () => {
    const phone = await openTour(demo().url, PHONE)
    const folded = (await phone.tour.boundingBox())!.height
    expect(folded).toBeLessThan(LINE_MAX_PX)
    expect(await phone.tour.getByRole('button', { name: 'Skip' }).isVisible()).toBe(false)
    await phone.tour.getByRole('button', { name: 'More' }).click()
    await phone.tour.getByRole('button', { name: 'Skip' }).click()
    await phone.page.getByText('Push a commit to acme/web').waitFor()
    await phone.tour.getByRole('button', { name: 'Less' }).click()
    expect((await phone.tour.boundingBox())!.height).toBe(folded)
    const desk = await openTour(demo().url)
    expect(await desk.tour.getByRole('button', { name: 'Skip' }).isVisible()).toBe(true)
    expect(await desk.tour.getByRole('button', { name: 'More' }).isVisible()).toBe(false)
  })

  it(
    'is followed to its end without a mouse: each of its nine steps sees by itself that it was done',
    () => followTour(demo().url),
    TOUR_MAX_MS,
  )

  it(
    'begins when the scenario is over, and counts nothing of what that did',
    async () => {
      await demo().panel('reset', { isPlayed: true })
      await until(() => isPlayed(demo().url))
      const page = await openPage(demo().url)
      const scenario = page.getByRole('region', { name: /^2 of \d+ Watch the scenario/ })
      await scenario.getByText('Ada, who has typed /ci me Ada, is mentioned').waitFor({ timeout: STEP_MAX_MS })
      await answer(page, /Your committer name/)
      expect(await page.getByRole('status').filter({ hasText: '✓' }).count()).toBe(0)
      // Only one of them counts.
      await page.getByRole('button', { name: 'Scenario', exact: true }).waitFor()
      expect(await page.getByText(/\d\/9/).count()).toBe(0)
      const first = page.getByRole('region', { name: '1 of 9 Say who you are' })
      await first.waitFor({ timeout: TOUR_MAX_MS })
      await page.getByRole('button', { name: 'Tour 1/9' }).waitFor()
      await message(page, 'Your turn, as anyone you like')
      const later = await openPage(demo().url)
      await later.getByRole('heading', { name: 'builds' }).waitFor()
      const last = await message(later, 'Your turn, as anyone you like')
      await until(() => isInView(later, last))
      expect(await first.getByRole('button', { name: 'Skip' }).count()).toBe(1)
      await write(page, '/ci me Ada')
      await first.getByRole('button', { name: 'Next' }).waitFor({ timeout: STEP_MAX_MS })
      await first.getByText('✓ Only you saw the answer').waitFor()
    },
    TOUR_MAX_MS,
  )
})

describeDemo(
  'the tour with GitHub',
  (demo) => {
    // The other steps look at the bot and at Slack alone.
    it('sees that a run was pushed, and that it failed', async () => {
      const { page, next, isDone } = await openTour(demo().url)
      await write(page, '/ci me Ada')
      await next()
      await openPanel(page, 'CI')
      await page.getByRole('button', { name: 'Push', exact: true }).click()
      await next()
      await page.getByRole('button', { name: 'Fail it acme/web CI #1' }).click()
      await isDone()
      await page.getByRole('region', { name: '3 of 9 Break it' }).waitFor()
    })
  },
  'github',
)

/** Between two demos nobody answers. */
async function isPlayed(url: string): Promise<boolean> {
  const response = await fetch(new URL('/sandbox/panel/state', url)).catch(() => null)
  const state = (await response?.json().catch(() => null)) as { scene?: object | null } | null | undefined
  return Boolean(state?.scene)
}

async function followTour(url: string): Promise<void> {
  const { page, tour, isDone, next } = await openTour(url)
  await type(page, '/ci me Ada')
  await next()
  await openPanel(page, 'CI')
  await press(page.getByRole('button', { name: 'Push', exact: true }))
  await next('Shift+Tab')
  await press(page.getByRole('button', { name: 'Fail it acme/web #501' }), 'Shift+Tab')
  await next('Shift+Tab')
  await press(page.getByRole('log', { name: 'Messages' }).getByRole('button', { name: "I'm on it" }))
  await press((await modal(page, 'Red branch')).getByRole('button', { name: 'Save' }))
  await next('Shift+Tab')
  await press(page.getByRole('log', { name: 'Messages' }).getByRole('button', { name: 'Restart' }))
  await next('Shift+Tab')
  await press(tour.getByRole('button', { name: 'Start a storm of 8 builds' }))
  await message(page, 'storm-2')
  await openPanel(page, 'Break it')
  await press(page.getByRole('button', { name: 'Pull the plug' }), 'Shift+Tab')
  await next()
  await press(page.getByRole('button', { name: 'Start it again' }), 'Shift+Tab')
  await isDone()
  expect(await page.getByText('lost 0 · doubled 0', { exact: true }).count()).toBe(1)
  await page.locator('dd').filter({ hasText: /^9$/ }).waitFor()
  await next()
  await type(page, '/ci why', 'Shift+Tab')
  await next()
  await press(page.getByRole('navigation', { name: 'Channels' }).getByRole('link', { name: /ops/ }))
  await page.getByRole('textbox', { name: 'Message #ops as Ada' }).waitFor()
  await type(page, '/ci subscribe acme/api failed,recovered')
  await isDone()
  await press(tour.getByRole('button', { name: 'End the tour' }))
  await tour.waitFor({ state: 'detached' })
  await page.locator('#tour-button:focus').waitFor()
}
