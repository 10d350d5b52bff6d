import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChannelId } from '../../../src/domain/ids.ts'
import { createConnections } from '../../../src/sources/ci-service/source.ts'
import { type HomeState, readHome, SHOWN_MAX } from '../../../src/features/home/home.ts'
import { request, T0 } from '../../support/build-events.ts'
import { projectRequest } from '../../store/given.ts'
import { follower } from '../../alerts/stage.ts'
import { BUILDS, GRACE, LIN, openStage, type Changes, type Stage } from '../operations-stage.ts'

const ELSEWHERE = 'C0ELSEWH01' as ChannelId

let stage: Stage
beforeEach(async () => void (stage = await openStage()))
afterEach(() => stage[Symbol.asyncDispose]())

/** Home of a person who is only in #builds. */
async function homeOf(user: string, changes: Changes = {}): Promise<HomeState> {
  const { deps } = stage.another({ channelsOf: async () => new Set([BUILDS]), ...changes })
  const outcome = await readHome(deps, user, null)
  if (outcome.kind !== 'home') throw new Error(outcome.kind)
  return outcome.home
}

const noAdmin: Changes = {
  permits: async (right) => (right === 'administer' ? { kind: 'no', why: 'not-admin', who: [] } : { kind: 'yes' }),
}

const claim = (handle: string, user: string) => stage.main.deps.store.write((tx) => tx.claimHandle(handle, user, T0))

describe('Home', () => {
  it("shows the red builds of people with the committer's name, and of nobody else", async () => {
    await stage.ended('error', { committer: 'lin' })
    await claim('lin', LIN)
    await claim('grace', GRACE)
    expect((await homeOf(LIN)).red.shown).toMatchObject([{ shown: 'failed', committer: 'lin', offers: ['restart'] }])
    expect((await homeOf(GRACE)).red).toEqual({ shown: [], more: 0 })
  })

  it('no longer shows a red build after its branch passed', async () => {
    await claim('lin', LIN)
    await stage.ended('error', { committer: 'lin' })
    await stage.ended('success', { committer: 'lin' })
    expect((await homeOf(LIN)).red).toEqual({ shown: [], more: 0 })
  })

  it("shows waiting builds of projects that the person's channels follow, or of all if they follow none", async () => {
    stage.push({ needsApproval: true }, 'acme/web')
    await stage.deliver()
    const following = (channel: ChannelId, name: string): Changes => ({
      subscriptions: async () => [follower(channel, { follows: { what: 'project', name } })],
    })
    const waiting = async (changes: Changes) => (await homeOf(LIN, changes)).waiting.shown.map(({ project }) => project)
    expect(await waiting(following(BUILDS, 'acme/web'))).toEqual(['acme/web'])
    expect(await waiting(following(BUILDS, 'acme/api'))).toEqual([])
    expect(await waiting(following(ELSEWHERE, 'acme/api'))).toEqual(['acme/web'])
  })

  it("shows subscriptions of the person's channels only, or none if the channels are unknown", async () => {
    const subscriptions = async () => [follower(BUILDS), follower(ELSEWHERE)]
    const { subscriptions: mine } = await homeOf(LIN, { subscriptions })
    expect(mine?.shown.map(({ subscription }) => subscription.channel)).toEqual([BUILDS])
    expect((await homeOf(LIN, { subscriptions, channelsOf: async () => null })).subscriptions).toBeNull()
  })

  it.each([
    [SHOWN_MAX.subscriptions, 0],
    [SHOWN_MAX.subscriptions + 1, 1],
  ])('with %i subscriptions counts %i more than it shows', async (count, more) => {
    const subscriptions = async () => Array.from({ length: count }, () => follower(BUILDS))
    const { subscriptions: mine } = await homeOf(LIN, { subscriptions })
    expect([mine?.shown.length, mine?.more]).toEqual([SHOWN_MAX.subscriptions, more])
  })

  it('has a part for admins only', async () => {
    expect((await homeOf(GRACE)).admin).not.toBeNull()
    expect((await homeOf(LIN, noAdmin)).admin).toBeNull()
  })

  it('shows admins the closed channels, and what they follow if the admin is in them', async () => {
    const subscriptions = async () => [follower(BUILDS), follower(ELSEWHERE)]
    await stage.main.deps.store.write(async (tx) => {
      for (const channel of [BUILDS, ELSEWHERE, 'C0NOBODYS1' as ChannelId])
        await tx.closeChannel({ channel, code: 'is_archived', retryAt: T0, at: T0 })
    })
    const paused = (await homeOf(GRACE, { subscriptions })).admin!.paused.shown
    const follows = new Map(paused.map((one) => [one.channel, one.follows?.length ?? null]))
    expect(follows).toEqual(
      new Map([
        [BUILDS, 1],
        [ELSEWHERE, null],
      ]),
    )
  })

  it('shows admins the last requests about builds and projects, newest first', async () => {
    await stage.main.deps.store.write(async (tx) => {
      await tx.insertRequest(request({ id: 'restart', requestedAt: T0 }))
      await tx.insertRequest(projectRequest({ id: 'edit', state: 'confirmed', requestedAt: T0 + 1 }))
    })
    expect((await homeOf(GRACE)).admin!.audit).toMatchObject([
      { action: 'edit-project', project: 'acme/web', buildId: null, state: 'confirmed' },
      { action: 'restart', buildId: '512' },
    ])
  })

  it('is closed to people who may not read, with the reason', async () => {
    const no = { kind: 'no', why: 'outsider', who: [] } as const
    const { deps } = stage.another({ permits: async () => no })
    expect(await readHome(deps, LIN, null)).toEqual(no)
  })
})

describe('the state of a connection to CI', () => {
  const open = () => createConnections({ v2: true, legacy: true, site: false }, () => T0)

  it('is unknown before the first answer, and then that of the answer', () => {
    const connections = open()
    expect(connections.all().map(({ name, isConfigured }) => [name, isConfigured])).toEqual([
      ['v2', true],
      ['legacy', true],
      ['site', false],
    ])
    connections.record('v2', null)
    connections.record('legacy', 'unauthorized')
    expect(connections.all()).toMatchObject([
      { readAt: T0, failure: null },
      { readAt: null, failure: 'unauthorized' },
      { readAt: null, failure: null },
    ])
  })

  it('keeps the time of the last success during a failure, and drops the error after the next success', () => {
    const connections = open()
    connections.record('v2', null)
    connections.record('v2', 'timeout')
    expect(connections.all()[0]).toMatchObject({ readAt: T0, failure: 'timeout' })
    connections.record('v2', null)
    expect(connections.all()[0]).toMatchObject({ failure: null })
  })

  it('is good if CI answers that something does not exist', () => {
    const connections = open()
    connections.record('v2', 'not-found')
    expect(connections.all()[0]).toMatchObject({ readAt: T0, failure: null })
  })
})
