import { readFileSync, writeFileSync } from 'node:fs'
import { PAGES, pathOf } from './docs/pages.ts'

/** `npm run docs`: regenerates the parts of the documentation that come from the code. */
for (const page of PAGES) {
  const path = pathOf(page)
  writeFileSync(path, await page.write(readFileSync(path, 'utf8')))
}
