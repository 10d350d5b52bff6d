import { mkdirSync, writeFileSync } from 'node:fs'
import { pageFiles } from '../src/page-bundle.ts'

// Bundles the page, so that the installed package needs no bundler.
mkdirSync('dist/page', { recursive: true })
for (const [path, { plain }] of await pageFiles())
  writeFileSync(`dist/page/${path === '/' ? 'index.html' : path.replace('/page/', '')}`, plain)
