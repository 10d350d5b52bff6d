import { describe, expect, test } from 'vitest'
import { toUuid } from '../../src/domain/ids.ts'
import type { NotFound, Target } from '../../src/projects/outcomes.ts'
import { CHOICES_MAX } from '../../src/slack/messages/ids.ts'
import { projectId, channelId, messageTs } from '../support/build-events.ts'
import { BUILDS, hear, lin, openStage, type Stage } from '../features/operations-stage.ts'
import { findSummary } from '../../src/ci-sync/ci-lookup.ts'
import { suggestProjects } from '../../src/projects/projects.ts'

const find = (stage: Stage, target: Target) => findSummary(stage.main.deps, target)

const numberOf = (found: { kind: 'found'; build: { buildId: string } } | NotFound) =>
  found.kind === 'found' ? found.build.buildId : found.kind

const ofProject = (project: string, branch: string | null = null): Target => ({ kind: 'project', project, branch })

/** A delivery about a build of a project that CI does not list. */
async function heard(stage: Stage, build: object): Promise<void> {
  const { store, clock } = stage.main.deps
  const body = JSON.stringify({ build: { branch: 'main', commit_id: 'a1b2c3d4', status: 'initiated', ...build } })
  await hear({ store, clock }, body)
  await stage.deliver()
}

describe('a project is found', () => {
  test.each(['acme/web', 'ACME/Web', 'web', 'we', ' web ', '11'])('by %s', async (text) => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    expect(numberOf(await find(stage, ofProject(text)))).toBe(ref.buildId)
  })

  test('by its uuid', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const { uuid } = stage.ci.state().projects[0]!
    expect(numberOf(await find(stage, ofProject(uuid.toUpperCase())))).toBe(ref.buildId)
    expect(numberOf(await find(stage, { kind: 'uuid', uuid: toUuid(uuid) }))).toBe(ref.buildId)
  })

  test('by a part of several names, as a choice of at most five', async () => {
    await using stage = await openStage()
    expect(await find(stage, ofProject('acme'))).toMatchObject({
      kind: 'several-projects',
      projects: [{ name: 'acme/api' }, { name: 'acme/ios' }, { name: 'acme/web' }],
      more: 0,
    })
    for (const id of ['91', '92', '93'])
      await heard(stage, { project_id: id, build_id: '1', project_full_name: `acme/s-${id}` })
    const found = await find(stage, ofProject('acme'))
    expect(found).toMatchObject({ kind: 'several-projects', more: 1 })
    expect(found.kind === 'several-projects' && found.projects.length).toBe(CHOICES_MAX)
  })

  test.each([
    ['wbe', 'acme/web'],
    ['acme/wep', 'acme/web'],
    ['nothing-like-it', null],
  ])('only as a suggestion by %s: nothing is done, %s is offered', async (text, nearest) => {
    await using stage = await openStage()
    await stage.running()
    expect(await find(stage, ofProject(text))).toEqual({ kind: 'no-project', text, nearest, isListRead: true })
  })

  test("not before CI's list was read, and the answer says so", async () => {
    await using stage = await openStage()
    stage.reconcile.sql('delete from job')
    stage.ci.addFault({ kind: 'status', statusCode: 503, where: 'v2', times: 100 })
    expect(await find(stage, ofProject('nobody'))).toMatchObject({ kind: 'no-project', isListRead: false })
  })

  test('by its id even if another project has the same name', async () => {
    await using stage = await openStage()
    await heard(stage, { project_id: 77, build_id: 900, project_full_name: 'acme/web' })
    expect(await find(stage, ofProject('acme/web'))).toMatchObject({ kind: 'several-projects' })
    expect(numberOf(await find(stage, ofProject('77')))).toBe('900')
    expect(await find(stage, ofProject('11'))).toMatchObject({ kind: 'no-build' })
  })
})

