import { readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { describedFeatures } from '../../src/features/features.ts'
import { checkView } from '../../packages/sandbox-slack/src/limits.ts'
import { MODAL_CASES, type ModalCase } from './modal-cases.ts'
import { goldenText, goldenView, readGolden } from '../support/golden.ts'

const { forms: FORMS } = describedFeatures()

const FOLDER = new URL('./modals/', import.meta.url)
const CASES = Object.entries(MODAL_CASES)

describe('every form reads as its golden file shows', () => {
  test.each(CASES)('%s', (name, one) => {
    const file = new URL(`${name}.json`, FOLDER)
    expect(golden(name, one)).toBe(readGolden(file, golden(name, one)))
  })

  test('no golden file is left over', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(CASES.map(([name]) => `${name}.json`).toSorted())
  })

  test('every form has a golden file', () => {
    const shown = new Set(CASES.map(([, { view }]) => Object.entries(view).find(([key]) => key === 'callback_id')?.[1]))
    expect([...FORMS.keys()].filter((id) => !shown.has(id))).toEqual([])
  })
})

describe('a form', () => {
  it.each(CASES)('(%s) is valid for Slack', (_, { view }) => {
    expect(checkView(JSON.parse(JSON.stringify(view)))).toEqual([])
  })

  it.each(CASES.filter(([, { errors }]) => errors))('(%s) has a field for each of its errors', (_, one) => {
    const blocks = JSON.stringify(one.view)
    expect(Object.keys(one.errors ?? {}).length).toBeGreaterThan(0)
    for (const block of Object.keys(one.errors ?? {})) expect(blocks).toContain(`"block_id":"${block}"`)
  })
})

/** Of a refused form only the errors are stored, with the name of the form. */
function golden(name: string, { when, view, errors }: ModalCase): string {
  const [first] = CASES.find(([, other]) => isDeepStrictEqual(other.view, view))!
  return goldenText({
    when,
    ...(first === name ? { view: goldenView(unsealed(view)) } : { same: `${first}.json` }),
    errors,
  })
}

/** Sealed values change with the key. */
const unsealed = (view: object): object =>
  JSON.parse(JSON.stringify(view), (key, value: unknown) =>
    key === 'private_metadata' && typeof value === 'string' && /^[\w-]+$/.test(value) ? '(sealed)' : value,
  )
