import { rmSync } from 'node:fs'
import { build } from 'esbuild'

// npm runs this in the folder of the package that it packs. The package needs plain JavaScript: Node does not strip
// types from files below node_modules.
rmSync('dist', { recursive: true, force: true })
await build({
  entryPoints: ['src/cli.ts'],
  outfile: 'dist/cli.js',
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node22',
})
