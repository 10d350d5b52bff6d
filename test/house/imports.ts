import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Import {
  from: string
  /** a path below src, or a package's name */
  to: string
  /** a type-only import, which does not exist at run time */
  isType: boolean
}

/** Source files by their path below src. */
export type Sources = ReadonlyMap<string, string>

export function readSources(): Sources {
  const folder = join(ROOT, 'src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

/** Every import and re-export of every file, including dynamic ones. */
export const importsOf = (sources: Sources): Import[] =>
  [...sources].flatMap(([from, text]) =>
    [...withoutComments(text).matchAll(IMPORT)].map((found) => ({
      from,
      to: resolve(from, found.groups!['static'] ?? found.groups!['dynamic']!),
      isType: found.groups!['type'] !== undefined || isTypesOnly(found.groups!['names'] ?? ''),
    })),
  )

const IMPORT =
  /^(?:import|export)\s+(?<type>type\s+)?(?:(?<names>[^'";]*?)\s*from\s*)?'(?<static>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'/gm

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

// import { type A, type B } from …
function isTypesOnly(names: string): boolean {
  const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1]
  const each =
    inner
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '') ?? []
  return each.length > 0 && each.every((name) => name.startsWith('type '))
}

const resolve = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? relative('.', join(dirname(from), specifier)) : specifier
