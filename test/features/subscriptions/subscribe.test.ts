import { expect, test } from 'vitest'
import { type ChannelId, type MessageTs, toUuid } from '../../../src/domain/ids.ts'
import { PATTERN_CHARS_MAX } from '../../../src/domain/rules/pattern.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { announceClosings, channelRules, closeChannel } from '../../../src/features/subscriptions/channel.ts'
import { RATE_LIMIT_WAIT_MS_MAX } from '../../../src/slack/api/directory.ts'
import {
  subscribe as subscribeWith,
  SUBSCRIPTIONS_MAX,
  unsubscribe,
  type SubscribeOutcome,
} from '../../../src/features/subscriptions/subscribe.ts'
import { HOUR } from '../../support/build-events.ts'
import { BUILDS, grace, lin, openStage, type Changes, type Stage } from '../operations-stage.ts'
import type { SubscribeInput } from '../../../src/features/subscriptions/subscribe-input.ts'

const wishOf = (change: Partial<SubscribeInput> = {}): SubscribeInput => ({
  project: 'acme/web',
  events: ['failed', 'recovered'],
  branch: 'main',
  branchMatch: 'exact',
  quiet: false,
  mention: 'committer',
  ...change,
})

const file: Subscription = {
  channel: BUILDS,
  follows: { what: 'project', name: 'ACME/web' },
  rules: [{ branch: 'main', branchMatch: null, events: ['failed'] }],
  quiet: false,
  mention: 'committer',
  source: 'file',
}

const subscriptionsOf = (stage: Stage) => stage.reconcile.store.read.subscriptionsOf(BUILDS)
const subscribe = (stage: Stage, wish = wishOf(), by = lin(), changes: Changes = {}): Promise<SubscribeOutcome> =>
  subscribeWith(stage.another(changes).deps, wish, by)

test("a subscription is stored with the project's ids and its maker, and the channel gets one line", async () => {
  await using stage = await openStage()
  const outcome = await subscribe(stage)
  expect(outcome).toMatchObject({ kind: 'subscribed', was: null, announced: { kind: 'told' } })
  expect(await subscriptionsOf(stage)).toMatchObject([
    {
      follows: { what: 'project', name: 'acme/web', uuid: expect.any(String), projectId: expect.any(String) },
      rules: [{ branch: 'main', branchMatch: 'exact', events: ['failed', 'recovered'] }],
      createdBy: lin().user,
    },
  ])
  expect(stage.said).toEqual([
    {
      to: BUILDS,
      text: `:bell: <@${lin().user}> subscribed this channel to acme/web: failed, recovered on \`main\`. For acme/web this replaces all projects: every event on every branch; mentions nobody.`,
    },
  ])
})

test('a subscription to the same branches of the same project replaces the first, and the answer shows that one', async () => {
  await using stage = await openStage()
  await subscribe(stage)
  const outcome = await subscribe(stage, wishOf({ events: ['started'], quiet: true }), grace())
  expect(outcome).toMatchObject({ kind: 'subscribed', was: { subscription: { quiet: false } } })
  expect(await subscriptionsOf(stage)).toMatchObject([{ quiet: true, createdBy: lin().user, changedBy: grace().user }])
  expect(stage.said.at(-1)?.text).toBe(
    `:bell: <@${grace().user}> subscribed this channel to acme/web: started on \`main\`; quiet. Before: failed, recovered on \`main\`.`,
  )
})

test('subscriptions to other branches and projects are stored in addition', async () => {
  await using stage = await openStage()
  for (const change of [{}, { branch: 'release/*', branchMatch: 'wildcard' as const }, { project: 'acme/api' }])
    expect(await subscribe(stage, wishOf(change))).toMatchObject({ kind: 'subscribed', was: null })
  expect(await subscriptionsOf(stage)).toHaveLength(3)
})

test('the same subscription again changes nothing and posts nothing', async () => {
  await using stage = await openStage()
  const by = lin()
  await subscribe(stage, wishOf(), by)
  expect(await subscribe(stage, wishOf({ events: ['recovered', 'failed'] }), by)).toMatchObject({ kind: 'same' })
  expect(await subscribe(stage, wishOf(), grace())).toMatchObject({ kind: 'same' })
  expect(stage.said).toHaveLength(1)
})

