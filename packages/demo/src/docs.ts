import { readFileSync, writeFileSync } from 'node:fs'
import { PAGES, pathOf } from './docs/pages.ts'

/** `npm run docs`: writes what the documentation tells of the code anew, as the code says it. */
for (const page of PAGES) {
  const path = pathOf(page)
  writeFileSync(path, await page.write(readFileSync(path, 'utf8')))
}
