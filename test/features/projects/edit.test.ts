import { describe, expect, test } from 'vitest'
import type { ProjectChange } from '../../../src/domain/ci-project/project-change.ts'
import { isProjectRequest, type ProjectRequest } from '../../../src/domain/cards/request.ts'
import { confirmProjectRequests } from '../../../src/features/projects/confirm.ts'
import { startCi, v2 } from '../../../packages/sandbox-ci/test/support.ts'
import {
  ADA,
  addressOf,
  requester,
  GRACE,
  keepAll,
  openProjectStage,
  projectOf,
  putsTo,
  T0,
  uuidIn,
  type ProjectStage,
  operationsOf,
} from './stage.ts'

const branches = (...names: string[]): ProjectChange => ({
  what: 'builds',
  onPullRequestsOnly: false,
  match: 'include',
  branches: names,
})

async function open(switches = {}) {
  const ci = await startCi({ switches })
  const stage = await openProjectStage(addressOf(ci))
  await keepAll(stage)
  const project = uuidIn(ci)
  const base = async () => {
    const shown = await stage.operations.show('acme/web', requester())
    return shown.kind === 'project' ? shown.shown.base : {}
  }
  return { ci, stage, project, base }
}

const requestsOf = async ({ deps }: ProjectStage): Promise<ProjectRequest[]> =>
  (await deps.store.read.requestsAfter({ requestedAt: 0, id: '' }, 100)).filter(isProjectRequest)

