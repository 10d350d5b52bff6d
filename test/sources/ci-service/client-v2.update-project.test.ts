import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WRITTEN_BYTES_MAX } from '../../../src/sources/ci-service/client-v2.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import type { SandboxCi } from '../../../packages/sandbox-ci/src/server.ts'
import { projectNamed, startCi, v2 } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { anyProject, CI_OWN_FIELDS, exactly } from './generated-projects.ts'
import { ciErrorOf, createSandboxClient, createTestClientV2, project, REFUSAL_FORMS, uuidOf } from './support.ts'

const WEB = toUuid(uuidOf(1))

describe('an update succeeds with any 2xx, and', () => {
  const update = async (answer: StubAnswer) => {
    await using stub = await startHttpStub(() => answer)
    return await createTestClientV2(stub.url).updateProject(WEB, { type: 'basic' })
  }

  test.each<[string, StubAnswer]>([
    ['202 without a body', { status: 202 }],
    ['204', { status: 204 }],
    ['a page', { text: '<html>' }],
    ['JSON that is no project', { json: { done: true } }],
    ['another project', { json: project(2) }],
    ['a body that breaks off', (response) => response.writeHead(200).write('{"uuid":', () => response.destroy())],
    ['a body beyond the limit', { json: project(1, { more: 'x'.repeat(WRITTEN_BYTES_MAX) }) }],
  ])('has no result if the answer is %s', async (_form, answer) => {
    expect(await update(answer)).toBeNull()
  })

  test.each<[string, StubAnswer]>([
    ['bare', { json: project(1) }],
    ['wrapped', { status: 202, json: { project: project(1) } }],
    ['exactly as large as the limit', { text: JSON.stringify(project(1)).padEnd(WRITTEN_BYTES_MAX) }],
  ])('gives the project if the answer is %s', async (_form, answer) => {
    expect(await update(answer)).toMatchObject({ uuid: WEB, name: 'acme/web-1' })
  })
})

describe('in the sandbox', () => {
  const refOf = (ci: SandboxCi, name: string) => ({ name, uuid: toUuid(projectNamed(ci, name).uuid) })

  const read = async (ci: SandboxCi, name: string) => {
    const found = await createSandboxClient(ci).getProject(refOf(ci, name))
    if (!found) throw new Error(`no project ${name}`)
    return found
  }

  test.each(['nested', 'any'] as const)(
    'with options %s, a project that is written back is unchanged',
    async (form) => {
      const ci = await startCi({ switches: { updateOptionsForm: form, proBasicFields: 'refuse' } })
      for (const name of ['acme/web', 'acme/ios']) {
        const before = await read(ci, name)
        await createSandboxClient(ci).updateProject(before.uuid, before.raw)
        const { updated_at: updatedAt, ...after } = (await read(ci, name)).raw
        expect({ ...after, updated_at: before.raw['updated_at'] }).toEqual(before.raw)
        expect(updatedAt).not.toBeUndefined()
      }
    },
  )

  test.each(['bare', 'wrapped'] as const)('a change is made, and the answer is %s', async (updatedProjectForm) => {
    const ci = await startCi({ switches: { updatedProjectForm } })
    const { uuid, raw } = await read(ci, 'acme/web')
    const updated = await createSandboxClient(ci).updateProject(uuid, { ...raw, branches: ['main', '^release/.*$'] })
    expect(updated?.raw).toEqual((await read(ci, 'acme/web')).raw)
    expect(projectNamed(ci, 'acme/web')).toMatchObject({
      branches: ['main', '^release/.*$'],
      setup_commands: raw['setup_commands'],
      notification_rules: raw['notification_rules'],
    })
  })

  test.each(REFUSAL_FORMS)('a refusal as %s is a CiError, and nothing changes', async (errorForm, said) => {
    const ci = await startCi({ switches: { errorForm } })
    const { uuid, raw } = await read(ci, 'acme/web')
    const error = await ciErrorOf(createSandboxClient(ci).updateProject(uuid, { ...raw, branches: ['^half'] }))
    expect(error).toMatchObject({ kind: 'bad-request', isUndone: true })
    expect(error.message).toMatch(said)
    expect((await read(ci, 'acme/web')).raw).toEqual(raw)
  })

  test('an update is made even if the answer is lost: the outcome is unknown, and the request is sent only once', async () => {
    const ci = await startCi()
    const { uuid, raw } = await read(ci, 'acme/web')
    ci.addFault({ kind: 'lost-answer', where: 'v2' })
    const error = await ciErrorOf(createSandboxClient(ci).updateProject(uuid, { ...raw, branches: ['main'] }))
    expect(error).toMatchObject({ kind: 'unreachable', isUndone: false })
    expect(ci.calls().filter(({ method }) => method === 'PUT')).toHaveLength(1)
    expect(projectNamed(ci, 'acme/web').branches).toEqual(['main'])
  })

  const line = fc.string({ minLength: 1, maxLength: 10 })
  const lines = fc.array(line, { maxLength: 3 })
  const rule = (notifier: string, options: fc.Arbitrary<object>) =>
    fc.record(
      {
        notifier: fc.constant(notifier),
        email_target: fc.constantFrom('all', 'committer', null),
        branch: fc.option(line),
        branch_match: fc.constantFrom('exact', 'regex', 'wildcard'),
        build_statuses: fc.subarray(['started', 'failed', 'success', 'recovered', 'waiting'], { minLength: 1 }),
        options: options.map((own) => ({ [notifier]: own })),
      },
      { requiredKeys: ['notifier', 'build_statuses', 'options'] },
    )
  const more = { requiredKeys: ['key' as const] }
  const rules = fc.oneof(
    rule('email', fc.constant({})),
    rule('slack', fc.record({ key: line, room: line, url: line }, more)),
    rule(
      'webhook',
      fc.webUrl().map((url) => ({ url })),
    ),
    rule('campfire', fc.record({ key: line, room: line, domain: line })),
    rule('flowdock', fc.record({ key: line })),
    rule('hipchat', fc.record({ key: line, room: line })),
    rule('grove', fc.record({ key: line, room: line }, more)),
    rule('repository_status', fc.constant({})),
  )
  const fields = {
    team_ids: fc.array(fc.nat(), { maxLength: 3 }),
    build_on_pr_only: fc.boolean(),
    branch_match: fc.constantFrom('include', 'exclude'),
    branches: fc.array(fc.constantFrom('main', 'dev', '^release/.*$', '*'), { maxLength: 3 }),
    notification_rules: fc.array(rules, { maxLength: 5 }),
    setup_commands: lines,
    environment_variables: fc.array(fc.record({ name: line, value: fc.string() }), { maxLength: 3 }),
  }
  const ofType = (type: string) => fc.record({ type: fc.constant(type), ...fields }, { requiredKeys: ['type'] })

  test('any project that is read, written back and read again is unchanged', async () => {
    const ci = await startCi()
    await fc.assert(
      fc.asyncProperty(ofType('basic'), ofType('pro'), async (basic, pro) => {
        for (const [name, body] of [
          ['acme/web', basic],
          ['acme/ios', pro],
        ] as const) {
          const set = await v2(ci, 'PUT', `/projects/${refOf(ci, name).uuid}`, body)
          expect([set.status, set.text.slice(0, 99)]).toEqual([200, expect.any(String)])
          const before = await read(ci, name)
          await createSandboxClient(ci).updateProject(before.uuid, before.raw)
          const after = await read(ci, name)
          expect({ ...after.raw, updated_at: null }).toEqual({ ...before.raw, updated_at: null })
        }
      }),
      { numRuns: 60 },
    )
  }, 60_000)
})

