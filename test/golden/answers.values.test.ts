import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describedFeatures } from '../../src/features/features.ts'
import {
  choiceValue,
  PAGE_MAX,
  pageValue,
  parseChoice,
  parsePage,
  VALUE_CHARS_MAX,
  type Choice,
} from '../../src/features/kit/values.ts'
import { parseAttemptRef } from '../../src/domain/cards/request.ts'
import type { ListQuery } from '../../src/projects/outcomes.ts'
import { anyText } from '../support/any-text.ts'

const { commands: COMMANDS } = describedFeatures()

const command = fc.constantFrom(...COMMANDS.map(({ name }) => name))
const name = anyText({ minLength: 1, maxLength: 200 })
const ref = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.nat(999_999_999))
  .map(([project, build, attempt]) => parseAttemptRef(`${project}/${build}.${attempt}`)!)

const choice: fc.Arbitrary<Choice> = fc.oneof(
  fc.record({ kind: fc.constant('project' as const), command, project: name, branch: fc.option(name) }),
  fc.record({ kind: fc.constant('run' as const), command, ref }),
)

const question: fc.Arbitrary<ListQuery> = fc.record({
  text: fc.option(name),
  type: fc.constantFrom('basic', 'pro', null),
  page: fc.integer({ min: 1, max: PAGE_MAX }),
})

describe('the value of a button', () => {
  it('is read back unchanged', () => {
    fc.assert(
      fc.property(choice, question, (one, asked) => {
        const value = choiceValue(one)
        const page = pageValue(asked)
        if (value !== null) expect(parseChoice(value)).toEqual(one)
        if (page !== null) expect(parsePage(page)).toEqual(asked)
      }),
    )
  })

  it('fits into a button, whatever it is about', () => {
    fc.assert(
      fc.property(choice, question, (one, asked) => {
        expect((choiceValue(one) ?? '').length).toBeLessThanOrEqual(VALUE_CHARS_MAX)
        expect((pageValue(asked) ?? '').length).toBeLessThanOrEqual(VALUE_CHARS_MAX)
      }),
    )
  })

  it('may have up to 2,000 characters', () => {
    const ofProject = (chars: number) =>
      choiceValue({ kind: 'project', command: 'stop', project: 'p'.repeat(chars), branch: null })
    const frame = ofProject(1)!.length - 1
    expect(ofProject(VALUE_CHARS_MAX - frame)).toHaveLength(VALUE_CHARS_MAX)
    expect(ofProject(VALUE_CHARS_MAX - frame + 1)).toBeNull()
  })
})

describe('the value of a click', () => {
  const valid = { command: 'stop', project: 'acme/web', branch: null }

  it.each<[what: string, value: unknown]>([
    ['an unknown command', { ...valid, command: 'rm -rf' }],
    ['no command', { project: 'acme/web', branch: null }],
    ['an unknown field', { ...valid, admin: true }],
    ['both a project and an attempt', { ...valid, run: '41/512.1' }],
    ['an empty project', { ...valid, project: '' }],
    ['a project that is not a string', { ...valid, project: 7 }],
    ['no branch', { command: 'stop', project: 'acme/web' }],
    ['an invalid attempt', { command: 'stop', run: '41/512' }],
    ['an attempt of another type', { command: 'stop', run: { projectId: '41' } }],
    ['a list', [valid]],
    ['null', null],
  ])('is no choice: %s', (_, value) => {
    expect(parseChoice(JSON.stringify(value))).toBeNull()
  })

  it('is a choice if it is one that Buildline wrote', () => {
    expect(parseChoice(JSON.stringify(valid))).toEqual({ kind: 'project', ...valid })
  })

  it.each<[what: string, value: unknown]>([
    ['page 0', { text: null, type: null, page: 0 }],
    ['page 1.5', { text: null, type: null, page: 1.5 }],
    ['a page beyond the last', { text: null, type: null, page: PAGE_MAX + 1 }],
    ['another type', { text: null, type: 'free', page: 1 }],
    ['a missing field', { text: null, page: 1 }],
  ])('is no page: %s', (_, value) => {
    expect(parsePage(JSON.stringify(value))).toBeNull()
  })

  it('is a page up to the last possible one', () => {
    const last = { text: 'acme', type: 'pro', page: PAGE_MAX } as const
    expect(parsePage(JSON.stringify(last))).toEqual(last)
  })

  it('is ignored if it is not JSON', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.json()), (text) => {
        expect(parseChoice(text)).toBeNull()
        expect(parsePage(text)).toBeNull()
      }),
    )
  })

  it("is ignored if it is longer than a button's value", () => {
    const text = JSON.stringify(valid)
    expect(parseChoice(text.padEnd(VALUE_CHARS_MAX))).not.toBeNull()
    expect(parseChoice(text.padEnd(VALUE_CHARS_MAX + 1))).toBeNull()
  })
})
