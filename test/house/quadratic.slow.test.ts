import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './imports.ts'

/** Patterns over text that is short by itself: an operator's setting, or cut before. */
const SHORT = [
  'src/sources/http/address.ts /\\/+$/',
  'src/sources/http/errors.ts /\\?[^\\s"\'<>]*=[^\\s"\'<>]*/',
  'src/sources/http/errors.ts /\\S*$/',
  'packages/build-steps/src/delivery/settings.js /\\/+$/',
  'packages/build-steps/src/restart/call.js /\\/+$/',
  // `JSON.parse` has read the text before, so every string in it ends.
  'packages/build-steps/src/answer.js /"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|-?\\d[\\d.eE+-]*/',
]

interface Found {
  name: string
  pattern: RegExp
}

const LITERAL =
  /(?:^|[=(,:?&|![;{}]|return)\s*\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])*)\/([dgimsuv]*)/g

function patternsIn(file: string): Found[] {
  const lines = readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line))
  return lines.flatMap((line) =>
    [...line.matchAll(LITERAL)].flatMap(([, source = '', flags = '']) => {
      try {
        return [{ name: `${file} /${source}/`, pattern: new RegExp(source, flags) }]
      } catch {
        // Not a pattern after all, but a division or a part of a text.
        return []
      }
    }),
  )
}

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'packages/build-steps/src'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.[jt]s$/.test(file))

const CHARS = 6_000
/** A pattern that tries each place only once takes a hundredth of this. */
const QUADRATIC_MS = 8

/** Texts that repeat what the pattern itself names, and do not end as it wants. */
function* worstTexts(source: string): Generator<string> {
  const letters = [...new Set([...source.replaceAll(/\\[a-zA-Z]/g, '').split(''), ' ', 'a', '0', '\n'])]
  const seeds = [...letters, ...letters.flatMap((one) => letters.map((other) => one + other))]
  for (const seed of seeds) for (const end of ['', '!', ' x']) yield seed.repeat(CHARS / seed.length) + end
}

/** Time on the processor: the machine may be busy with other work. */
function msOf({ source, flags }: RegExp, text: string): number {
  const pattern = new RegExp(source, flags)
  const before = process.threadCpuUsage()
  if (pattern.global) text.replaceAll(pattern, '')
  else pattern.exec(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** A text for which the pattern takes quadratic time; null: none was found. */
function worstTextOf(pattern: RegExp): string | null {
  for (const text of worstTexts(pattern.source))
    if (Array.from({ length: 4 }).every(() => msOf(pattern, text) > QUADRATIC_MS)) return text
  return null
}

describe('a pattern', () => {
  it('takes no quadratic time, since strangers choose the text', { timeout: 120_000 }, () => {
    const found = files.flatMap(patternsIn)
    expect(found.length).toBeGreaterThan(200)
    const slow = found.filter(({ name, pattern }) => !SHORT.includes(name) && worstTextOf(pattern) !== null)
    expect(slow.map(({ name }) => name)).toEqual([])
    expect(SHORT.filter((name) => !found.some((one) => one.name === name))).toEqual([])
  })

  it.each([/<@[^>]*>/g, /\s+$/])('that does is found: %s', (pattern) => {
    expect(worstTextOf(pattern)).not.toBeNull()
  })

  it.each([/<@[^<>]*>/g, /^\s*\S+/])('that does not is not: %s', (pattern) => {
    expect(worstTextOf(pattern)).toBeNull()
  })
})
