import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldOf } from '../../../src/lib/raw-values.ts'
import { updateBody } from '../../../src/sources/ci-service/wire.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { type ProjectChange, differencesOf } from '../../../src/domain/ci-project/project-change.ts'
import { anyProject, exactly } from '../../sources/ci-service/generated-projects.ts'
import { ORGANIZATION, uuidOf } from '../../sources/ci-service/support.ts'
import { startCi, v2 } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { addressOf, requester, keepAll, openProjectStage, projectOf, putsTo, uuidIn } from './stage.ts'

const line = fc.string({ minLength: 1, maxLength: 10 })
const options = {
  email: fc.constant({}),
  slack: fc.record({ key: line, room: line }),
  webhook: fc.webUrl().map((url) => ({ url })),
  campfire: fc.record({ key: line, room: line, domain: line }),
  flowdock: fc.record({ key: line }),
  hipchat: fc.record({ key: line, room: line }),
  grove: fc.record({ key: line }),
  repository_status: fc.constant({}),
}
const rule = fc.oneof(
  ...Object.entries(options).map(([notifier, own]) =>
    fc.record({
      notifier: fc.constant(notifier),
      email_target: fc.constantFrom('all', 'committer'),
      branch: fc.option(line),
      branch_match: fc.constantFrom('exact', 'regex', 'wildcard'),
      build_statuses: fc.subarray(['started', 'failed', 'success', 'recovered', 'waiting'], { minLength: 1 }),
      options: own.map((given) => ({ [notifier]: given })),
    }),
  ),
)
const state = fc.record({
  type: fc.constantFrom('basic', 'pro'),
  team_ids: fc.array(fc.nat(), { maxLength: 3 }),
  build_on_pr_only: fc.boolean(),
  branch_match: fc.constantFrom('include', 'exclude'),
  branches: fc.array(fc.constantFrom('main', 'dev', '^release/.*$', '*'), { maxLength: 3 }),
  notification_rules: fc.array(rule, { maxLength: 4 }),
  setup_commands: fc.array(line, { maxLength: 3 }),
  environment_variables: fc.uniqueArray(fc.record({ name: line, value: fc.string() }), {
    maxLength: 3,
    selector: ({ name }) => name,
  }),
})

const change: fc.Arbitrary<ProjectChange> = fc.oneof(
  fc.record({
    what: fc.constant('builds' as const),
    onPullRequestsOnly: fc.boolean(),
    match: fc.constantFrom('include' as const, 'exclude' as const),
    branches: fc.uniqueArray(fc.constantFrom('main', 'next', '^x.*$'), { maxLength: 3 }),
  }),
  fc.record({ what: fc.constant('teams' as const), ids: fc.uniqueArray(fc.nat().map(String), { maxLength: 3 }) }),
  fc.constant({ what: 'setup' as const, commands: ['npm ci', 'npm run build'] }),
  fc.constant({ what: 'variables' as const, variables: [{ name: 'TOKEN', value: 'canary' }] }),
  fc.constant({
    what: 'rule' as const,
    at: null,
    rule: {
      notifier: 'slack',
      target: null,
      branch: 'main',
      branchMatch: null,
      events: ['failed'],
      options: { key: 'k' },
    },
  }),
)

/** The fields that a change sets. */
const FIELDS: Record<ProjectChange['what'], readonly string[]> = {
  builds: ['build_on_pr_only', 'branch_match', 'branches'],
  setup: ['setup_commands'],
  variables: ['environment_variables'],
  teams: ['team_ids'],
  type: ['type', 'setup_commands', 'environment_variables', 'aes_key'],
  rule: ['notification_rules'],
  'remove-rule': ['notification_rules'],
}

const topOf = (field: string): string => /^[^.[]+/.exec(field)![0]

describe('a safe update', () => {
  test('of any project changes only its own fields and loses nothing, including rules and their keys', async () => {
    const ci = await startCi()
    const stage = await openProjectStage(addressOf(ci))
    await keepAll(stage)
    const project = uuidIn(ci)
    await fc.assert(
      fc.asyncProperty(state, change, async (wanted, wish) => {
        expect((await v2(ci, 'PUT', `/projects/${project}`, wanted)).status).toBe(200)
        const before = projectOf(ci)
        const puts = putsTo(ci).length
        const shown = await stage.operations.show('acme/web', requester())
        if (shown.kind !== 'project') throw new Error(shown.kind)
        const outcome = await stage.operations.edit({ project, change: wish, base: shown.shown.base }, requester())
        const differences = differencesOf({ ...before }, { ...projectOf(ci) })
        if (outcome.kind === 'edited') {
          // CI fills in fields of a new rule that were not given.
          expect(
            outcome.otherwise.filter((one) => one.before !== null || topOf(one.field) !== 'notification_rules'),
          ).toEqual([])
          expect(outcome.readAgain).toBe(true)
          expect(differences.length).toBeGreaterThan(0)
        } else {
          expect(['no-difference', 'faults']).toContain(outcome.kind)
          expect([differences, putsTo(ci).length]).toEqual([[], puts])
        }
        expect(differences.filter(({ field }) => !FIELDS[wish.what].includes(topOf(field)))).toEqual([])
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  test('sends back every unknown field unchanged, to the last digit', async () => {
    let text = '{}'
    await using stub = await startHttpStub(({ method, body }) => {
      if (method === 'PUT') text = JSON.stringify({ ...withDigits(text), ...withDigits(body) })
      return { text: method === 'PUT' ? text : `[${text}]`, headers: { 'content-type': 'application/json' } }
    })
    const stage = await openProjectStage({ baseUrl: stub.url, organizationUuid: ORGANIZATION, authorization: 'x' })
    const project = toUuid(uuidOf(1))
    const wish = {
      what: 'builds',
      onPullRequestsOnly: true,
      match: 'exclude',
      branches: ['never-generated'],
    } as const
    await fc.assert(
      fc.asyncProperty(anyProject, async (generated) => {
        text = JSON.stringify({ ...generated, name: 'acme/web' })
        const before = text
        const read = await stage.deps.ci?.getProject({ uuid: project, name: 'acme/web' })
        const preview = await stage.operations.preview({ project, change: wish, base: {} }, requester())
        if (!read || preview.kind !== 'preview') throw new Error(preview.kind)
        expect(text).toBe(before)
        const outcome = await stage.operations.edit({ project, change: wish, base: preview.base }, requester())
        expect(outcome.kind).toBe('edited')
        const sent = stub.requests.findLast(({ method }) => method === 'PUT')!.body
        const changed = { build_on_pr_only: true, branch_match: 'exclude', branches: ['never-generated'] }
        expect(exactly(sent)).toEqual(exactly(JSON.stringify(updateBody({ ...read.raw, ...changed }))))
        for (const name of Object.keys(generated).filter((one) => one.startsWith('x_')))
          expect(fieldOf(exactly(sent), name)).toEqual(fieldOf(exactly(before), name))
      }),
      { numRuns: 60 },
    )
  }, 120_000)
})

const withDigits = (text: string): object =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? JSON.rawJSON(context!.source!) : value,
  ) as object
