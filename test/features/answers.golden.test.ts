import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CAST, type Cast } from '../../packages/demo/src/samples/cast.ts'
import { samplesOf, type Sample } from '../../packages/demo/src/samples/samples.ts'
import { HOSTILE, ROWS } from './answers-stage.ts'

const FOLDER = new URL('../golden/answers/', import.meta.url)
const isUpdating = process.env['UPDATE_GOLDEN'] === '1'

// What could not be found is said alike to every command: once is enough to look at.
const NOT_FOUND = ['no-project', 'several-projects', 'several-builds', 'no-build', 'unknown-build', 'no-card']
const isShown = ({ command, kind }: Sample) =>
  command === 'stop' || !NOT_FOUND.some((one) => kind === one || kind.endsWith(`-${one}`))

const fileOf = ({ command, kind }: Sample) => `${command}-${kind}.json`
const samples = (cast: Cast) => samplesOf(ROWS, cast).filter(isShown)

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
    if (isUpdating) writeFileSync(file, golden(ones))
    expect(golden(ones)).toBe(readFileSync(file, 'utf8'))
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

/** Invisible characters are written out: a person reads these files. */
function golden(ones: readonly Sample[]): string {
  const shown = ones.map(({ kind, when, answer: { text, blocks, picture } }) => ({
    when: `${kind}: ${when}`,
    text: text.split('\n'),
    blocks,
    ...(picture && { picture: { name: picture.name, alt: picture.alt, bytes: picture.png.length } }),
  }))
  const json = JSON.stringify(shown, null, 2)
  return `${json.replace(/[\p{Cf}]/gu, (mark) => `\\u${mark.codePointAt(0)!.toString(16).padStart(4, '0')}`)}\n`
}
