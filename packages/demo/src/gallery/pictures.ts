import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import type { Group } from '../../../sandbox-slack/page/gallery/entry.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import { giveUp } from '../../../lib/program.ts'
import { findChromium, LAUNCH_ARGS } from './chromium.ts'

/** The messages of each picture in docs/pictures, one below the other. */
const PICTURES = {
  'red.png': ['messages/card-failures', 'messages/reply-failures'],
  'digest.png': ['messages/digest'],
}

/** The folder of the documentation's pictures. */
export const PICTURES_FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'pictures')

/** Beside the pictures: what they showed when they were taken, as `sourcesOf` says it. */
export const SOURCES_FILE = join(PICTURES_FOLDER, 'sources.json')

/** A digest of each message that a picture shows, by picture and message. It changes with anything that can be seen of the message. */
export function sourcesOf(groups: readonly Group[]): Record<string, Record<string, string>> {
  const entries = new Map(groups.flatMap((group) => group.entries).map((entry) => [entry.id, entry]))
  const digest = (id: string): string => {
    const entry = entries.get(id)
    invariant(entry, `the gallery has ${id}`)
    return createHash('sha256').update(JSON.stringify(entry.json)).digest('hex').slice(0, 16)
  }
  return Object.fromEntries(
    Object.entries(PICTURES).map(([name, ids]) => [name, Object.fromEntries(ids.map((id) => [id, digest(id)]))]),
  )
}

/**
 * Takes all pictures of docs/pictures, and writes down what they show; answers their files. Ends the program where there is
 * no Chromium.
 * @param gallery the folder of the gallery, built of `groups`
 */
export async function takePictures(gallery: string, groups: readonly Group[]): Promise<string[]> {
  const executablePath = findChromium(process.env)
  if (executablePath === null) return giveUp('There is no Chromium: install one, or name it by CHROMIUM.')
  // Loaded only here: nothing else of the tools needs a browser.
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath, args: LAUNCH_ARGS })
  try {
    for (const [name, ids] of Object.entries(PICTURES))
      await takePicture(browser, gallery, ids, join(PICTURES_FOLDER, name))
    writeFileSync(SOURCES_FILE, `${JSON.stringify(sourcesOf(groups), null, 2)}\n`)
    return Object.keys(PICTURES).map((name) => join(PICTURES_FOLDER, name))
  } finally {
    await browser.close()
  }
}

/** Only what people see of each, one below the other. */
async function takePicture(browser: Browser, gallery: string, ids: readonly string[], path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 980, height: 800 } })
  await page.goto(`${pathToFileURL(join(gallery, 'index.html')).href}#${ids.join(',')}`)
  await page.addStyleTag({
    content: `.gallery-nav, .gallery-shown > h2, .gallery-when, .gallery-reading, .gallery-entry details, .gallery-entry h3 { display: none }
      body { background: var(--ground) } .gallery { display: block } .gallery-shown { padding: 12px 16px 1px }
      .gallery-entry { margin: 0 0 12px; padding: 0; border: 0 }
      .gallery-picture { margin: 0 } .gallery-picture .message { padding: 6px 12px }`,
  })
  await page.locator('.gallery-shown').screenshot({ path })
  await page.close()
}