describe('a branch name', () => {
  test('means its newest build, in any case', async () => {
    await using stage = await openStage()
    const branch = 'fix/`<!channel>` *a* & "b" ü?#%2F'
    const { ref } = await stage.ended('error', { branch })
    await stage.ended('success')
    expect(numberOf(await find(stage, ofProject('web', branch)))).toBe(ref.buildId)
  })

  test('without builds suggests the nearest branch', async () => {
    await using stage = await openStage()
    await stage.running({ branch: 'develop' })
    const expected = { kind: 'no-build', project: 'acme/web', branch: 'devlop', nearest: 'develop' }
    expect(await find(stage, ofProject('web', 'devlop'))).toEqual(expected)
    expect(await find(stage, ofProject('api'))).toMatchObject({ kind: 'no-build', project: 'acme/api', nearest: null })
  })

  test('with several running builds asks which one to stop, while status takes the newest', async () => {
    await using stage = await openStage()
    const one = await stage.running()
    const two = await stage.running()
    const by = {
      user: 'U0ADA00001',
      team: null,
      channel: BUILDS,
      via: 'command',
      interactionKey: 'ask of ada',
    } as const
    const asked = await stage.main.operations.stop(ofProject('web', 'main'), by)
    expect(asked).toMatchObject({ kind: 'several-builds', builds: [{ ref: two.ref }, { ref: one.ref }] })
    expect(stage.writes()).toEqual([])
    expect(numberOf(await find(stage, ofProject('web', 'main')))).toBe(two.ref.buildId)
  })

  test('means for a stop its running build, even if a newer one has ended', async () => {
    await using stage = await openStage()
    const one = await stage.running()
    await stage.ended('success')
    const by = {
      user: 'U0ADA00001',
      team: null,
      channel: BUILDS,
      via: 'command',
      interactionKey: 'ask of ada',
    } as const
    const asked = await stage.main.operations.stop(ofProject('web', 'main'), by)
    expect(asked).toMatchObject({ kind: 'requested', build: { ref: one.ref } })
  })
})

describe('a build number', () => {
  test('means that build, in all projects or in one', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    await stage.running()
    const number = ref.buildId
    expect(numberOf(await find(stage, { kind: 'build-number', number, project: null }))).toBe(number)
    expect(numberOf(await find(stage, { kind: 'build-number', number, project: 'web' }))).toBe(number)
    const ofOther: Target = { kind: 'build-number', number, project: 'api' }
    expect(await find(stage, ofOther)).toEqual({ kind: 'unknown-build', text: `acme/api #${number}` })
    expect((await find(stage, { kind: 'build-number', number, project: 'nowhere' })).kind).toBe('no-project')
  })

  test('of several projects is a choice', async () => {
    await using stage = await openStage()
    for (const id of ['91', '92']) await heard(stage, { project_id: id, build_id: 7, project_name: `acme/s-${id}` })
    const found = await find(stage, { kind: 'build-number', number: '7', project: null })
    expect(found).toMatchObject({ kind: 'several-builds', text: '#7', builds: [{ buildId: '7' }, { buildId: '7' }] })
  })

  test.each(['999', '0512', '-1', '1e3', "5'; drop table build; --", '9'.repeat(30)])('is not %s', async (number) => {
    await using stage = await openStage()
    await stage.running()
    const target: Target = { kind: 'build-number', number, project: null }
    expect(await find(stage, target)).toEqual({ kind: 'unknown-build', text: `#${number}` })
  })
})

