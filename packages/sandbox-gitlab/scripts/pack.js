import { rmSync } from 'node:fs'
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