test('a closed channel counts as open after a message reached it', async () => {
  await using stage = await openStage()
  const sendText = async () => ({ kind: 'channel-closed', code: 'restricted_action' }) as const
  await subscribe(stage, wishOf(), lin(), { sendText })
  expect(await stage.reconcile.store.read.closedChannels()).toHaveLength(1)
  const outcome = await subscribe(stage, wishOf({ quiet: true }))
  expect(outcome).toMatchObject({ kind: 'subscribed', shown: { paused: null }, announced: { kind: 'told' } })
  expect(await stage.reconcile.store.read.closedChannels()).toEqual([])
})

test('a channel that closes while it gets the message stays closed', async () => {
  await using stage = await openStage()
  const sendText = async () => {
    await closeChannel(stage.main.deps, BUILDS, 'is_archived')
    return { kind: 'sent', ts: '1700000000.000100' as MessageTs } as const
  }
  expect(await subscribe(stage, wishOf(), lin(), { sendText })).toMatchObject({ announced: { kind: 'told' } })
  expect(await stage.reconcile.store.read.closedChannels()).toMatchObject([{ code: 'is_archived' }])
})

test("without events and branch the project's own rules decide; with a branch only, every event counts", async () => {
  await using stage = await openStage()
  const none = { events: null, branch: null, branchMatch: null }
  expect(await subscribe(stage, wishOf(none))).toMatchObject({
    shown: { subscription: { rules: null }, rulesFrom: 'ci' },
  })
  expect(await subscribe(stage, wishOf({ events: null }))).toMatchObject({
    shown: { subscription: { rules: [{ branch: 'main', events: 'every' }] }, rulesFrom: 'channel' },
  })
  expect(await subscribe(stage, wishOf({ ...none, events: 'every' }))).toMatchObject({
    shown: { subscription: { rules: [{ branch: null, events: 'every' }] } },
    was: { subscription: { rules: null } },
  })
})

test('a subscription to one project says that the one to all projects no longer counts for it', async () => {
  await using stage = await openStage()
  await subscribe(stage, wishOf({ project: 'all' }))
  const outcome = await subscribe(stage)
  expect(outcome).toMatchObject({ was: null, over: { follows: { what: 'all' } } })
  expect(stage.said.at(-1)?.text).toContain(' For acme/web this replaces all projects: ')
  expect(await subscribe(stage, wishOf({ branch: 'dev' }))).toMatchObject({ over: null })
})

test('a subscription to all projects follows them by that name', async () => {
  await using stage = await openStage()
  expect(await subscribe(stage, wishOf({ project: 'ALL' }))).toMatchObject({
    kind: 'subscribed',
    shown: { subscription: { follows: { what: 'all' } }, project: null },
  })
})

// A project known from deliveries only has no uuid until CI lists it.
test('a project subscribed by name keeps its one subscription and its maker once its ids are known', async () => {
  await using stage = await openStage()
  const { store } = stage.reconcile
  const named = { channel: BUILDS, follows: { what: 'project', name: 'acme/web' }, rules: null, quiet: false } as const
  await store.write((tx) => tx.saveSubscription({ ...named, mention: 'committer' }, { user: 'U0ADA00001', at: HOUR }))
  const outcome = await subscribe(stage, wishOf({ events: null, branch: null, branchMatch: null, quiet: true }))
  expect(outcome).toMatchObject({ kind: 'subscribed', was: { subscription: { quiet: false } } })
  expect(await subscriptionsOf(stage)).toMatchObject([
    {
      follows: { uuid: expect.any(String) },
      quiet: true,
      createdBy: 'U0ADA00001',
      createdAt: HOUR,
      changedBy: lin().user,
    },
  ])
})

test('a project that no longer exists is shown as such, and its subscription can be removed by name', async () => {
  await using stage = await openStage()
  const { store } = stage.reconcile
  const uuid = toUuid('99999999-0000-0000-0000-000000000009')
  const follows = { what: 'project', name: 'acme/gone', uuid, projectId: '77' } as const
  const by = { user: 'U0ADA00001', at: HOUR }
  await store.write((tx) =>
    tx.saveSubscription({ channel: BUILDS, follows, rules: null, quiet: false, mention: 'nobody' }, by),
  )
  const { deps } = stage.main
  expect(await channelRules(deps, BUILDS)).toMatchObject({
    subscriptions: [{}, { project: null, subscription: { follows: { name: 'acme/gone' } } }],
  })
  expect(await unsubscribe(deps, { project: 'acme/gone', id: null }, lin())).toMatchObject({
    kind: 'unsubscribed',
  })
})