describe("a build's address", () => {
  test('is found if it was delivered', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const url = `${stage.ci.url}/projects/11/builds/${ref.buildId}`
    for (const form of [url, `${url}/`, `${url}?tab=log`, `${url}#step-2`])
      expect(numberOf(await find(stage, { kind: 'build-url', url: form }))).toBe(ref.buildId)
  })

  test('without a project is the build that was delivered with it, or otherwise a choice', async () => {
    await using stage = await openStage()
    for (const [id, name] of [
      ['91', 'web'],
      ['92', 'api'],
    ])
      await heard(stage, { project_id: id, build_id: 7, build_url: `https://ci.example/acme/${name}/builds/7` })
    const at = (base: string) => find(stage, { kind: 'build-url', url: `${base}/builds/7` })
    expect(await at('https://ci.example/acme/web')).toMatchObject({
      kind: 'found',
      build: { ref: { projectId: '91' } },
    })
    expect(await at('https://ci.example/acme/api')).toMatchObject({
      kind: 'found',
      build: { ref: { projectId: '92' } },
    })
    expect((await at(`${stage.ci.url}/acme/elsewhere`)).kind).toBe('several-builds')
    for (const base of [
      'https://ci.example/acme/elsewhere',
      'http://ci.example/acme/web',
      'https://ci.example:444/acme/web',
    ])
      expect((await at(base)).kind).toBe('unknown-address')
  })

  test('of another host is no build, even if the path is that of one', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const path = `/projects/11/builds/${ref.buildId}`
    for (const url of [
      `https://x.test${path}`,
      `https://x.test/${stage.ci.url}${path}`,
      `https://ci.example@x.test${path}`,
    ])
      expect(await find(stage, { kind: 'build-url', url })).toEqual({ kind: 'unknown-address', text: url })
    expect(await stage.main.operations.restart({ kind: 'build-url', url: `https://x.test${path}` }, lin())).toEqual({
      kind: 'unknown-address',
      text: `https://x.test${path}`,
    })
    expect(stage.writes()).toEqual([])
  })

  test('with a uuid is the build with that uuid', async () => {
    await using stage = await openStage({ switches: { buildUrlForm: 'uuids' } })
    const { ref, uuid } = await stage.running()
    const url = `${stage.ci.url}/builds/${uuid.toUpperCase()}`
    expect(numberOf(await find(stage, { kind: 'build-url', url }))).toBe(ref.buildId)
    expect(numberOf(await find(stage, { kind: 'uuid', uuid: toUuid(uuid) }))).toBe(ref.buildId)
  })

  test('of another project is not the build with that number', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running()
    const url = `${stage.ci.url}/projects/99/builds/${ref.buildId}`
    expect(await find(stage, { kind: 'build-url', url })).toEqual({ kind: 'unknown-build', text: url })
  })

  test.each(['https://ci.example/projects/11', 'https://ci.example/builds/x', 'no address'])(
    'cannot be %s',
    async (url) => {
      await using stage = await openStage()
      await stage.running()
      expect(await find(stage, { kind: 'build-url', url })).toEqual({ kind: 'unknown-address', text: url })
    },
  )
})

test('an unknown uuid is no build', async () => {
  await using stage = await openStage()
  const uuid = toUuid('f0000000-0000-0000-0000-00000000dead')
  expect(await find(stage, { kind: 'uuid', uuid })).toEqual({ kind: 'unknown-build', text: uuid })
})

describe('a message', () => {
  test('that is a card, or in its thread, means its newest build', async () => {
    await using stage = await openStage()
    const { ref } = await stage.ended('error')
    const { messages } = stage.reconcile.slack
    expect(messages).toHaveLength(2)
    for (const { channel, ts } of messages)
      expect(numberOf(await find(stage, { kind: 'message', channel, ts }))).toBe(ref.buildId)
  })

  test('of other people or in another channel is no card', async () => {
    await using stage = await openStage()
    await stage.running()
    const { ts } = stage.reconcile.slack.messages[0]!
    const elsewhere = { kind: 'message', channel: channelId('C0OTHER001'), ts } as const
    expect(await find(stage, elsewhere)).toEqual({ kind: 'no-card' })
    const other = { kind: 'message', channel: BUILDS, ts: messageTs('1777903320.000100') } as const
    expect(await find(stage, other)).toEqual({ kind: 'no-card' })
  })
})

describe('a menu', () => {
  test('suggests all projects that contain a text, those that begin with it first', async () => {
    await using stage = await openStage()
    await heard(stage, { project_id: 91, build_id: 1, project_full_name: 'acme/web-admin' })
    await heard(stage, { project_id: 92, build_id: 1, project_full_name: 'web' })
    const names = async (text: string) =>
      (await suggestProjects(stage.main.deps.store.read, text)).map(({ name }) => name)
    expect(await names('web')).toEqual(['web', 'acme/web', 'acme/web-admin'])
    expect(await names('11')).toEqual(['acme/web'])
    expect(await names('')).toHaveLength(5)
    expect(await names('nowhere')).toEqual([])
  })
})

test('has exact ids beyond 2^53', async () => {
  await using stage = await openStage({ switches: { bigIds: true } })
  const { ref } = await stage.running()
  expect(BigInt(ref.buildId)).toBeGreaterThan(2n ** 53n)
  expect(numberOf(await find(stage, { kind: 'build-number', number: ref.buildId, project: null }))).toBe(ref.buildId)
  expect(ref.projectId).not.toBe(projectId('11'))
})