describe('an edit', () => {
  test('is in the audit with the names of its fields, but without values', async () => {
    const { stage, project, base } = await open()
    const variables = { what: 'variables', variables: [{ name: 'TOKEN', value: 'canary-value' }] } as const
    expect((await stage.operations.edit({ project, change: variables, base: await base() }, requester())).kind).toBe(
      'edited',
    )
    const [request] = await requestsOf(stage)
    expect(request).toMatchObject({
      action: 'edit-project',
      state: 'confirmed',
      project: 'acme/web',
      projectUuid: project,
      requestedBy: GRACE,
      what: ['environment_variables.NODE_ENV', 'environment_variables.TOKEN'],
    })
    expect(JSON.stringify(request)).not.toContain('canary-value')
  })

  test('updates the cached rules, which decide who gets messages', async () => {
    const { stage, project, base } = await open()
    const own = { target: null, branch: 'main', branchMatch: 'exact', options: { key: 'k' } } as const
    const rule = { ...own, notifier: 'slack', events: ['failed'] }
    await stage.operations.edit({ project, change: { what: 'rule', at: null, rule }, base: await base() }, requester())
    const known = await stage.deps.store.read.project({ uuid: project, legacyId: '', names: [] })
    expect(known?.rules?.at(-1)).toMatchObject({ notifier: 'slack', branch: 'main', buildStatuses: ['failed'] })
  })

  test('with the same key is written once', async () => {
    const { ci, stage, project, base } = await open()
    const question = { project, change: branches('main'), base: await base() }
    const by = requester()
    const ends = await Promise.all([stage.operations.edit(question, by), stage.operations.edit(question, by)])
    expect(ends.map(({ kind }) => kind).sort()).toEqual(['asked-already', 'edited'])
    expect(putsTo(ci)).toHaveLength(1)
  })

  test('whose notifier CI refuses names it, and can be written without its rules', async () => {
    const { ci, stage, project, base } = await open({ unknownNotifiers: 'refuse' })
    const question = { project, change: branches('main'), base: await base() }
    expect(await stage.operations.edit(question, requester())).toMatchObject({
      kind: 'ci-refused',
      unknownNotifiers: ['repository_status'],
    })
    const outcome = await stage.operations.edit({ ...question, without: ['repository_status'] }, requester())
    expect(outcome).toMatchObject({ kind: 'edited', otherwise: [] })
    expect(JSON.stringify(outcome)).toContain('repository_status')
    expect(putsTo(ci)).toHaveLength(2)
  })

  test('of two people at the same time is written once, and the other person is told about the first', async () => {
    const { ci, stage, project, base } = await open()
    const was = await base()
    const ends = await Promise.all([
      stage.operations.edit({ project, change: branches('main'), base: was }, requester()),
      stage.operations.edit({ project, change: branches('dev'), base: was }, requester({ user: ADA })),
    ])
    expect(ends.filter(({ kind }) => kind === 'edited')).toHaveLength(1)
    expect(ends.filter(({ kind }) => kind === 'asked-already' || kind === 'changed-meanwhile')).toHaveLength(1)
    expect(putsTo(ci)).toHaveLength(1)
  })

  test('after a change in CI itself names the changed fields', async () => {
    const { ci, stage, project, base } = await open()
    const was = await base()
    await v2(ci, 'PUT', `/projects/${project}`, { type: 'basic', team_ids: [9] })
    const outcome = await stage.operations.edit({ project, change: branches('main'), base: was }, requester())
    expect(outcome).toMatchObject({
      kind: 'changed-meanwhile',
      theirs: expect.arrayContaining(['team_ids']) as unknown,
    })
    expect(putsTo(ci)).toHaveLength(1)
  })

  test("is not sent if somebody else's change came between its record and the call", async () => {
    const { ci, stage, project, base } = await open()
    const was = await base()
    const client = stage.deps.ci!
    let looks = 0
    const getProject: typeof client.getProject = async (...asked) => {
      if (++looks === 2) await v2(ci, 'PUT', `/projects/${project}`, { type: 'basic', team_ids: [9] })
      return client.getProject(...asked)
    }
    const between = operationsOf({ ...stage.deps, ci: { ...client, getProject } })
    expect((await between.edit({ project, change: branches('main'), base: was }, requester())).kind).toBe(
      'changed-meanwhile',
    )
    expect(putsTo(ci)).toHaveLength(1)
  })

  test('of a rule by position is refused even in the preview if the rules have changed', async () => {
    const { ci, stage, project, base } = await open()
    const was = await base()
    await v2(ci, 'PUT', `/projects/${project}`, { type: 'basic', notification_rules: [] })
    const outcome = await stage.operations.preview(
      { project, change: { what: 'remove-rule', at: 0 }, base: was },
      requester(),
    )
    expect(outcome.kind).toBe('changed-meanwhile')
  })

  test('reports what CI stored differently', async () => {
    const { stage, project, base } = await open()
    const { ci } = stage.deps
    const writing = {
      ...ci!,
      updateProject: (uuid: typeof project, raw: Record<string, unknown>) =>
        ci!.updateProject(uuid, { ...raw, team_ids: [5] }),
    }
    const other = await openProjectStage(
      { baseUrl: 'http://127.0.0.1:9', organizationUuid: 'o', authorization: 'x' },
      { ...stage.deps, ci: writing },
    )
    const outcome = await other.operations.edit({ project, change: branches('main'), base: await base() }, requester())
    expect(outcome).toMatchObject({ kind: 'edited', otherwise: [{ field: 'team_ids', before: '7', after: '5' }] })
    expect(await requestsOf(stage)).toMatchObject([{ state: 'confirmed', code: 'otherwise' }])
  })

  test('to Pro warns that the setup is lost, and writes it so', async () => {
    const { ci, stage, project, base } = await open({ proBasicFields: 'refuse' })
    const change = { what: 'type', type: 'pro' } as const
    const preview = await stage.operations.preview({ project, change, base: await base() }, requester())
    expect(preview.kind === 'preview' && preview.differences.map(({ field }) => field)).toEqual([
      'type',
      'setup_commands',
      'environment_variables.NODE_ENV',
    ])
    const outcome = await stage.operations.edit({ project, change, base: await base() }, requester())
    expect(outcome).toMatchObject({ kind: 'edited', otherwise: [] })
    expect(projectOf(ci)).toMatchObject({ type: 'pro' })
  })
})

