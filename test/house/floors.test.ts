import { describe, expect, it } from 'vitest'
import { breaches, choosers, circles, roomOf } from './floors.ts'
import { importsOf, readSources } from './imports.ts'

const sources = readSources()
const imports = importsOf(sources)

/** The source as it is, with one file more or changed. */
const withFile = (file: string, text: string) => importsOf(new Map([...sources, [file, text]]))

describe('the house', () => {
  it('is read whole: every import with a file behind it', () => {
    expect(sources.size).toBeGreaterThan(100)
    expect(imports.length).toBeGreaterThan(300)
    const missing = imports.filter(({ to }) => /\.tsx?$/.test(to) && !sources.has(to))
    expect(missing).toEqual([])
    const lines = [...sources.values()].join('\n').match(/^(?:import|\} from|export .* from)\b.*'$/gm) ?? []
    expect(imports.length).toBeGreaterThanOrEqual(lines.length)
  })

  it('has no import that climbs or crosses', () => {
    expect(breaches(imports)).toEqual([])
  })

  it('has no circle', () => {
    expect(circles(imports.filter(({ isType }) => !isType))).toEqual([])
  })

  // Types vanish before the program runs; still, two files that need each other's words are one thought.
  it('has no circle of types either', () => {
    expect(circles(imports)).toEqual([])
  })

  it('chooses its implementations in app.ts, its parts, main.ts and the programs alone', () => {
    expect(choosers(imports)).toEqual([])
    expect(imports.some(({ from, to }) => from === 'app.ts' && to === 'store/sqlite.ts')).toBe(true)
  })

  it('keeps packages out of the ground: domain takes re2js, lib nothing', () => {
    const packages = imports.filter(({ to }) => !to.endsWith('.ts') && !to.startsWith('node:'))
    const low = packages.filter(({ from }) => ['lib', 'domain'].includes(roomOf(from)))
    expect(new Set(low.map(({ to }) => to))).toEqual(new Set(['re2js']))
  })

  it('reads the environment and the clock only where it may', () => {
    const readers = [...sources].filter(([, text]) => /process\.env/.test(text)).map(([file]) => file)
    expect(readers.filter((file) => roomOf(file) !== 'cli' && roomOf(file) !== 'app')).toEqual([])
    const clocks = [...sources].filter(([, text]) => /Date\.now\(|new Date\(\)|Math\.random\(/.test(text))
    expect(clocks.map(([file]) => file).filter((file) => roomOf(file) !== 'app' && roomOf(file) !== 'cli')).toEqual([
      'lib/clock.ts',
    ])
  })
})

describe('the test of the house', () => {
  it.each([
    ['climbs', 'domain/x.ts', `import { gather } from '../store/gather.ts'`],
    ['climbs with a type', 'lib/x.ts', `import type { Fact } from '../domain/build-event.ts'`],
    ['climbs in several lines', 'store/x.ts', `import {\n  a,\n  b,\n} from '../alerts/pace.ts'`],
    ['climbs by a re-export', 'catalog/x.ts', `export { recordDelivery } from '../alerts/record.ts'`],
    ['climbs at run time', 'slack/x.ts', `const x = await import('../sources/webhook-route.ts')`],
    ['climbs for an effect', 'store/x.ts', `import '../main.ts'`],
    ['crosses', 'server/x.ts', `import type { Store } from '../store/store.ts'`],
    ['takes from another feature', 'features/list/x.ts', `import { answerWhy } from '../why/messages.ts'`],
    [
      'takes a package of the workspace',
      'app.ts',
      `import { createSandboxCi } from '../packages/sandbox-ci/src/server.ts'`,
    ],
    ['is in a room that nobody knows', 'attic/x.ts', `import { invariant } from '../lib/assert.ts'`],
  ])('finds an import that %s', (_, file, text) => {
    expect(breaches(withFile(file, text))).toHaveLength(1)
  })

  it.each([
    ['goes down', 'sources/x.ts', `import { invariant } from '../lib/assert.ts'`],
    ['stays in its feature', 'features/why/x.ts', `import { answerWhy } from './messages.ts'`],
    ['stays in its room', 'store/x.ts', `import { gather } from './gather.ts'`],
    ['is a comment', 'lib/x.ts', `// import { createApp } from '../app.ts'\n/** import '../app.ts' */`],
    ['is a package', 'store/x.ts', `import { Kysely } from 'kysely'`],
  ])('does not find one that %s', (_, file, text) => {
    expect(breaches(withFile(file, text))).toEqual([])
  })

  it('finds a circle, of two and of three', () => {
    const drawn = (...arrows: string[]) => {
      const files = arrows.map((arrow) => arrow.split('→').map((name) => `${name}.ts`) as [string, string])
      return files.map(([from, to]) => ({ from, to, isType: false }))
    }
    expect(circles(drawn('a→b', 'b→a'))).toEqual(['a.ts ↔ b.ts'])
    expect(circles(drawn('x→a', 'a→b', 'b→c', 'c→a', 'c→y'))).toEqual(['a.ts ↔ b.ts ↔ c.ts'])
    expect(circles(drawn('a→b', 'a→c', 'b→d', 'c→d'))).toEqual([])
  })

  it('finds whoever chooses an implementation, and lets types pass', () => {
    expect(choosers(withFile('jobs/x.ts', `import { openSqlite } from '../store/sqlite.ts'`))).toHaveLength(1)
    expect(choosers(withFile('jobs/x.ts', `import type { ClientV2 } from '../ci/client-v2.ts'`))).toEqual([])
  })
})
