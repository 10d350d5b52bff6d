import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { blockOf, linesOf, partOf } from '../../packages/demo/src/gallery/answer-parts.ts'
import { CAST, type Cast } from '../../packages/demo/src/samples/cast.ts'
import { samplesOf, type Sample } from '../../packages/demo/src/samples/samples.ts'
import { HOSTILE, ROWS } from './answers-stage.ts'
import { goldenText, readGolden } from '../support/golden.ts'

const FOLDER = new URL('../golden/answers/', import.meta.url)

// What could not be found is said alike to every command: once is enough to look at.
const NOT_FOUND = ['no-project', 'several-projects', 'several-builds', 'no-build', 'unknown-build', 'no-card']
const isShown = ({ command, kind }: Sample) =>
  command === 'stop' || !NOT_FOUND.some((one) => kind === one || kind.endsWith(`-${one}`))

// So are CI's errors: of other commands the first of each kind shows what the command makes of it.
const CI_ERRORS = ['ci-trouble', 'ci-refused', 'unclear']
const isOfCi = ({ kind }: Sample) => CI_ERRORS.some((one) => kind === one || kind.endsWith(`-${one}`))

const fileOf = ({ command, kind }: Sample) => `${command}-${kind}.json`

function samples(cast: Cast): Sample[] {
  const shown = samplesOf(ROWS, cast).filter(isShown)
  const first = new Set(firstOfKinds(shown))
  return shown.filter((one) => one.command === 'stop' || !isOfCi(one) || first.has(one))
}

/** One file for each kind of ending, and one for each command with what strangers could make of it. */
const FILES = new Map([
  ...Map.groupBy(samples(CAST), fileOf),
  ...Map.groupBy(firstOfKinds(samples(HOSTILE)), ({ command }) => `hostile-${command}.json`),
])

function firstOfKinds(all: readonly Sample[]): Sample[] {
  return [...Map.groupBy(all, fileOf).values()].map(([first]) => first!)
}

describe('every answer reads as its golden file shows', () => {
  test.each([...FILES])('%s', (name, ones) => {
    const file = new URL(name, FOLDER)
    expect(golden(ones)).toBe(readGolden(file, golden(ones)))
  })

  test('no golden file is left over', () => {
    expect(readdirSync(FOLDER).sort()).toEqual([...FILES.keys()].sort())
  })

  test('no ending hides another one', () => {
    for (const [, ones] of Map.groupBy(samples(CAST), fileOf)) {
      expect(new Set(ones.map(({ when }) => when)).size).toBe(ones.length)
    }
  })
})

function golden(ones: readonly Sample[]): string {
  const shown = ones.map(({ kind, when, answer: { text, blocks, picture } }) => {
    const parts = blocks.map(partOf)
    // Each text is stored once: nothing is lost, neither of the blocks nor of the text that is sent beside them.
    expect(parts.map(blockOf)).toEqual(blocks)
    expect(linesOf(parts)).toEqual(text.split('\n'))
    return {
      when: `${kind}: ${when}`,
      parts,
      ...(picture && { picture: { name: picture.name, alt: picture.alt, bytes: picture.png.length } }),
    }
  })
  return goldenText(shown)
}
