import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, readSources, ROOT } from './imports.ts'

/** Features that go with their folder, their row, their tests, their samples and their golden files. */
const FREE = ['badge', 'flaky', 'why'].filter((feature) => existsSync(join(ROOT, 'src/features', feature)))

/** Where each of them is listed, with its samples. */
const LISTS = ['src/features/features.ts', 'packages/demo/src/samples/samples.ts']

/** Scenes that people play, and a claim about several commands: what shows a feature there goes with it. */
const SCENES = [
  'packages/demo/src/scenario.ts',
  'packages/sandbox-slack/page/tour/steps.tsx',
  'test/app/failures.slow.test.ts',
  'test/bench/people.ts',
  'test/browser/tour.test.ts',
]

const isOf = (feature: string, path: string): boolean =>
  path.startsWith(`src/features/${feature}/`) ||
  path.startsWith(`test/features/${feature}/`) ||
  path.startsWith(`test/golden/answers/${feature}-`) ||
  path === `test/golden/answers/hostile-${feature}.json` ||
  path === `packages/demo/src/samples/${feature}.ts`

/** Everything that the bot, its packages and their tests consist of, by path. */
const FILES: ReadonlyMap<string, string> = new Map(
  ['src', 'test', 'packages'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|json)$/.test(file) && !file.includes('node_modules'))
      .map((file) => [`${folder}/${file}`, readFileSync(join(ROOT, folder, file), 'utf8')] as const),
  ),
)

/** Files that would break without this feature: they import it, type its command, or refer to its golden files. */
function needersOf(feature: string, files = FILES): string[] {
  const imported = String.raw`from '[^']*/(?:features/${feature}/[^']*|samples/${feature}\.ts)'`
  const typed = String.raw`/ci[ -]${feature}\b|\btype\('${feature}\b|'/ci', text: '${feature}\b`
  const golden = String.raw`"same": "(?:hostile-)?${feature}[-.]`
  const need = new RegExp([imported, typed, golden].join('|'))
  return [...files].filter(([path, text]) => !isOf(feature, path) && need.test(text)).map(([path]) => path)
}

describe('a feature can be deleted', () => {
  it.each(FREE)('since nothing but the lists and the scenes names it: %s', (feature) => {
    expect([...FILES.keys()].filter((path) => isOf(feature, path)).length).toBeGreaterThan(6)
    expect(
      needersOf(feature).filter((path) => ![...LISTS, ...SCENES, 'test/house/features.test.ts'].includes(path)),
    ).toEqual([])
  })

  it.each([
    ["import { answerWhy } from '../../../src/features/why/messages.ts'"],
    ["import { whySamples } from '../packages/demo/src/samples/why.ts'"],
    ["await type(world, ada, '/ci why #7')"],
    ["await stage.type('why #7')"],
    ['{ "when": "any", "same": "why-why.json: why: a rule selects it" }'],
  ])('but not if another file has: %s', (text) => {
    expect(needersOf('why', new Map([['test/app/x.test.ts', text]]))).toEqual(['test/app/x.test.ts'])
    expect(needersOf('why', new Map([['test/features/why/x.test.ts', text]]))).toEqual([])
  })
})

describe('the source outside of a feature', () => {
  it('imports none but through the list, the subscriptions of a file and the doctor that runs at the start', () => {
    const feature = (file: string) => /^features\/(?!kit\/)(\w+)\//.exec(file)?.[1]
    const needed = importsOf(readSources())
      .filter(({ from, to }) => from !== 'features/features.ts' && feature(to) && feature(to) !== feature(from))
      .map(({ from, to }) => `${from} → ${feature(to)}`)
    expect([...new Set(needed)].toSorted()).toEqual([
      'cli/doctor.ts → doctor',
      'config/subscriptions-file.ts → subscriptions',
      'runtime/start-check.ts → doctor',
    ])
  })
})
