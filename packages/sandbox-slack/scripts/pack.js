import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// Node strips no types below node_modules: a packed copy holds plain JavaScript.
const root = fileURLToPath(new URL('../', import.meta.url))
const dist = `${root}dist/`
rmSync(dist, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: ['src/cli.ts'],
  outfile: 'dist/cli.js',
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node22',
})

// The page is bundled here, so that a packed copy needs no bundler.
const { pageFiles } = await import('../src/page-bundle.ts')
mkdirSync(`${dist}page`, { recursive: true })
for (const [path, { plain }] of await pageFiles())
  writeFileSync(`${dist}page/${path === '/' ? 'index.html' : path.replace('/page/', '')}`, plain)
