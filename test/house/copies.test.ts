import { execFileSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testFolder } from '../support/app.ts'
import { ROOT } from './imports.ts'

/** A shorter text, without its white space, can be the same by chance. */
const TEXT_CHARS_MIN = 300
const isText = (path: string) => /\.(?:[cm]?[jt]sx?|json|css|html|svg|xml|md|ya?ml)$/.test(path)

/** A text without its white space, so that a formatter hides no copy. */
const squeezed = (text: string) => text.replaceAll(/\s+/g, '')
const read = (path: string) => squeezed(readFileSync(path, 'utf8'))

/** The beginning of a file: nearly all of the thousands of installed files need no more to be told apart. */
function beginning(path: string): string {
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(1024)
  const count = readSync(file, bytes)
  closeSync(file)
  return squeezed(bytes.toString('utf8', 0, count)).slice(0, TEXT_CHARS_MIN / 3)
}

/** Which of these files have the text of a file below `modules`. */
function copies(ours: readonly string[], modules: string): string[] {
  const long = ours.filter((path) => isText(path) && read(path).length >= TEXT_CHARS_MIN)
  const known = Map.groupBy(long, beginning)
  return textsBelow(modules).flatMap((path) => {
    const alike = known.get(beginning(path)) ?? []
    const same = alike.filter((own) => read(own) === read(path))
    return same.map((own) => `${relative(ROOT, own)} is ${relative(modules, path)}`)
  })
}

/** Links are left out: they lead to our own packages. */
const textsBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return textsBelow(path)
    return entry.isFile() && isText(entry.name) ? [path] : []
  })

const MODULES = join(ROOT, 'node_modules')

describe('this repository', () => {
  test('contains no file of an installed package', () => {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
    const ours = listed
      .split('\0')
      .filter((file) => existsSync(join(ROOT, file)))
      .map((file) => join(ROOT, file))
    expect(ours.length).toBeGreaterThan(1_000)
    expect(copies(ours, MODULES)).toEqual([])
  })

  test('would be found to contain one, also after it was formatted', () => {
    const folder = testFolder()
    mkdirSync(join(folder, 'modules/sax/lib'), { recursive: true })
    cpSync(join(MODULES, 'sax/lib/sax.js'), join(folder, 'modules/sax/lib/sax.js'))
    const copied = join(folder, 'parser.cjs')
    writeFileSync(copied, readFileSync(join(MODULES, 'sax/lib/sax.js'), 'utf8').replaceAll('\n', '\r\n\t'))
    expect(copies([copied], join(folder, 'modules'))).toEqual([`${relative(ROOT, copied)} is sax/lib/sax.js`])
    writeFileSync(copied, `${readFileSync(copied, 'utf8')}//`)
    expect(copies([copied], join(folder, 'modules'))).toEqual([])
  })
})