test('a subscription of the file cannot be changed in Slack, under any name', async () => {
  await using stage = await openStage()
  const subscriptions = async () => [file]
  expect(await subscribe(stage, wishOf(), lin(), { subscriptions })).toMatchObject({
    kind: 'set-elsewhere',
    shown: { rulesFrom: 'file' },
  })
  expect(await subscribe(stage, wishOf({ branch: 'next' }), lin(), { subscriptions })).toMatchObject({
    kind: 'subscribed',
  })
  const { deps } = stage.another({ subscriptions })
  expect(await unsubscribe(deps, { project: null, id: null }, lin())).toMatchObject({
    kind: 'set-elsewhere',
  })
  expect(await unsubscribe(deps, { project: 'acme/web', id: null }, lin())).toMatchObject({
    kind: 'set-elsewhere',
  })
})

test(`a channel has at most ${SUBSCRIPTIONS_MAX} subscriptions, of which one can still be replaced`, async () => {
  await using stage = await openStage()
  const branch = (n: number) => wishOf({ branch: `branch-${n}` })
  for (let n = 0; n < SUBSCRIPTIONS_MAX; n++)
    expect(await subscribe(stage, branch(n))).toMatchObject({ kind: 'subscribed' })
  expect(await subscribe(stage, branch(SUBSCRIPTIONS_MAX))).toEqual({ kind: 'too-many', max: SUBSCRIPTIONS_MAX })
  expect(await subscribe(stage, { ...branch(0), quiet: true })).toMatchObject({ kind: 'subscribed' })
  expect(await subscriptionsOf(stage)).toHaveLength(SUBSCRIPTIONS_MAX)
})

test('people who may not subscribe, and requests outside of a channel, change nothing', async () => {
  await using stage = await openStage()
  const permit = { kind: 'no', why: 'guest', who: [] } as const
  const permits = async (right: string) => (right === 'subscribe' ? permit : ({ kind: 'yes' } as const))
  expect(await subscribe(stage, wishOf(), lin(), { permits })).toEqual({
    kind: 'forbidden',
    action: 'subscribe',
    permit,
  })
  for (const channel of [null, 'D0LIN00001' as ChannelId])
    expect(await subscribe(stage, wishOf(), lin({ channel }))).toEqual({ kind: 'no-channel' })
  expect(await subscriptionsOf(stage)).toEqual([])
  expect(stage.said).toEqual([])
})

test.each<[what: string, change: Partial<SubscribeInput>, field: string]>([
  ['an invalid regex', { branch: '(', branchMatch: 'regex' }, 'branch'],
  ['a branch that Git does not allow', { branch: '^(a', branchMatch: 'exact' }, 'branch'],
  ['a pattern that is too long', { branch: 'x'.repeat(PATTERN_CHARS_MAX + 1) }, 'branch'],
  ['no events', { events: [] }, 'events'],
  ['an unknown event', { events: ['exploded'] }, 'events'],
  ['a blank project', { project: ' ' }, 'project'],
])('%s is refused at its field', async (_, change, field) => {
  await using stage = await openStage()
  expect(await subscribe(stage, wishOf(change))).toMatchObject({ kind: 'faults', faults: [{ field }] })
  expect(await subscriptionsOf(stage)).toEqual([])
})

test('a pattern of the maximum length is stored', async () => {
  await using stage = await openStage()
  expect(await subscribe(stage, wishOf({ branch: 'x'.repeat(PATTERN_CHARS_MAX) }))).toMatchObject({
    kind: 'subscribed',
  })
})

test('a name of no project or of several cannot be followed', async () => {
  await using stage = await openStage()
  expect(await subscribe(stage, wishOf({ project: 'acme/wbe' }))).toMatchObject({ kind: 'no-project' })
  expect(await subscribe(stage, wishOf({ project: 'acme' }))).toMatchObject({ kind: 'several-projects' })
})

test('if Slack refuses messages to the channel, the subscription is stored and shown as paused', async () => {
  await using stage = await openStage()
  const sendText = async () => ({ kind: 'channel-closed', code: 'not_in_channel' }) as const
  expect(await subscribe(stage, wishOf(), lin(), { sendText })).toMatchObject({
    kind: 'subscribed',
    shown: { paused: { code: 'not_in_channel' } },
    announced: { kind: 'not-told', code: 'not_in_channel', isClosed: true },
  })
  expect(await subscriptionsOf(stage)).toHaveLength(1)
  // The requester already knows it.
  await announceClosings(stage.main.deps)
  expect(stage.said).toEqual([])
})

