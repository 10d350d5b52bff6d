import { readdirSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { checkMessage } from '../../packages/sandbox-slack/src/limits.ts'
import { SAID_CASES, type SaidCase } from './said-cases.ts'
import { goldenMessage, goldenText, readGolden } from '../support/golden.ts'

const FOLDER = new URL('./said/', import.meta.url)
const CASES = Object.entries(SAID_CASES)

describe('every line that Buildline says by itself reads as its golden file shows', () => {
  test.each(CASES)('%s', (name, one) => {
    const file = new URL(`${name}.json`, FOLDER)
    expect(golden(one)).toBe(readGolden(file, golden(one)))
  })

  test('no golden file is left over', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(CASES.map(([name]) => `${name}.json`).toSorted())
  })
})

describe('a line', () => {
  it.each(CASES)('(%s) is valid for Slack', (_, { text, blocks = [] }) => {
    expect(checkMessage(JSON.parse(JSON.stringify({ text, blocks })), { isUpdate: false })).toEqual([])
  })

  it.each(CASES.filter(([name]) => name.endsWith('hostile')))('(%s) contains no mention from outside', (_, one) => {
    expect(JSON.stringify(one)).not.toMatch(/<!channel|<@U1>|<#C1>|<https:\/\/evil/)
  })
})

const golden = ({ when, ...said }: SaidCase): string => goldenText({ when, ...goldenMessage(said) })
