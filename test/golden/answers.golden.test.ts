import { readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { CAST, type Cast } from '../../packages/demo/src/samples/cast.ts'
import type { Sample } from '../../packages/demo/src/samples/sample.ts'
import { samplesOf } from '../../packages/demo/src/samples/samples.ts'
import { HOSTILE, ROWS } from './answers-stage.ts'
import { goldenMessage, goldenText, readGolden } from '../support/golden.ts'

const FOLDER = new URL('./answers/', import.meta.url)

// These outcomes have the same text for every command; one sample of each is enough.
const NOT_FOUND = ['no-project', 'several-projects', 'several-builds', 'no-build', 'unknown-build', 'no-card']
const isShown = ({ command, kind }: Sample) =>
  command === 'stop' || !NOT_FOUND.some((one) => kind === one || kind.endsWith(`-${one}`))

// Of CI's errors, the first sample of each kind is enough for each other command.
const CI_ERRORS = ['ci-trouble', 'ci-refused', 'unclear']
const isOfCi = ({ kind }: Sample) => CI_ERRORS.some((one) => kind === one || kind.endsWith(`-${one}`))

const fileOf = ({ command, kind }: Sample) => `${command}-${kind}.json`
const whenOf = ({ kind, when }: Sample) => `${kind}: ${when}`

async function samples(cast: Cast): Promise<Sample[]> {
  const shown = (await samplesOf(ROWS, cast)).filter(isShown)
  const first = new Set(firstOfKinds(shown))
  return shown.filter((one) => one.command === 'stop' || !isOfCi(one) || first.has(one))
}

function firstOfKinds(all: readonly Sample[]): Sample[] {
  return [...Map.groupBy(all, fileOf).values()].map(([first]) => first!)
}

const USUAL = await samples(CAST)
/** Answers whose text depends on names from outside. An unchanged answer is not stored again. */
const CHANGED = firstOfKinds(await samples(HOSTILE)).filter(
  (one) =>
    !isDeepStrictEqual(
      one,
      USUAL.find((usual) => fileOf(usual) === fileOf(one) && usual.when === one.when),
    ),
)

/** One file for each kind of outcome, and one for each command with hostile names. */
const FILES = new Map([
  ...Map.groupBy(USUAL, fileOf),
  ...Map.groupBy(CHANGED, ({ command }) => `hostile-${command}.json`),
])

/** The first file with each answer. Other files only refer to it. */
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

  test('no outcome has the same file name as another', () => {
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
