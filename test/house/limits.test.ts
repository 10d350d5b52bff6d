import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './imports.ts'
import { constantIn, limitsIn, limitsInSource, limitsOnPage, type Limit } from './limits.ts'

/** The code that reads input of strangers. */
const FACES_STRANGERS = [
  'domain/rules/decide.ts',
  'domain/handle.ts',
  'domain/ids.ts',
  'domain/rules/pattern.ts',
  'domain/builds/revision.ts',
  'features/home/slack.ts',
  'lib/json.ts',
  'http/answer.ts',
  'http/body-queue.ts',
  'http/body.ts',
  'http/http-server.ts',
  'slack/commands/',
  'slack/http/',
  'slack/reply-targets.ts',
  'slack/socket/',
  'sources/ci-service/endpoint.ts',
  'sources/endpoint.ts',
  'sources/github/endpoint.ts',
  'sources/github/run.ts',
  'sources/gitlab/endpoint.ts',
  'sources/gitlab/pipeline.ts',
  'sources/start-inputs.ts',
  'sources/webhook-route.ts',
].map((path) => `src/${path}`)

const keyOf = ({ name, file }: Limit): string => `${file} ${name}`

const page = limitsOnPage()
const source = limitsInSource()

describe('docs/limits.md', () => {
  it('is read completely, and so is the source', () => {
    expect(page.length).toBeGreaterThan(50)
    expect(source.length).toBeGreaterThan(100)
  })

  it('has each limit once, with what happens beyond it', () => {
    expect(page.map(keyOf).length).toBe(new Set(page.map(keyOf)).size)
    expect(page.filter(({ says }) => says.trim().length < 8)).toEqual([])
  })

  it.each(page.map((row) => [keyOf(row), row] as const))("has the source's number: %s", (_, row) => {
    expect(constantIn(row.file, row.name)).toBe(row.number)
  })

  it('has every limit of the code that strangers reach', () => {
    expect(FACES_STRANGERS.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    const known = new Set(page.map(keyOf))
    const facing = source.filter(({ file }) => FACES_STRANGERS.some((path) => file.startsWith(path)))
    expect(facing.length).toBeGreaterThan(20)
    expect(facing.filter((limit) => !known.has(keyOf(limit)))).toEqual([])
  })
})

describe('the check of docs/limits.md', () => {
  it('reads numbers, products, and otherwise the words', () => {
    const text = ['export const A_MAX = 10_000', 'const B_MAX = 4 * 1024 * 1024', 'const C_MAX = A_MAX - 2'].join('\n')
    expect(limitsIn('x.ts', text).map(({ name, number }) => `${name} ${number}`)).toEqual([
      'A_MAX 10,000',
      'B_MAX 4,194,304',
      'C_MAX `A_MAX - 2`',
    ])
  })

  it('reports a constant as missing if its name or file is wrong', () => {
    expect(constantIn('src/http/http-server.ts', 'HEADERS_MAX')).toBe('100')
    expect(constantIn('src/http/http-server.ts', 'HEADERS_LEAST')).toBeNull()
    expect(constantIn('src/nowhere.ts', 'HEADERS_MAX')).toBeNull()
  })
})
