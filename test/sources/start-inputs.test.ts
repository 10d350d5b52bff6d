import { expect, test } from 'vitest'
import { inputsIn, readYaml } from '../../src/sources/start-inputs.ts'

const ALIASES_OF_ALIASES = Array.from(
  { length: 12 },
  (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : Array.from({ length: 12 }, () => `*a${at - 1}`).join(', ')}]`,
).join('\n')

test.each([
  ['that is no YAML', 'on: [push\njobs'],
  ['that is nested too deep', `on: ${'['.repeat(50_000)}`],
  ['whose aliases expand a million times', ALIASES_OF_ALIASES],
  ['that is too large', `# ${'x'.repeat(64 * 1024)}`],
])('a file %s cannot be read', (_, text) => {
  expect(readYaml(text)).toBeNull()
})

test.each([
  ['with an alias', 'a: &one [push]\non: *one', [{ a: ['push'], on: ['push'] }]],
  ['of two documents', 'spec: 1\n---\nunit: 2', [{ spec: 1 }, { unit: 2 }]],
  [
    "with GitLab's own tags",
    'unit: { script: !reference [.base, script] }',
    [{ unit: { script: ['.base', 'script'] } }],
  ],
  ['that is empty', '', []],
])('a file %s is read', (_, text, documents) => {
  expect(readYaml(text)).toEqual(documents)
})

test('a file with nine thousand keys does not take quadratic time', () => {
  const text = Array.from({ length: 9_000 }, (_, at) => `k${at}: 1`)
    .join('\n')
    .slice(0, 64 * 1024)
  const begunAt = performance.now()
  readYaml(text)
  // Comparing all keys with each other takes twelve seconds.
  expect(performance.now() - begunAt).toBeLessThan(4_000)
})

test('an input has its type, its choices and its default, and is required only without one', () => {
  const [documents] = readYaml(
    'a: { type: boolean, required: true }\nb: { type: choice, options: [1, two, { x: 1 }], default: 1, required: true }\n' +
      'c: { type: number, description: How many }\nd:\ne: { required: true }',
  )!
  const isRequired = (one: unknown) => JSON.stringify(one)?.includes('"required":true') ?? false
  const common = { description: null, isVariable: false, options: [], initial: null, type: 'text', isRequired: false }
  expect(inputsIn(documents, { isRequired })).toEqual([
    { ...common, name: 'a', type: 'boolean', options: ['true', 'false'], isRequired: true },
    { ...common, name: 'b', options: ['1', 'two'], initial: '1' },
    { ...common, name: 'c', type: 'number', description: 'How many' },
    { ...common, name: 'd' },
    { ...common, name: 'e', isRequired: true },
  ])
})

test.each([['nothing'], [null], [['a']], [7]])('%j describes no inputs', (described) => {
  expect(inputsIn(described, { isRequired: () => true })).toEqual([])
})
