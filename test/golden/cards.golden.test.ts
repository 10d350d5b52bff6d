import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderView } from '../../src/alerts/messages/render.ts'
import { checkMessage } from '../../packages/sandbox-slack/src/limits.ts'
import { GOLDEN_CASES, type GoldenCase } from './card-cases.ts'
import { goldenMessage, goldenText, readGolden } from '../support/golden.ts'

const FOLDER = new URL('./', import.meta.url)

describe('every message reads as its golden file shows', () => {
  test.each(Object.entries(GOLDEN_CASES))('%s', (name, one) => {
    const file = new URL(`${name}.json`, FOLDER)
    expect(golden(one)).toBe(readGolden(file, golden(one)))
  })

  test('no golden file is left over', () => {
    const files = readdirSync(FOLDER).filter((name) => /^(?:card|reply|ask|note|notice|digest)\b.*\.json$/.test(name))
    expect(files.sort()).toEqual(
      Object.keys(GOLDEN_CASES)
        .map((name) => `${name}.json`)
        .sort(),
    )
  })
})

test.each(Object.entries(GOLDEN_CASES))('%s is within the limits of a post and of an update', (_, { view }) => {
  for (const plain of [false, true])
    for (const isUpdate of [false, true]) expect(checkMessage(renderView(view, { plain }), { isUpdate })).toEqual([])
})

const golden = ({ when, view }: GoldenCase): string =>
  goldenText({ when, ...goldenMessage({ ...renderView(view), plain: renderView(view, { plain: true }).text }) })
