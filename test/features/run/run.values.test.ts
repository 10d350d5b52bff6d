import { expect, test } from 'vitest'
import { checkValues } from '../../../src/features/run/run.ts'
import { githubProjectId } from '../../../src/domain/ids.ts'
import type { StartInput } from '../../../src/sources/source.ts'

const input = (name: string, more: Partial<StartInput> = {}): StartInput => ({
  name,
  description: null,
  type: 'text',
  options: [],
  initial: null,
  isRequired: false,
  isVariable: false,
  ...more,
})

const offered = (inputs: readonly StartInput[], takesVariables = false) =>
  ({
    kind: 'startable',
    place: { projectId: githubProjectId('1', '2'), project: 'acme/web CI', ref: 'main' },
    inputs,
    takesVariables,
  }) as const

const check = (values: Record<string, string>, inputs: readonly StartInput[], takesVariables = false) =>
  checkValues(offered(inputs, takesVariables), { ref: 'main', values })

test.each([
  ['password', 'x'],
  ['DB_PASSWD', 'x'],
  ['api-key', 'x'],
  ['deploy_token', 'x'],
  ['note', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
  ['note', 'glpat-sandbox'],
  ['note', 'xoxb-1-2'],
  ['note', 'AKIAIOSFODNN7EXAMPLE'],
  ['note', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x'],
  ['note', '-----BEGIN PRIVATE KEY-----'],
])('%s=%s looks like a secret', (name, value) => {
  expect(check({ [name]: value }, [input(name)])).toMatchObject({ values: [], faults: [{ name, why: 'secret' }] })
})

test.each([
  ['sha', 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'],
  ['image', 'registry.example.com/acme/web:1.4.2-beta20260504'],
  ['keyboard', 'de'],
  ['author', 'ada'],
])('%s=%s does not', (name, value) => {
  expect(check({ [name]: value }, [input(name)])).toMatchObject({ values: [{ name, value }], faults: [] })
})

test('a required input that looks like a secret cannot be given here at all', () => {
  expect(check({}, [input('token', { isRequired: true })]).faults).toMatchObject([{ name: 'token', why: 'secret' }])
  expect(check({}, [input('token')]).faults).toEqual([])
})

test('what the file does not name is a variable of GitLab, if it can be one, and nothing on GitHub', () => {
  expect(check({ DEBUG: '1' }, [], true)).toMatchObject({ values: [{ name: 'DEBUG', isVariable: true }], faults: [] })
  expect(check({ 'a-b': '1' }, [], true).faults).toMatchObject([{ why: 'unknown' }])
  expect(check({ DEBUG: '1' }, [input('env')]).faults).toMatchObject([{ why: 'unknown', options: ['env'] }])
  // Not what every object has.
  expect(check({ constructor: '1' }, []).faults).toMatchObject([{ why: 'unknown' }])
})
