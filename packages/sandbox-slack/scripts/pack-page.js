import { mkdirSync, writeFileSync } from 'node:fs'
import { pageFiles } from '../src/page-bundle.ts'

// The page is bundled here, so that a packed copy needs no bundler.
mkdirSync('dist/page', { recursive: true })
for (const [path, { plain }] of await pageFiles())
  writeFileSync(`dist/page/${path === '/' ? 'index.html' : path.replace('/page/', '')}`, plain)
