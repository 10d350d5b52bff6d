import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/features/features.ts'
import {
  choiceValue,
  PAGE_MAX,
  pageValue,
  parseChoice,
  parsePage,
  VALUE_CHARS_MAX,
  type Choice,
} from '../../src/features/values.ts'
import { parseAttemptRef } from '../../src/domain/request.ts'
import type { ListQuestion } from '../../src/catalog/outcomes.ts'

const command = fc.constantFrom(...COMMANDS.map(({ name }) => name))
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 })
const ref = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.bigInt({ min: 0n, max: 10n ** 19n }), fc.nat(999_999_999))
  .map(([project, build, attempt]) => parseAttemptRef(`${project}/${build}.${attempt}`)!)

const choice: fc.Arbitrary<Choice> = fc.oneof(
  fc.record({ kind: fc.constant('project' as const), command, project: name, branch: fc.option(name) }),
  fc.record({ kind: fc.constant('run' as const), command, ref }),
)

const question: fc.Arbitrary<ListQuestion> = fc.record({
  text: fc.option(name),
  type: fc.constantFrom('basic', 'pro', null),
  page: fc.integer({ min: 1, max: PAGE_MAX }),
})

describe('what a button carries', () => {
  it('is read back as it was', () => {
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

  it('is carried up to 2,000 characters and not one more', () => {
    const ofProject = (chars: number) =>
      choiceValue({ kind: 'project', command: 'stop', project: 'p'.repeat(chars), branch: null })
    const frame = ofProject(1)!.length - 1
    expect(ofProject(VALUE_CHARS_MAX - frame)).toHaveLength(VALUE_CHARS_MAX)
    expect(ofProject(VALUE_CHARS_MAX - frame + 1)).toBeNull()
  })
})

describe('what comes back in a click', () => {
  const valid = { command: 'stop', project: 'acme/web', branch: null }

  it.each<[what: string, value: unknown]>([
    ['what names no command', { ...valid, command: 'rm -rf' }],
    ['no command', { project: 'acme/web', branch: null }],
    ['a field too many', { ...valid, admin: true }],
    ['both a project and a run', { ...valid, run: '41/512.1' }],
    ['no project', { ...valid, project: '' }],
    ['a project that is no text', { ...valid, project: 7 }],
    ['no branch', { command: 'stop', project: 'acme/web' }],
    ['a run that is none', { command: 'stop', run: '41/512' }],
    ['a run of another kind', { command: 'stop', run: { projectId: '41' } }],
    ['a list', [valid]],
    ['nothing', null],
  ])('is no choice where it is %s', (_, value) => {
    expect(parseChoice(JSON.stringify(value))).toBeNull()
  })

  it('is a choice where it is as we wrote it', () => {
    expect(parseChoice(JSON.stringify(valid))).toEqual({ kind: 'project', ...valid })
  })

  it.each<[what: string, value: unknown]>([
    ['page 0', { text: null, type: null, page: 0 }],
    ['half a page', { text: null, type: null, page: 1.5 }],
    ['a page too far', { text: null, type: null, page: PAGE_MAX + 1 }],
    ['another type', { text: null, type: 'free', page: 1 }],
    ['a field too few', { text: null, page: 1 }],
  ])('is no page where it is %s', (_, value) => {
    expect(parsePage(JSON.stringify(value))).toBeNull()
  })

  it('is a page up to the last there can be', () => {
    const last = { text: 'acme', type: 'pro', page: PAGE_MAX } as const
    expect(parsePage(JSON.stringify(last))).toEqual(last)
  })

  it('is nothing where it is no JSON, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        expect(parseChoice(text)).toBeNull()
        expect(parsePage(text)).toBeNull()
      }),
    )
  })

  it('is nothing where it is longer than a button can carry', () => {
    const text = JSON.stringify(valid)
    expect(parseChoice(text.padEnd(VALUE_CHARS_MAX))).not.toBeNull()
    expect(parseChoice(text.padEnd(VALUE_CHARS_MAX + 1))).toBeNull()
  })
})
