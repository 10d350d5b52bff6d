import type { ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { PAGE_HEADERS } from './page-files.ts'

/** Returns the gallery's files by name. They are made on the first call. */
export type Gallery = () => Promise<ReadonlyMap<string, Buffer>>

const FOLDER = '/gallery/'

const TYPE_BY_ENDING: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** Serves the gallery below `/gallery/`; false for other paths, or if there is no gallery. */
export async function serveGallery(gallery: Gallery | null, response: ServerResponse, path: string): Promise<boolean> {
  if (gallery === null) return false
  if (`${path}/` === FOLDER) {
    response.writeHead(308, { location: FOLDER }).end()
    return true
  }
  if (!path.startsWith(FOLDER)) return false
  const name = path.slice(FOLDER.length) || 'index.html'
  const bytes = (await gallery()).get(name)
  const type = TYPE_BY_ENDING[extname(name)]
  if (!bytes || !type) return false
  response.writeHead(200, { ...PAGE_HEADERS, 'cache-control': 'no-cache', 'content-type': type }).end(bytes)
  return true
}
