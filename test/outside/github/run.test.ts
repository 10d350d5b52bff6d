import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { pushed, startGithub } from '../../../packages/sandbox-github/test/support.ts'
import { toStatus } from '../../../src/domain/builds/status.ts'
import { isRecord } from '../../../src/lib/json.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { readDescription } from './description.ts'
import { judgeBy } from './judge.ts'

type Json = Record<string, unknown>

const schemas = readDescription('api.github.com').components['schemas'] as Record<string, Json>
const REPOSITORY = { id: 1, full_name: 'acme/web' }

/** The values that GitHub lists for a field of a delivered run. */
const listed = (field: string): string[] =>
  ['requested', 'in-progress', 'completed'].flatMap((action) => {
    const { enum: values = [] } = at(schemas[`webhook-workflow-run-${action}`], 'workflow_run', field) as {
      enum?: string[]
    }
    return values.filter((value) => value !== null)
  })

const at = (schema: unknown, ...names: string[]): Json =>
  names.reduce<Json>((one, name) => (one['properties'] as Record<string, Json>)[name]!, schema as Json)

test.each([...new Set(listed('status'))].map((status) => [status]))(
  'a run that is %s has a status of its own',
  (status) => {
    const conclusions = status === 'completed' ? [...new Set(listed('conclusion'))] : [null]
    for (const conclusion of conclusions) {
      const { event } = readRun({ id: 1, workflow_id: 2, status, conclusion }, REPOSITORY, null)!
      expect(toStatus(event.rawStatus), String(conclusion)).not.toBe('unknown')
    }
  },
)

test('a run is read without anything that GitHub does not promise', async () => {
  const github = await startGithub()
  const { id } = pushed(github)
  const headers = { authorization: `Bearer ${github.address().token}` }
  const run = (await (await fetch(`${github.url}/repos/acme/web/actions/runs/${id}`, { headers })).json()) as Json
  const changes = [...unpromised(schemas['workflow-run']!, run)]
  expect(changes.length).toBeGreaterThan(20)
  for (const [what, changed] of changes) {
    expect(judgeBy().byName('workflow-run', changed), what).toEqual([])
    expect(readRun(changed, changed['repository'], null)?.event.buildId, what).toBe(String(id))
  }
})

/** The value once without each field that may be missing, and with null where that may be. */
function* unpromised(schema: Json, value: Json, path = ''): Generator<[what: string, changed: Json]> {
  const required = (schema['required'] ?? []) as readonly string[]
  for (const [name, own] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
    if (!(name in value)) continue
    const field = resolved(own)
    const { [name]: before, ...rest } = value
    if (!required.includes(name)) yield [`without ${path}${name}`, rest]
    if ([field['type']].flat().includes('null')) yield [`with null for ${path}${name}`, { ...rest, [name]: null }]
    if (!isRecord(before)) continue
    for (const [what, changed] of unpromised(field, before, `${path}${name}.`))
      yield [what, { ...rest, [name]: changed }]
  }
}

function resolved(schema: Json): Json {
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1)! : null
  return name === null ? schema : schemas[name]!
}

test.each(['api.github.com', 'ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35'])(
  'the examples of deliveries from %s are read',
  (edition) => {
    const file = import.meta.resolve(`@octokit/webhooks-examples/${edition}/index.json`)
    const events = JSON.parse(readFileSync(fileURLToPath(file), 'utf8')) as { name: string; examples: Json[] }[]
    const examples = events.find(({ name }) => name === 'workflow_run')?.examples ?? []
    expect(examples.length).toBeGreaterThan(0)
    for (const { workflow_run: run, repository, workflow } of examples)
      expect(readRun(run, repository, workflow)?.event).toMatchObject({
        projectId: expect.stringMatching(/^github:\d+:\d+$/) as string,
        details: { projectName: expect.stringMatching(/^\w[\w-]*\/[\w-]+ \w/) as string, attempt: 1 },
      })
  },
)
