import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Plugin } from 'esbuild'

/** A file of the page, plain and compressed. */
export interface PageFile {
  type: string
  plain: Buffer
  gzipped: Buffer
}

const FOLDER = fileURLToPath(new URL('../page/', import.meta.url))
/** The folder of the bundled page in an installed package. */
const BUNDLED = fileURLToPath(new URL('page/', import.meta.url))
const ENTRY = 'main'

const TYPE_BY_ENDING: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

let bundled: Promise<ReadonlyMap<string, PageFile>> | undefined

/**
 * The page's files by path: `/`, and a script and a style sheet with a hash of the content in their names. They are
 * bundled once in each process. Throws if the page's source does not compile; the next call tries again.
 */
export function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  bundled ??= bundle().catch((error: unknown) => {
    bundled = undefined
    throw error
  })
  return bundled
}

async function bundle(): Promise<ReadonlyMap<string, PageFile>> {
  if (existsSync(BUNDLED)) return readBundled()
  const parts = await build()
  const markup = await readFile(`${FOLDER}index.html`, 'utf8')
  const addresses = new Map([...parts.keys()].map((name) => [`${ENTRY}${extname(name)}`, `/page/${name}`]))
  const html = markup.replaceAll(/"(main\.\w+)"/g, (whole, name: string) => `"${addresses.get(name) ?? whole}"`)
  const files = [
    ['/', 'index.html', Buffer.from(html)] as const,
    ...[...parts].map(([name, bytes]) => [`/page/${name}`, name, bytes] as const),
  ]
  return new Map(
    await Promise.all(files.map(async ([path, name, bytes]) => [path, await toFile(name, bytes)] as const)),
  )
}

async function readBundled(): Promise<ReadonlyMap<string, PageFile>> {
  const names = await readdir(BUNDLED)
  const pathOf = (name: string) => (name === 'index.html' ? '/' : `/page/${name}`)
  return new Map(
    await Promise.all(
      names.map(async (name) => [pathOf(name), await toFile(name, await readFile(`${BUNDLED}${name}`))] as const),
    ),
  )
}

/** Bundles the script and the style sheet. Returns them by name. */
async function build(): Promise<ReadonlyMap<string, Buffer>> {
  // Loaded only when needed: without the page, the sandbox needs no bundler.
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild.build({
    absWorkingDir: FOLDER,
    entryPoints: { [ENTRY]: 'main.tsx' },
    entryNames: '[name]-[hash]',
    outdir: FOLDER,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [emojiAlone],
  })
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]))
}

/** Bundles only the names and characters of emoji. The package also has descriptions, which the page does not need. */
const emojiAlone: Plugin = {
  name: 'emoji-alone',
  setup: (bundling) => {
    const namespace = 'emoji'
    bundling.onResolve({ filter: /^gemoji$/ }, ({ path }) => ({ path, namespace }))
    bundling.onLoad({ filter: /.*/, namespace }, async () => {
      const { nameToEmoji } = await import('gemoji')
      return { contents: `export const nameToEmoji = ${JSON.stringify(nameToEmoji)}`, loader: 'js' }
    })
  },
}

async function toFile(name: string, plain: Buffer): Promise<PageFile> {
  const type = TYPE_BY_ENDING[extname(name)] ?? 'application/octet-stream'
  return { type, plain, gzipped: await promisify(gzip)(plain) }
}
