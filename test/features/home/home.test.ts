import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { act } from '../../../src/features/streaks/action.ts'
import type { ChannelId } from '../../../src/domain/ids.ts'
import { type HomeState, readHome, SHOWN_MAX } from '../../../src/features/home/home.ts'
import { MINUTE, T0 } from '../../support/build-events.ts'
import { follower } from '../../alerts/stage.ts'
import { BUILDS, GRACE, LIN, lin, openStage, type Changes, type Stage } from '../operations-stage.ts'

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

  it('shows the branches that the person is on until they pass, whoever broke them', async () => {
    const built = await stage.ended('error', { branch: 'next', committer: 'grace' })
    await act(stage.main.deps, { kind: 'run', ref: built.ref }, { kind: 'take', span: 60 }, lin())
    const mine = async () => (await homeOf(LIN)).red.shown.map(({ branch }) => branch)
    expect(await mine()).toEqual(['next'])
    await claim('grace', LIN)
    expect(await mine()).toEqual(['next'])
    expect((await homeOf(GRACE)).red.shown).toEqual([])
    await stage.ended('success', { branch: 'next' })
    expect(await mine()).toEqual([])
  })

  it('no longer shows a branch that the person was on, after their time is up', async () => {
    const { ref } = await stage.ended('error', { committer: 'grace' })
    await act(stage.main.deps, { kind: 'run', ref }, { kind: 'take', span: 60 }, lin())
    await stage.clock.advance(59 * MINUTE)
    expect((await homeOf(LIN)).red.shown).toHaveLength(1)
    await stage.clock.advance(MINUTE)
    expect((await homeOf(LIN)).red.shown).toEqual([])
  })

  it("shows the other red branches of the projects that the person's channels follow, and none if they follow none", async () => {
    await claim('lin', LIN)
    await stage.ended('error', { committer: 'lin' })
    await stage.ended('error', { branch: 'next', committer: 'grace' })
    await stage.ended('error', { committer: 'grace' }, 'acme/api')
    await stage.ended('success', { branch: 'green' })
    const others = async (changes: Changes) =>
      (await homeOf(LIN, changes)).othersRed?.shown.map(({ project, branch }) => `${project} ${branch}`)
    const web = follower(BUILDS, { follows: { what: 'project', name: 'acme/web' } })
    expect(await others({ subscriptions: async () => [web] })).toEqual(['acme/web next'])
    expect(await others({ subscriptions: async () => [follower(BUILDS)] })).toEqual(['acme/api main', 'acme/web next'])
    expect(await others({ subscriptions: async () => [follower(ELSEWHERE)] })).toBeUndefined()
    expect(await others({ subscriptions: async () => [web], channelsOf: async () => null })).toBeUndefined()
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

  it('is closed to people who may not read, with the reason', async () => {
    const no = { kind: 'no', why: 'outsider', who: [] } as const
    const { deps } = stage.another({ permits: async () => no })
    expect(await readHome(deps, LIN, null)).toEqual(no)
  })
})
