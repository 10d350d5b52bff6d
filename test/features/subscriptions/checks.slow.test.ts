import { describe, expect, it } from 'vitest'
import { CHANNELS } from '../../../packages/sandbox-slack/src/workspace.ts'
import { idOrder, type BuildId, type ChannelId, type ProjectId } from '../../../src/domain/ids.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { channels } from '../../../src/features/subscriptions/checks.ts'
import type { KnownBuild } from '../../../src/store/records.ts'
import { follower } from '../../alerts/stage.ts'
import { delivered, following, openHealthy } from '../doctor/stage.ts'

describe('a channel', () => {
  const OPEN = 'fine: 1 channel can get builds.'

  it.each([
    [CHANNELS.elsewhere, /^wrong: Buildline is not in channel \w+\. Type/],
    [CHANNELS.archived, /^wrong: channel \w+ is archived\./],
    ['C0NOWHERE1', /^wrong: channel C0NOWHERE1 is gone, or private/],
  ])('without access is named: %s', async (channel, words) => {
    const { found } = await openHealthy()
    expect(await found(channels, following(CHANNELS.builds, channel))).toEqual([expect.stringMatching(words)])
    expect(await found(channels, following(CHANNELS.builds, CHANNELS.secret))).toEqual([
      'fine: 2 channels can get builds.',
    ])
  })

  it.each([
    [{ isReadOnly: true }, 'restricted_action_read_only_channel'],
    [{ isThreadOnly: true }, 'restricted_action_thread_only_channel'],
    [{ postingRestrictedTo: { type: ['admin'] } }, 'restricted_action'],
    [{ isNonThreadable: true }, null],
    [{ postingRestrictedTo: { user: ['U0BUILDBOT'] } }, null],
  ])('where Buildline may not post is named before anything is posted: %j', async (restriction, code) => {
    const { slack, found } = await openHealthy()
    slack.acts.restrict(CHANNELS.builds, restriction)
    const closed = expect.stringContaining(`wrong: Only some people may post in channel ${CHANNELS.builds} (${code}).`)
    expect(await found(channels)).toEqual([code === null ? OPEN : closed])
  })

  it.each([
    ['matched nothing for 30 days is listed', 'main,', 0, /^unsure: .* follows acme\/x on main,, and no build/],
    ['matches what is built is not', 'ma*', 0, OPEN],
    ['matches nothing, while nothing is built, is not', 'main,', 31, OPEN],
  ])('that follows branches that %s', async (_, branch, days, words) => {
    const { store, found } = await openHealthy()
    const at = Date.now() - days * 24 * 60 * 60_000
    await store.write(async (tx) => {
      await tx.saveDeliveredProject(delivered(BUILT.projectId, 'acme/x', at))
      await tx.saveBuild({ ...BUILT, at })
    })
    const changes: Partial<Subscription> = {
      follows: { what: 'project', name: 'acme/x' },
      rules: [{ branch, branchMatch: null, events: 'every' }],
    }
    const subscriptions = async () => [follower(CHANNELS.builds as ChannelId, changes)]
    expect(await found(channels, { subscriptions })).toEqual([expect.stringMatching(words)])
  })

  const BUILT: KnownBuild = {
    projectId: '77' as ProjectId,
    buildId: '1' as BuildId,
    buildOrder: idOrder('1'),
    attempt: 1,
    revisionKey: 'r',
    cardNumber: 1,
    branch: 'main',
    status: 'success',
    rawStatus: 'success',
    at: 0,
    buildUuid: null,
    committer: null,
  }
})