test('a message that may have been posted is not repeated', async () => {
  await using stage = await openStage()
  let calls = 0
  const sendText = async () => {
    calls++
    return { kind: 'unclear', code: 'timeout' } as const
  }
  expect(await subscribe(stage, wishOf(), lin(), { sendText })).toMatchObject({
    announced: { kind: 'not-told', code: 'timeout', isClosed: false },
    shown: { paused: null },
  })
  expect(calls).toBe(1)
})

test('a channel whose message is rate-limited gets it after a short delay, and not after a long one', async () => {
  await using stage = await openStage()
  const waits = [RATE_LIMIT_WAIT_MS_MAX, RATE_LIMIT_WAIT_MS_MAX + 1]
  const ends = []
  for (const retryAfterMs of waits) {
    let calls = 0
    const sendText = async () =>
      calls++ === 0
        ? ({ kind: 'rate-limited', code: 'ratelimited', retryAfterMs } as const)
        : ({ kind: 'sent', ts: '1.0' } as never)
    const asking = subscribe(stage, wishOf({ branch: `b${retryAfterMs}` }), lin(), { sendText })
    await expect.poll(() => calls).toBe(1)
    await stage.clock.advance(RATE_LIMIT_WAIT_MS_MAX)
    const outcome = await asking
    ends.push(outcome.kind === 'subscribed' && outcome.announced.kind)
  }
  expect(ends).toEqual(['told', 'not-told'])
})

test('a subscription that is changed into another keeps its maker, and leaves nothing behind', async () => {
  await using stage = await openStage()
  await subscribe(stage)
  const [before] = await subscriptionsOf(stage)
  const changed = wishOf({ branch: 'next', instead: before!.id })
  expect(await subscribe(stage, changed, grace())).toMatchObject({
    kind: 'subscribed',
    was: { subscription: { id: before!.id } },
  })
  expect(await subscriptionsOf(stage)).toMatchObject([
    { rules: [{ branch: 'next' }], createdBy: lin().user, changedBy: grace().user },
  ])
})

test('after the requester was told of an interruption, nothing is stored', async () => {
  await using stage = await openStage()
  const { store } = stage.reconcile
  const by = lin()
  const asked = {
    interactionKey: by.interactionKey,
    user: by.user,
    what: '/ci subscribe',
    channel: BUILDS,
    threadTs: null,
  }
  const claim = { responseUrl: null, receivedAt: 1, state: 'told', claimedBy: 'dead', claimedAt: 1 } as const
  await store.write((tx) => tx.insertInteraction({ ...asked, ...claim, id: 'i1' }))
  await expect(subscribe(stage, wishOf(), by)).rejects.toThrow('interrupted')
  expect(await subscriptionsOf(stage)).toEqual([])
})

test('unsubscribing removes the subscription, posts once in the channel, and asks if several match', async () => {
  await using stage = await openStage()
  const { deps } = stage.main
  const none = { project: null, id: null }
  // The stage has a default channel.
  expect(await unsubscribe(deps, none, lin())).toMatchObject({ kind: 'set-elsewhere' })
  await subscribe(stage)
  await subscribe(stage, wishOf({ branch: 'next' }))
  await subscribe(stage, wishOf({ project: 'all' }))
  expect(await unsubscribe(deps, none, lin())).toMatchObject({ kind: 'which' })
  expect(await unsubscribe(deps, { project: 'web', id: null }, lin())).toMatchObject({
    kind: 'unsubscribed',
    removed: [{}, {}],
  })
  expect(stage.said.at(-1)?.text).toBe(
    `:no_bell: <@${lin().user}> unsubscribed this channel from acme/web: failed, recovered on \`main\` · acme/web: failed, recovered on \`next\`.`,
  )
  expect(await unsubscribe(deps, { project: 'web', id: null }, lin())).toMatchObject({ kind: 'not-subscribed' })
  const [last] = await subscriptionsOf(stage)
  const ofOtherChannel = lin({ channel: 'C0OTHER001' as ChannelId })
  expect(await unsubscribe(deps, { project: null, id: last!.id }, ofOtherChannel)).toMatchObject({
    kind: 'not-subscribed',
  })
  expect(await unsubscribe(deps, none, grace())).toMatchObject({ kind: 'unsubscribed' })
  const said = stage.said.length
  expect(await unsubscribe(deps, { project: null, id: last!.id }, lin())).toMatchObject({
    kind: 'not-subscribed',
  })
  expect(stage.said).toHaveLength(said)
})
