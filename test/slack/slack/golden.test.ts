import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderView } from '../../../src/alerts/messages/render.ts'
import { checkMessage } from '../../../packages/sandbox-slack/src/limits.ts'
import { GOLDEN_CASES, type GoldenCase } from './golden-cases.ts'

const FOLDER = new URL('../../golden/', import.meta.url)
const isUpdating = process.env['UPDATE_GOLDEN'] === '1'

describe('every message reads as its golden file shows', () => {
  test.each(Object.entries(GOLDEN_CASES))('%s', (name, one) => {
    const file = new URL(`${name}.json`, FOLDER)
    if (isUpdating) writeFileSync(file, golden(one))
    expect(golden(one)).toBe(readFileSync(file, 'utf8'))
  })

  test('no golden file is left over', () => {
    const files = readdirSync(FOLDER).filter((name) => /^(?:card|reply|ask|notice)\b.*\.json$/.test(name))
    expect(files.sort()).toEqual(
      Object.keys(GOLDEN_CASES)
        .map((name) => `${name}.json`)
        .sort(),
    )
  })
})

test.each(Object.entries(GOLDEN_CASES))('%s is within the limits of a post and of an update', (_, { view }) => {
  for (const plain of [false, true]) expect(checkMessage(renderView(view, { plain }), { isUpdate: true })).toEqual([])
})

/** Invisible characters are written out: a person reads these files. */
function golden({ when, view }: GoldenCase): string {
  const { text, attachments } = renderView(view)
  const plain = renderView(view, { plain: true }).text
  const json = JSON.stringify({ when, text, plain, attachments }, null, 2)
  return `${json.replace(/[\p{Cf}]/gu, (mark) => `\\u${mark.codePointAt(0)!.toString(16).padStart(4, '0')}`)}\n`
}
