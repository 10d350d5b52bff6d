import { describe, expect, test } from 'vitest'
import { confirmProjectRequests } from '../../../src/features/projects/confirm.ts'
import { ORGANIZATION, project as sent } from '../../sources/ci-service/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { channelId, MINUTE } from '../../support/build-events.ts'
import { ADA, CREATION, requester, openProjectStage, T0 } from './stage.ts'

/** A CI that finds projects by exact name. @param listed what it lists on the nth request */
async function open(listed: (projects: readonly object[], at: number) => readonly object[] = (projects) => projects) {
  const projects: Record<string, unknown>[] = []
  let lists = 0
  const stub = await startHttpStub(({ method, query }) => {
    if (method === 'POST') projects.push(made('group/acme/shop'))
    if (method === 'POST') return { status: 201, json: projects.at(-1) }
    const name = query.get('name')
    const named = projects.filter((one) => name === null || one['name'] === name)
    return { json: listed(named, lists++) }
  })
  const stage = await openProjectStage({ baseUrl: stub.url, organizationUuid: ORGANIZATION, authorization: 'x' })
  const posts = () => stub.requests.filter(({ method }) => method === 'POST')
  return { stage, projects, posts, [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose]() }
}

const made = (name: string) => sent(9, { name, created_at: new Date(T0).toISOString() })

describe('creating a project', () => {
  test('is done once for two concurrent requests, and the second requester is told who was first or that it exists', async () => {
    await using ci = await open()
    const { operations } = ci.stage
    const ends = await Promise.all([
      operations.create(CREATION, requester(), { evenIfThere: false }),
      operations.create(CREATION, requester({ user: ADA }), { evenIfThere: false }),
    ])
    expect(ends.filter(({ kind }) => kind === 'created')).toHaveLength(1)
    expect(ends.filter(({ kind }) => kind === 'asked-already' || kind === 'exists')).toHaveLength(1)
    expect(ci.posts()).toHaveLength(1)
  })

  test('is not sent if somebody created the project between our look and our record', async () => {
    // It is looked for by two names, and neither finds it at first.
    await using ci = await open((projects, at) => (at < 2 ? [] : projects))
    ci.projects.push(made('group/acme/shop'))
    expect(await ci.stage.operations.create(CREATION, requester(), { evenIfThere: false })).toMatchObject({
      kind: 'exists',
    })
    expect(ci.posts()).toEqual([])
    const [request] = await ci.stage.deps.store.read.newestRequests(1)
    expect(request).toMatchObject({ state: 'refused', code: 'exists' })
  })

  test('is sent if the requester insists', async () => {
    await using ci = await open()
    ci.projects.push({ ...made('group/acme/shop'), uuid: '0a1b2c3d-0000-4000-8000-0123456789ab' })
    expect((await ci.stage.operations.create(CREATION, requester(), { evenIfThere: true })).kind).toBe('created')
    expect(ci.posts()).toHaveLength(1)
  })
})

test('the end of a write is told to its channel later, once, if its process has died before it told it', async () => {
  await using ci = await open()
  const { stage } = ci
  const channel = channelId('C0BUILDS01')
  await stage.operations.create(CREATION, requester({ channel }), { evenIfThere: false })
  await confirmProjectRequests(stage.deps)
  expect(stage.told).toEqual([])
  stage.clock.advance(2 * MINUTE)
  for (const _ of [1, 2]) await confirmProjectRequests(stage.deps)
  expect(stage.told).toEqual([expect.stringMatching(/^C0BUILDS01: .* created the project \*acme\/shop\*\.$/)])
})

describe('a creation that a dead process left', () => {
  test.each([
    ['acme/shop', 'confirmed'],
    ['group/acme/shop', 'confirmed'],
    ['group/acme/workshop', 'unconfirmed'],
    ['workacme/shop', 'unconfirmed'],
  ])('is looked for by its name and by longer paths: with %s it is %s', async (name, state) => {
    await using ci = await open()
    await ci.stage.deps.store.write((tx) =>
      tx.insertRequest({
        id: 'left',
        interactionKey: 'left',
        action: 'create-project',
        state: 'calling',
        project: 'acme/shop',
        projectUuid: null,
        what: [],
        before: {},
        newBuildId: null,
        requestedBy: ADA,
        requestedTeam: null,
        channel: null,
        via: 'modal',
        requestedAt: T0,
        claimedBy: 'process-of-yesterday',
        code: null,
        reason: null,
        answeredAt: null,
        lookAt: T0,
        endedAt: null,
      }),
    )
    ci.projects.push(made(name))
    ci.stage.clock.advance(2 * 60_000)
    await confirmProjectRequests(ci.stage.deps)
    expect(await ci.stage.deps.store.read.newestRequests(1)).toMatchObject([{ state }])
  })
})
