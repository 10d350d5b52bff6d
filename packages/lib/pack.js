import { readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

// npm runs this in the folder of the package that it packs, with the files to bundle. The package needs plain JavaScript:
// Node does not strip types from files below node_modules.
const { dependencies, engines } = JSON.parse(readFileSync('package.json', 'utf8'))
rmSync('dist', { recursive: true, force: true })
await build({
  entryPoints: process.argv.slice(2),
  outdir: 'dist',
  bundle: true,
  // A package without dependencies carries what it needs.
  packages: dependencies ? 'external' : 'bundle',
  // The bot's own code is only there where the bot is installed.
  external: ['../../../src/*'],
  platform: 'node',
  format: 'esm',
  target: engines.node.replace('>=', 'node'),
})
