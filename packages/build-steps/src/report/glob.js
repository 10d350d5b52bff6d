// @ts-check
import { readdir, stat } from 'node:fs/promises'
import { sep } from 'node:path'

const NOT_ENTERED = new Set(['node_modules', '.git'])

/**
 * The matching files, sorted by name. `**` matches any number of folders, `*` and `?` match within a name. The part
 * before the first wildcard is taken literally. Below it, symbolic links are not followed.
 *
 * @param {string} glob
 * @returns {Promise<string[]>}
 */
export async function findFiles(glob) {
  const parts = glob
    .replaceAll(sep, '/')
    .replace(/(?:\*\*\/)+/g, '**/')
    .split('/')
  const at = parts.findIndex((part) => /[*?]/.test(part))
  if (at < 0) return (await isFile(glob)) ? [glob] : []
  /** @type {Set<string>} */
  const found = new Set()
  await walk(
    parts
      .slice(0, at)
      .map((part) => `${part}/`)
      .join(''),
    parts.slice(at),
    found,
  )
  return [...found].sort()
}

/** @param {string} path */
const isFile = (path) =>
  stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  )

/** @param {string} folder ends with a slash, or is empty @param {readonly string[]} parts @param {Set<string>} found */
async function walk(folder, [part = '', ...rest], found) {
  if (part === '**' && rest.length > 0) await walk(folder, rest, found)
  const pattern = part === '**' ? /^/ : patternOf(part)
  for (const entry of await entriesOf(folder)) {
    const path = `${folder}${entry.name}`
    if (!pattern.test(entry.name)) continue
    if (rest.length === 0 && entry.isFile()) found.add(path)
    if (!entry.isDirectory() || NOT_ENTERED.has(entry.name)) continue
    if (part === '**') await walk(`${path}/`, [part, ...rest], found)
    else if (rest.length > 0) await walk(`${path}/`, rest, found)
  }
}

/** @param {string} part */
const patternOf = (part) =>
  new RegExp(
    `^${part
      .replace(/[\\^$+.()|[\]{}]/g, '\\$&')
      .replace(/\*+/g, '[^]*')
      .replaceAll('?', '[^]')}$`,
  )

/** A folder that cannot be read counts as empty. @param {string} folder */
const entriesOf = (folder) => readdir(folder || '.', { withFileTypes: true }).catch(() => [])
