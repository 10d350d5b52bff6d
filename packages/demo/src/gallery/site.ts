import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { chartToPng } from '../../../../src/slack/picture/picture.ts'
import { digestOf } from '../samples/digests.ts'
import { CHART_FILE, readGroups } from './entries.ts'

const PAGE = join(import.meta.dirname, '..', '..', '..', 'sandbox-slack', 'page', 'gallery')

/** Every message, form and Home as the tests hold them. */
export const GOLDEN = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'golden')

/**
 * The gallery as files by their names: `index.html` and what it loads. They work from a folder as well as from a server.
 * @param golden the folder of the golden files
 */
export async function buildGallery(golden: string): Promise<ReadonlyMap<string, Buffer>> {
  const [html, parts, chart] = await Promise.all([
    readFile(join(PAGE, 'gallery.html')),
    bundle(),
    chartToPng(digestOf()),
  ])
  // A script, since a page that was opened from a file may not fetch.
  const entries = `globalThis.galleryGroups = ${JSON.stringify(readGroups(golden))}\n`
  return new Map([
    ['index.html', html],
    ...parts,
    ...(chart ? [[CHART_FILE, Buffer.from(chart)] as const] : []),
    ['entries.js', Buffer.from(entries)],
  ])
}

/** The same for a server: built when it is first asked for, and kept. */
export function keptGallery(golden: string): () => ReturnType<typeof buildGallery> {
  let built: ReturnType<typeof buildGallery> | undefined
  return () => (built ??= buildGallery(golden))
}

async function bundle(): Promise<[name: string, bytes: Buffer][]> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: PAGE,
    entryPoints: ['gallery.tsx'],
    outdir: PAGE,
    write: false,
    bundle: true,
    minify: true,
    // No module: those are not loaded from a file.
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'silent',
  })
  return outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)])
}
