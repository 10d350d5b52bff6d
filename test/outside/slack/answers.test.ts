import { globSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { isRecord } from '../../../src/lib/json.ts'
import { describeOutside } from '../../support/outside.ts'
import { ANSWERS, openAnswering, refusal } from './answers.ts'
import { differences, fieldsOf } from './fields.ts'
import { LEFT_OUT_PATTERNS, patternsFor } from './left-out.ts'
import { sampleIn } from './samples.ts'

const METHODS = Object.keys(ANSWERS)
const CALLED = /'((?:apps|auth|bots|chat|conversations|files|reactions|team|usergroups|users|views)\.[A-Za-z.]+)'/g

test('every method that the bot calls is checked', () => {
  const sources = globSync('src/**/*.ts', { cwd: new URL('../../..', import.meta.url) })
  const texts = sources.map((path) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'))
  const called = texts.flatMap((text) => [...text.matchAll(CALLED)].map(([, method]) => method))
  expect(new Set(called)).toEqual(new Set(METHODS))
})

describeOutside('slack-samples', "the sandbox's answers", (folder) => {
  const samples = new Map(METHODS.map((method) => [method, fieldsOf(sampleIn(folder, `api.${method}`))]))
  const answers = new Map<string, unknown[]>()

  beforeAll(async () => {
    for (const [method, answersOf] of Object.entries(ANSWERS)) {
      const stage = await openAnswering()
      answers.set(method, [...(await answersOf(stage)), await refusal(stage, method)])
      await stage.slack.stop()
    }
  })

  const wrongIn = (method: string, found = answers.get(method) ?? []): string[] =>
    differences(samples.get(method)!, fieldsOf(...found))

  test.each(METHODS)("%s has the sample's fields, with their types", (method) => {
    expect(wrongIn(method).filter((field) => patternsFor(method, field).length === 0)).toEqual([])
  })

  test('leave out nothing that is not missing', () => {
    const needed = new Set(METHODS.flatMap((method) => wrongIn(method).flatMap((field) => patternsFor(method, field))))
    expect(LEFT_OUT_PATTERNS.filter((pattern) => !needed.has(pattern))).toEqual([])
  })

  test.each(METHODS)('%s is found wrong if any one field is removed or has another type', (method) => {
    const found = answers.get(method)!
    const held = [...fieldsOf(...found).keys()].filter(
      (field) => samples.get(method)!.has(field) && !field.endsWith('[]') && patternsFor(method, field).length === 0,
    )
    expect(held).toContain('ok')
    const leftOut = new Set(wrongIn(method))
    const unnoticed = (change: Change): string[] =>
      held.filter((field) => {
        const broken = found.map((answer) => changed(answer, field.split('.'), change))
        return wrongIn(method, broken).every((one) => leftOut.has(one))
      })
    expect(unnoticed((object, name) => delete object[name])).toEqual([])
    expect(unnoticed((object, name) => (object[name] = typeof object[name] === 'number' ? 'one' : 1))).toEqual([])
  })
})

type Change = (object: Record<string, unknown>, name: string) => void

/** A copy, changed wherever the path leads. */
function changed(value: unknown, [step = '', ...rest]: readonly string[], change: Change): unknown {
  const name = step.replace('[]', '')
  if (!isRecord(value) || !(name in value)) return value
  const copy = { ...value }
  const inner = copy[name]
  if (rest.length === 0) change(copy, name)
  else if (Array.isArray(inner)) copy[name] = inner.map((one) => changed(one, rest, change))
  else copy[name] = changed(inner, rest, change)
  return copy
}
