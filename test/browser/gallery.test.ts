import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readGroups } from '../../packages/demo/src/gallery/entries.ts'
import { buildGallery, GOLDEN } from '../../packages/demo/src/gallery/site.ts'
import { expectToFit, unnamed } from './person.ts'
import { describeInBrowser, openPage, PHONE } from './stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'gallery-'))

/** Opened from its folder. */
const openGallery = (look?: Parameters<typeof openPage>[1]) =>
  openPage(pathToFileURL(join(folder, 'index.html')).href, look)

describeInBrowser('the gallery', () => {
  // As `npm run gallery` writes it.
  beforeAll(async () => {
    for (const [name, bytes] of await buildGallery(GOLDEN)) writeFileSync(join(folder, name), bytes)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('draws every entry of every group, and each has its sentence', async () => {
    const page = await openGallery()
    for (const { title, entries } of readGroups(GOLDEN)) {
      await page.getByRole('navigation', { name: 'Groups' }).getByRole('link', { name: title }).first().click()
      await page.getByRole('main', { name: title }).waitFor()
      const drawn = await page.locator('.gallery-entry').evaluateAll((all) => all.map(({ id }) => id))
      expect(drawn).toEqual(entries.map(({ id }) => id))
      const empty = await page
        .locator('.gallery-picture')
        .evaluateAll((all) => all.filter((one) => one.clientHeight < 20).length)
      expect(empty).toBe(0)
    }
  })

  test('finds what is searched for, and shows its JSON', async () => {
    const page = await openGallery()
    await page.getByRole('searchbox', { name: 'Search' }).fill('project-reset-errors')
    const found = page.getByRole('article', { name: 'project-reset-errors' })
    await found.waitFor()
    expect(await found.getByText("this is not the project's name").count()).toBe(2)
    await found.getByText('JSON').click()
    await found.getByText('"callback_id": "project_reset"').waitFor()
    expect(await unnamed(page)).toEqual([])
  })

  test('has the colours that were chosen on the page, whatever the machine is set to', async () => {
    const page = await openGallery({ colorScheme: 'light' })
    const theme = () => page.locator('html').getAttribute('data-theme')
    await page.getByRole('article').first().waitFor()
    expect(await theme()).toBe('light')
    await page.evaluate(`localStorage.setItem('theme', '"dark"')`)
    await page.reload()
    await page.getByRole('article').first().waitFor()
    expect(await theme()).toBe('dark')
  })

  test('says what the line below an example is', async () => {
    const page = await openGallery()
    const card = page.getByRole('article', { name: 'card-failed', exact: true })
    await card.getByRole('region', { name: 'As a notification' }).getByText('acme/web #512 failed').waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('project-reset-errors')
    const form = page.getByRole('article', { name: 'project-reset-errors' })
    await form.getByRole('region', { name: 'As it is read aloud' }).waitFor()
  })

  test('on a phone folds its menu away, until somebody asks for it', async () => {
    const page = await openGallery(PHONE)
    const forms = page.getByRole('navigation', { name: 'Groups' }).getByRole('link', { name: /^Forms/ })
    await page.getByRole('article').first().waitFor()
    expect(await forms.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'All groups' }).click()
    await forms.click()
    await page.getByRole('main', { name: 'Forms' }).waitFor()
    expect(await forms.isVisible()).toBe(false)
  })

  test('fits on a phone, in the dark', async () => {
    const page = await openGallery({ ...PHONE, colorScheme: 'dark' })
    await page.getByRole('article', { name: 'card-failed', exact: true }).waitFor()
    await expectToFit(page)
  })
})
