import { describe, expect, it } from 'vitest'
import { breaches, choosers, circles, roomOf } from './floors.ts'
import { importsOf, readSources } from './imports.ts'

const sources = readSources()
const imports = importsOf(sources)

/** The source with one file added or changed. */
const withFile = (file: string, text: string) => importsOf(new Map([...sources, [file, text]]))

describe('the source', () => {
  it('has a file behind every import', () => {
    expect(sources.size).toBeGreaterThan(100)
    expect(imports.length).toBeGreaterThan(300)
    const missing = imports.filter(({ to }) => /\.tsx?$/.test(to) && !sources.has(to))
    expect(missing).toEqual([])
    const lines = [...sources.values()].join('\n').match(/^(?:import|\} from|export .* from)\b.*'$/gm) ?? []
    expect(imports.length).toBeGreaterThanOrEqual(lines.length)
  })

  it('has no import in the wrong direction', () => {
    expect(breaches(imports)).toEqual([])
  })

  it('has no import cycle', () => {
    expect(circles(imports.filter(({ isType }) => !isType))).toEqual([])
  })

  // Types do not exist at run time, but two files that need each other's types belong together.
  it('has no cycle of types either', () => {
    expect(circles(imports)).toEqual([])
  })

  it('chooses implementations only in app.ts, its parts, main.ts and the programs', () => {
    expect(choosers(imports)).toEqual([])
    expect(imports.some(({ from, to }) => from === 'app.ts' && to === 'store/open.ts')).toBe(true)
  })

  it('uses packages sparingly at the bottom: domain only re2js and node-cron, lib none', () => {
    const packages = imports.filter(({ to }) => !to.endsWith('.ts') && !to.startsWith('node:'))
    const low = packages.filter(({ from }) => ['lib', 'domain'].includes(roomOf(from)))
    expect(new Set(low.map(({ to }) => to))).toEqual(new Set(['node-cron', 're2js']))
  })

  // In the bundle, `import()` of a CommonJS package has no named exports: `const { Agent } = await import('undici')` is undefined.
  it('loads packages late only through files of its own', () => {
    const late = [...sources].filter(([, text]) => /\bimport\(\s*'(?!\.|node:)/.test(text))
    expect(late.map(([file]) => file)).toEqual([])
    expect(sources.get('sources/http/log-tail.ts')).toContain("await import('./agents.ts')")
  })

  it('reads the environment and the clock only in allowed places', () => {
    const readers = [...sources].filter(([, text]) => /process\.env/.test(text)).map(([file]) => file)
    expect(readers.filter((file) => roomOf(file) !== 'cli' && roomOf(file) !== 'app')).toEqual([])
    const clocks = [...sources].filter(([, text]) => /Date\.now\(|new Date\(\)|Math\.random\(/.test(text))
    expect(clocks.map(([file]) => file).filter((file) => roomOf(file) !== 'app' && roomOf(file) !== 'cli')).toEqual([
      'lib/clock.ts',
    ])
  })
})

describe('the import check', () => {
  it.each([
    ['goes up', 'domain/x.ts', `import { gather } from '../store/sqlite.ts'`],
    ['goes up with a type', 'lib/x.ts', `import type { Fact } from '../domain/build-event.ts'`],
    ['goes up in several lines', 'store/x.ts', `import {\n  a,\n  b,\n} from '../alerts/pace.ts'`],
    ['goes up by a re-export', 'projects/x.ts', `export { recordDelivery } from '../alerts/record/record.ts'`],
    ['goes up at run time', 'slack/x.ts', `const x = await import('../sources/webhook-route.ts')`],
    ['goes up for its side effects', 'store/x.ts', `import '../main.ts'`],
    ['goes sideways', 'http/x.ts', `import type { Store } from '../store/store.ts'`],
    ['uses another feature', 'features/list/x.ts', `import { answerWhy } from '../why/messages.ts'`],
    ['uses a workspace package', 'app.ts', `import { createSandboxCi } from '../packages/sandbox-ci/src/server.ts'`],
    ['is in an unknown folder', 'attic/x.ts', `import { invariant } from '../lib/assert.ts'`],
  ])('finds an import that %s', (_, file, text) => {
    expect(breaches(withFile(file, text))).toHaveLength(1)
  })

  it.each([
    ['goes down', 'sources/x.ts', `import { invariant } from '../lib/assert.ts'`],
    ['stays in its feature', 'features/why/x.ts', `import { answerWhy } from './messages.ts'`],
    ['stays in its folder', 'store/x.ts', `import { gather } from './gather.ts'`],
    ['is a comment', 'lib/x.ts', `// import { createApp } from '../app.ts'\n/** import '../app.ts' */`],
    ['is a package', 'store/x.ts', `import { Kysely } from 'kysely'`],
  ])('allows an import that %s', (_, file, text) => {
    expect(breaches(withFile(file, text))).toEqual([])
  })

  it('finds a cycle of two files and of three', () => {
    const drawn = (...arrows: string[]) => {
      const files = arrows.map((arrow) => arrow.split('→').map((name) => `${name}.ts`) as [string, string])
      return files.map(([from, to]) => ({ from, to, isType: false }))
    }
    expect(circles(drawn('a→b', 'b→a'))).toEqual(['a.ts ↔ b.ts'])
    expect(circles(drawn('x→a', 'a→b', 'b→c', 'c→a', 'c→y'))).toEqual(['a.ts ↔ b.ts ↔ c.ts'])
    expect(circles(drawn('a→b', 'a→c', 'b→d', 'c→d'))).toEqual([])
  })

  it('finds a file that chooses an implementation, and allows types', () => {
    expect(choosers(withFile('retention/x.ts', `import { openSqlite } from '../store/sqlite.ts'`))).toHaveLength(1)
    expect(
      choosers(withFile('retention/x.ts', `import type { ClientV2 } from '../sources/ci-service/client-v2.ts'`)),
    ).toEqual([])
  })
})
