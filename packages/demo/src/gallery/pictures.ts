import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { giveUp } from '../../../lib/program.ts'
import { findChromium, LAUNCH_ARGS } from './chromium.ts'
import { startDemo, type DemoProcess } from './demo-process.ts'

/** What each picture of the gallery's messages shows. */
const OF_MESSAGES = {
  red: ['card-tests', 'reply-tests', 'card-red-owned', 'note-taken', 'note-reminder'],
  digest: ['digest'],
}

const DESK = { width: 1080, height: 800 }

/**
 * Takes the README's pictures into docs/pictures; answers their files. Ends the program where there is no Chromium.
 * @param gallery the folder of the built gallery
 */
export async function takePictures(gallery: string, root: string): Promise<string[]> {
  const executablePath = findChromium(process.env)
  if (executablePath === null) return giveUp('There is no Chromium: install one, or name it by CHROMIUM.')
  // Loaded only here: nothing else of the tools needs a browser.
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath, args: LAUNCH_ARGS })
  const folder = join(root, 'docs', 'pictures')
  mkdirSync(folder, { recursive: true })
  try {
    const fileOf = (name: string) => join(folder, `${name}.png`)
    for (const [name, messages] of Object.entries(OF_MESSAGES))
      await takeMessages(browser, gallery, messages, fileOf(name))
    await takeDemo(browser, fileOf)
    return ['page', 'commands', ...Object.keys(OF_MESSAGES)].map(fileOf)
  } finally {
    await browser.close()
  }
}

/** Only what people see of each, one below the other. */
async function takeMessages(
  browser: Browser,
  gallery: string,
  messages: readonly string[],
  path: string,
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 980, height: 800 } })
  const ids = messages.map((name) => `messages/${name}`).join(',')
  await page.goto(`${pathToFileURL(join(gallery, 'index.html')).href}#${ids}`)
  await page.addStyleTag({
    content: `.gallery-nav, .gallery-shown > h2, .gallery-reading, .gallery-entry details, .gallery-entry h3 { display: none }
      body { background: var(--ground) } .gallery { display: block } .gallery-shown { padding: 12px 16px 1px }
      .gallery-entry { margin: 0 0 12px; padding: 0; border: 0 } .gallery-when { margin: 0 0 4px }
      .gallery-picture { margin: 0 } .gallery-picture .message { padding: 6px 12px }`,
  })
  await page.locator('.gallery-shown').screenshot({ path })
  await page.close()
}

/** The page with a build that failed and was mended, and what one types. */
async function takeDemo(browser: Browser, fileOf: (name: string) => string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'buildline-pictures-'))
  const demo = await startDemo(join(folder, 'demo'))
  try {
    const page = await browser.newPage({ viewport: DESK })
    await page.goto(demo.url)
    await page.getByRole('button', { name: 'Dismiss the tour' }).click()
    await mend(page, demo)
    await page.screenshot({ path: fileOf('page') })
    await type(page, '/ci status acme/web')
    await page.getByRole('log', { name: 'Messages' }).getByText('Only visible to you').first().waitFor()
    await page.getByRole('main').getByRole('textbox').pressSequentially('/ci ')
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor()
    await page.screenshot({ path: fileOf('commands') })
  } finally {
    await demo.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ada's push fails and calls her; Lin restarts it, and it is fixed. Then another one runs. */
async function mend(page: Page, demo: DemoProcess): Promise<void> {
  const log = page.getByRole('log', { name: 'Messages' })
  const push = { branch: 'main', message: 'Fix login for accounts without e-mail', committer: 'Ada', ms: 600 }
  await type(page, '/ci me Ada')
  await log.getByText('means you').first().waitFor()
  await log.getByRole('button', { name: 'Dismiss' }).first().click()
  await page.getByLabel('Acting as').selectOption({ label: 'Lin' })
  await demo.ci('projects/acme%2Fweb/push', { ...push, outcome: 'error' })
  const card = log
    .getByRole('article')
    .filter({ hasText: 'acme/web #501' })
    .filter({ has: page.getByRole('button', { name: 'Restart' }) })
  // Of an attempt that has been restarted meanwhile nobody is called any more.
  await log.getByRole('button', { name: /^1 reply/ }).waitFor()
  await card.getByRole('button', { name: 'Restart' }).click()
  await log.getByText('flaky').first().waitFor()
  await log.getByRole('button', { name: 'Dismiss' }).first().click()
  await demo.ci('projects/acme%2Fapi/push', {
    branch: 'release/1.2',
    message: 'Release 1.2',
    committer: 'Grace',
    outcome: 'none',
  })
  await log.getByText('Running').first().waitFor()
  await log
    .getByRole('button', { name: /^\d+ replies/ })
    .first()
    .click()
  const thread = page.getByRole('complementary', { name: 'Thread' })
  await thread.getByText('Attempt 2').first().waitFor()
  await thread.getByText('@Ada').first().waitFor()
  await page.getByText('on its way 0').waitFor()
}

async function type(page: Page, text: string): Promise<void> {
  const field = page.getByRole('main').getByRole('textbox')
  await field.fill(text)
  await field.press('Enter')
}
