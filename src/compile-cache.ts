import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The folder in which Node keeps compiled code: beside the SQLite file, made if it is missing. Null, and so no cache, where
 * there is no such file, and where another user owns the folder or its parent or could write to them: Node runs what it finds
 * there.
 */
export function compileCacheFolder(databaseUrl: string | undefined): string | null {
  const url = databaseUrl?.trim() || 'sqlite:data/buildline.db'
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  if (path === undefined) return null
  const folder = join(dirname(path), 'compile-cache')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return [folder, dirname(folder)].every(isOursAlone) ? folder : null
  } catch {
    return null
  }
}

const OTHERS_MAY_WRITE = 0o022

function isOursAlone(path: string): boolean {
  const found = lstatSync(path)
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & OTHERS_MAY_WRITE) === 0
}
