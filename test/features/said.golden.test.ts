import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { checkMessage } from '../../packages/sandbox-slack/src/limits.ts'
import { SAID_CASES, type SaidCase } from './said-cases.ts'

const FOLDER = new URL('../golden/said/', import.meta.url)
const isUpdating = process.env['UPDATE_GOLDEN'] === '1'
const CASES = Object.entries(SAID_CASES)

describe('every line that Buildline says by itself reads as its golden file shows', () => {
  test.each(CASES)('%s', (name, one) => {
    const file = new URL(`${name}.json`, FOLDER)
    if (isUpdating) writeFileSync(file, golden(one))
    expect(golden(one)).toBe(readFileSync(file, 'utf8'))
  })

  test('no golden file is left over', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(CASES.map(([name]) => `${name}.json`).toSorted())
  })
})

describe('a line', () => {
  it.each(CASES)('(%s) is one that Slack takes', (_, { text, blocks = [] }) => {
    expect(checkMessage(JSON.parse(JSON.stringify({ text, blocks })), { isUpdate: false })).toEqual([])
  })

  it.each(CASES.filter(([name]) => name.endsWith('hostile')))('(%s) mentions nobody that it was told to', (_, one) => {
    expect(JSON.stringify(one)).not.toMatch(/<!channel|<@U1>|<#C1>|<https:\/\/evil/)
  })
})

/** Invisible characters are written out: a person reads these files. */
function golden({ when, text, blocks }: SaidCase): string {
  const json = JSON.stringify({ when, text: text.split('\n'), ...(blocks && { blocks }) }, null, 2)
  return `${json.replace(/[\p{Cf}]/gu, (mark) => `\\u${mark.codePointAt(0)!.toString(16).padStart(4, '0')}`)}\n`
}