type Fields = Record<string, unknown>

/** The answer of a CI that keeps all that an update contains, and the fields that only CI sets. */
function keptOf(before: Fields, said: Fields): Fields {
  const kept = Object.fromEntries(Object.entries(before).filter(([name]) => CI_OWN_FIELDS.includes(name)))
  const rules = said['notification_rules']
  return { ...kept, ...said, ...(Array.isArray(rules) && { notification_rules: rules.map(answeredRule) }) }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function answeredRule(rule: unknown): unknown {
  if (!isFields(rule)) return rule
  const renamed = Object.entries(rule).map(([name, value]) => [name === 'email_target' ? 'target' : name, value])
  const { options } = rule
  const notifier = String(rule['notifier']).toLowerCase()
  const flat = isFields(options) && isFields(options[notifier]) ? answeredOptions(options, notifier) : options
  return { ...Object.fromEntries(renamed), ...('options' in rule && { options: flat }) }
}

function answeredOptions(options: Fields, notifier: string): Fields {
  const { [notifier]: own, ...rest } = options
  const flat = Object.entries(own as Fields).map(([name, value]) => [name === 'domain' ? 'url' : name, value])
  return { ...rest, ...Object.fromEntries(flat) }
}

const BASIC_ONLY = ['setup_commands', 'environment_variables']

/** The fields that CI drops from a project whose type may not have them; a number is not a type. */
function forgottenOf(before: Fields): Fields {
  const isOther = typeof before['type'] === 'string' && !/^(#-?\d.*|\s*|basic)$/i.test(before['type'])
  return Object.fromEntries(Object.entries(before).filter(([name]) => isOther && BASIC_ONLY.includes(name)))
}

test('any project keeps all its values through an update, exact to the last digit, in a CI that keeps all it is sent', async () => {
  let text = ''
  await using stub = await startHttpStub(({ method }) => (method === 'PUT' ? { status: 204 } : { text: `[${text}]` }))
  const client = createTestClientV2(stub.url)
  await fc.assert(
    fc.asyncProperty(anyProject, async (generated) => {
      text = JSON.stringify(generated)
      const read = await client.getProject({ name: 'acme/web', uuid: WEB })
      await client.updateProject(WEB, read!.raw)
      const said = stub.requests.findLast(({ method }) => method === 'PUT')!.body
      const before = exactly(text) as Fields
      const after = keptOf(before, exactly(said) as Fields)
      expect({ ...forgottenOf(before), ...after }).toEqual(before)
      for (const name of Object.keys(forgottenOf(before))) expect(after).not.toHaveProperty([name])
    }),
    { numRuns: 100 },
  )
}, 60_000)
