import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './imports.ts'

// Split, so that this list does not match itself.
const VENDORS = [
  'code|ship',
  'cloud|bees',
  'jen|kins',
  'travis|ci',
  'travis-|ci',
  'circle|ci',
  'build|kite',
  'team|city',
  'sema|phore|ci',
  'drone|.io',
  'app|veyor',
  'azure |pipelines',
  'bit|rise',
  'go|cd',
]
const vendor = new RegExp(
  `\\b(?:${VENDORS.map((name) => name.replaceAll('|', '').replace('.', '\\.')).join('|')})\\b`,
  'i',
)

const FORBIDDEN: readonly [what: string, pattern: RegExp][] = [
  ['a vendor of CI', vendor],
  ['a path of one machine', /(?<![\w.])\/(?:home\/(?!user)|Users\/|root\/|work\/|tmp\/(?!buildline))/],
  ['something left to do', /\b(?:TODO|FIXME|XXX|HACK)\b/],
]

/** Every text file that git tracks or would add. */
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z', 'src', 'docs', 'README.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.(?:tsx?|js|md|css|html|ya?ml|json)$/.test(file) && existsSync(join(ROOT, file)))

function findings(file: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      FORBIDDEN.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${file}:${at + 1}: ${what}`),
    )
}

const together = (...parts: string[]): string => parts.join('')

describe('the text that we ship', () => {
  it('names no vendor, no machine and nothing left to do', () => {
    expect(files.length).toBeGreaterThan(100)
    expect(files.flatMap((file) => findings(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
  })

  it.each([
    ['a vendor', `// as ${together('jen', 'kins')} does it`],
    ['a path', `const path = '${together('/ho', 'me')}/ada/builds'`],
    ['another path', `see ${together('/wo', 'rk')}/notes`],
    ['a promise', `// ${together('TO', 'DO')} later`],
  ])('would be found to contain %s', (_, line) => {
    expect(findings('x.ts', `const a = 1\n${line}\n`)).toHaveLength(1)
  })

  it.each([`import x from './work/lib.ts'`, `'/api/v1/projects.json'`, 'the CI service', 'go on, circle'])(
    'may contain %s',
    (line) => {
      expect(findings('x.ts', line)).toEqual([])
    },
  )
})