describe('an edit that a dead process left', () => {
  const left = async (stage: ProjectStage, change: Partial<ProjectRequest>): Promise<void> => {
    const request: ProjectRequest = {
      id: 'left',
      interactionKey: 'left',
      action: 'edit-project',
      state: 'calling',
      project: 'acme/web',
      projectUuid: null,
      what: ['branches'],
      before: {},
      newBuildId: null,
      requestedBy: GRACE,
      requestedTeam: null,
      channel: null,
      via: 'modal',
      requestedAt: T0,
      claimedBy: 'process-of-yesterday',
      code: null,
      reason: null,
      answeredAt: null,
      lookAt: T0 + 90_000,
      endedAt: null,
      ...change,
    }
    await stage.deps.store.write((tx) => tx.insertRequest(request))
  }

  const MINUTE = 60_000
  const passed = async (stage: ProjectStage, ms: number): Promise<readonly ProjectRequest[]> => {
    stage.clock.advance(ms)
    await confirmProjectRequests(stage.deps)
    return requestsOf(stage)
  }

  test('is confirmed if CI shows a change, and unconfirmed if it shows none until the call must be over', async () => {
    for (const isDone of [true, false]) {
      const { ci, stage, project } = await open()
      const before = { branches: isDone ? 'another' : await digestNow(stage) }
      await left(stage, { projectUuid: project, before })
      expect(await passed(stage, 0)).toMatchObject([{ state: isDone ? 'confirmed' : 'unclear' }])
      expect(stage.told).toEqual(isDone ? [`${GRACE}: :white_check_mark: CI has changed acme/web.`] : [])
      expect(await passed(stage, 2 * MINUTE)).toMatchObject([
        isDone ? { state: 'confirmed', code: null } : { state: 'unconfirmed', code: 'not-shown' },
      ])
      expect(putsTo(ci)).toEqual([])
    }
  })

  test('is looked up again while CI is away, and given up after ten minutes', async () => {
    const { ci, stage, project } = await open()
    await left(stage, { projectUuid: project, before: { branches: 'another' } })
    ci.addFault({ kind: 'status', statusCode: 500, where: 'v2' })
    expect(await passed(stage, 3 * MINUTE)).toMatchObject([{ state: 'unclear', code: 'interrupted', endedAt: null }])
    expect(await passed(stage, 8 * MINUTE)).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look' }])
  })

  test('is not touched while its own process may still work on it', async () => {
    const { stage, project } = await open()
    await left(stage, { projectUuid: project, before: { branches: 'another' }, claimedBy: 'process-1' })
    expect(await passed(stage, 0)).toMatchObject([{ state: 'calling' }])
    expect(await passed(stage, 2 * MINUTE)).toMatchObject([{ state: 'confirmed' }])
  })

  test('is found by name if it is a creation that CI has made', async () => {
    const { ci, stage } = await open()
    await left(stage, { action: 'create-project', project: 'acme/shop', requestedAt: Date.now(), lookAt: Date.now() })
    await v2(ci, 'POST', '/projects', {
      repository_url: 'https://git.example.com/acme/shop.git',
      type: 'basic',
      team_ids: [1],
    })
    const [request] = await passed(stage, Date.now() - T0 + MINUTE)
    expect(request).toMatchObject({ state: 'confirmed', projectUuid: uuidIn(ci, 'acme/shop') })
  })

  test('cannot be looked up if it is a reset whose key CI does not show, and the answer says so', async () => {
    const { stage, project } = await open()
    await left(stage, { action: 'reset-aes-key', projectUuid: project, what: ['aes_key'], before: {} })
    expect(await passed(stage, 2 * MINUTE)).toMatchObject([{ state: 'unconfirmed', code: 'cannot-look' }])
  })

  async function digestNow(stage: ProjectStage): Promise<string> {
    const { fieldDigest } = await import('../../../src/features/projects/read.ts')
    return fieldDigest('branches', [], stage.deps.digestKey)
  }
})
