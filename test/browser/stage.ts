import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { findChromium, LAUNCH_ARGS } from '../../packages/demo/src/gallery/chromium.ts'
import { startDemo, type DemoProcess } from '../../packages/demo/src/gallery/demo-process.ts'

/** The browser's own file; null where this machine has none. */
const CHROMIUM = findChromium(process.env)

/** Where a picture of each claim that failed is left. */
const SHOTS = join(import.meta.dirname, '..', '..', 'test-results', 'browser')

/** What was done and seen, step by step, for whoever looks into a claim that fails. It takes its time. */
const isTraced = process.env['BROWSER_TRACE'] === '1'

/** A real browser is slow to start on a busy machine. */
const CLAIM_MAX_MS = 120_000

/** What needs a browser. Without one it is skipped, and the attempt says so. */
export function describeInBrowser(title: string, claims: () => void): void {
  if (CHROMIUM === null) console.error(`NO BROWSER: “${title}” is skipped. Install chromium, or name one by CHROMIUM.`)
  describe.skipIf(CHROMIUM === null)(title, { timeout: CLAIM_MAX_MS }, () => {
    afterAll(closeBrowser)
    claims()
  })
}

let opened: Promise<Browser> | undefined

// One for each file of claims: a context of its own keeps each claim apart.
function browser(): Promise<Browser> {
  opened ??= chromium.launch({
    executablePath: CHROMIUM!,
    args: LAUNCH_ARGS,
    timeout: CLAIM_MAX_MS,
  })
  return opened
}

async function closeBrowser(): Promise<void> {
  const one = await opened
  opened = undefined
  await one?.close()
}

/**
 * What needs the whole demo: the sandbox CI, the sandbox Slack with its page and the bot, in processes of their own, as
 * `npm run demo` starts them; nothing plays by itself. All claims of a file share one, and it has to end well.
 */
export function describeDemo(title: string, claims: (demo: () => DemoProcess) => void, source = 'ci'): void {
  describeInBrowser(title, () => {
    const folder = mkdtempSync(join(tmpdir(), 'buildline-browser-'))
    let demo: DemoProcess | undefined
    beforeAll(async () => void (demo = await startDemo(join(folder, 'demo'), source)), CLAIM_MAX_MS)
    afterAll(async () => {
      const code = await demo?.stop()
      rmSync(folder, { recursive: true, force: true })
      if (demo) expect(code).toBe(0)
    }, CLAIM_MAX_MS)
    claims(() => demo!)
  })
}

export type Look = Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'hasTouch' | 'isMobile'>

export const DESK: Look = { viewport: { width: 1280, height: 800 } }
export const PHONE: Look = { viewport: { width: 375, height: 800 }, hasTouch: true, isMobile: true }

/**
 * Opens an address in a profile of its own. If the claim fails, a picture of the page is kept in test-results/browser; with
 * BROWSER_TRACE=1 a picture and a trace of every one. A page that left the browser anything to complain of fails it.
 */
export async function openPage(url: string, look: Look = DESK): Promise<Page> {
  const context = await (await browser()).newContext({ ...DESK, ...look, reducedMotion: 'reduce', locale: 'en-GB' })
  if (isTraced) await context.tracing.start({ snapshots: true, screenshots: true })
  const page = await context.newPage()
  page.setDefaultTimeout(CLAIM_MAX_MS / 4)
  const faults = faultsOf(page)
  keepAtTheEnd(context, page, faults)
  await page.goto(url)
  return page
}

/** What threw, what was logged as an error, and what the policy of the page refused. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('crash', () => faults.push('the page crashed'))
  return faults
}

function keepAtTheEnd(context: BrowserContext, page: Page, faults: readonly string[]): void {
  const file = fileFor(expect.getState().currentTestName ?? 'a claim')
  onTestFinished(async ({ task }) => {
    const isFine = task.result?.state !== 'fail' && faults.length === 0
    if (isTraced || !isFine) await page.screenshot({ path: `${file}.png` }).catch(() => {})
    if (isTraced) await context.tracing.stop({ path: `${file}.zip` })
    await context.close()
    expect(faults).toEqual([])
  })
}

const taken = new Map<string, number>()

function fileFor(claim: string): string {
  mkdirSync(SHOTS, { recursive: true })
  const name = claim
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 100)
  const times = (taken.get(name) ?? 0) + 1
  taken.set(name, times)
  return join(SHOTS, times === 1 ? name : `${name}-${times}`)
}
