import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

// Writes dist/, which `npm start` and the image run: finding and reading 490 modules one by one takes more than half of a start,
// and their text a fifth of the memory (decision 23).
const folder = join(import.meta.dirname, 'dist')
const { outputFiles } = await build({
  absWorkingDir: import.meta.dirname,
  // The clock is a file of its own, so that the kill sweeps can make it run faster.
  entryPoints: { main: 'src/main.ts', clock: 'src/lib/clock.ts' },
  outdir: folder,
  write: false,
  bundle: true,
  // What src loads later stays in files of its own, and main.ts sets V8's flags before the rest is loaded.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  // CommonJS packages require Node's own modules; an ES module has no `require`.
  banner: { js: `const require = process.getBuiltinModule('module').createRequire(import.meta.url)` },
  logLevel: 'warning',
})

mkdirSync(folder, { recursive: true })
for (const { path, contents } of outputFiles) {
  if (existsSync(path) && readFileSync(path).equals(contents)) continue
  // Written under another name first: another process may be starting from this folder.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, contents)
  renameSync(draft, path)
}
// Files that an earlier version left.
const current = new Set(outputFiles.map(({ path }) => basename(path)))
for (const name of readdirSync(folder))
  if (name.endsWith('.js') && !current.has(name)) rmSync(join(folder, name), { force: true })
