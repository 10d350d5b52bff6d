import { readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { CAST, type Cast } from '../../packages/demo/src/samples/cast.ts'
import { samplesOf, type Sample } from '../../packages/demo/src/samples/samples.ts'
import { HOSTILE, ROWS } from './answers-stage.ts'
import { goldenMessage, goldenText, readGolden } from '../support/golden.ts'

const FOLDER = new URL('../golden/answers/', import.meta.url)

// What could not be found is said alike to every command: once is enough to look at.
const NOT_FOUND = ['no-project', 'several-projects', 'several-builds', 'no-build', 'unknown-build', 'no-card']
const isShown = ({ command, kind }: Sample) =>
  command === 'stop' || !NOT_FOUND.some((one) => kind === one || kind.endsWith(`-${one}`))

// So are CI's errors: of other commands the first of each kind shows what the command makes of it.
const CI_ERRORS = ['ci-trouble', 'ci-refused', 'unclear']
const isOfCi = ({ kind }: Sample) => CI_ERRORS.some((one) => kind === one || kind.endsWith(`-${one}`))

const fileOf = ({ command, kind }: Sample) => `${command}-${kind}.json`
const whenOf = ({ kind, when }: Sample) => `${kind}: ${when}`

function samples(cast: Cast): Sample[] {
  const shown = samplesOf(ROWS, cast).filter(isShown)
  const first = new Set(firstOfKinds(shown))
  return shown.filter((one) => one.command === 'stop' || !isOfCi(one) || first.has(one))
}

function firstOfKinds(all: readonly Sample[]): Sample[] {
  return [...Map.groupBy(all, fileOf).values()].map(([first]) => first!)
}

const USUAL = samples(CAST)
/** What strangers change of an answer. Where it is the usual one, that is enough to look at. */
const CHANGED = firstOfKinds(samples(HOSTILE)).filter(
  (one) =>
    !isDeepStrictEqual(
      one,
      USUAL.find((usual) => fileOf(usual) === fileOf(one) && usual.when === one.when),
    ),
)

/** One file for each kind of ending, and one for each command with what strangers could make of it. */
const FILES = new Map([
  ...Map.groupBy(USUAL, fileOf),
  ...Map.groupBy(CHANGED, ({ command }) => `hostile-${command}.json`),
])

/** Where each answer stands first: the other places only name it. */
const FIRST = new Map(
  [...FILES]
    .flatMap(([file, ones]) => ones.map((one) => [JSON.stringify(one.answer), `${file}: ${whenOf(one)}`] as const))
    .toReversed(),
)

describe('every answer reads as its golden file shows', () => {
  test.each([...FILES])('%s', (name, ones) => {
    const file = new URL(name, FOLDER)
    expect(golden(name, ones)).toBe(readGolden(file, golden(name, ones)))
  })

  test('no golden file is left over', () => {
    expect(readdirSync(FOLDER).sort()).toEqual([...FILES.keys()].sort())
  })

  test('no ending hides another one', () => {
    for (const [, ones] of Map.groupBy(USUAL, fileOf)) {
      expect(new Set(ones.map(({ when }) => when)).size).toBe(ones.length)
    }
  })
})

function golden(file: string, ones: readonly Sample[]): string {
  const shown = ones.map((one) => {
    const { text, blocks, picture } = one.answer
    const when = whenOf(one)
    const same = FIRST.get(JSON.stringify(one.answer))
    if (same !== `${file}: ${when}`) return { when, same }
    return {
      when,
      ...goldenMessage({ text, blocks }),
      ...(picture && { picture: { name: picture.name, alt: picture.alt, bytes: picture.png.length } }),
    }
  })
  return goldenText(shown)
}
