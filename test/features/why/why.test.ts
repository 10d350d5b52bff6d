import { describe, expect, test } from 'vitest'
import type { AttemptRef } from '../../../src/domain/cards/request.ts'
import { DECISIONS_MAX, explain, type Explained } from '../../../src/features/why/why.ts'
import type { Target } from '../../../src/projects/outcomes.ts'
import { follower } from '../../alerts/stage.ts'
import { channelId, MINUTE } from '../../support/build-events.ts'
import { UNSENT } from '../../support/fake-notifier.ts'
import { BUILDS, ofAttempt, openStage, type Changes, type Process, type Stage } from '../operations-stage.ts'

const whyIn = ({ deps }: Process, target: Target | null, by: Parameters<typeof explain>[2]) =>
  deps.orAskCi(() => explain(deps, target, by))

async function decisionsOf(stage: Stage, ref: AttemptRef): Promise<readonly Explained[]> {
  const outcome = await whyIn(stage.main, ofAttempt(ref), HERE)
  return outcome.kind === 'why' ? outcome.decisions : []
}

const QUIET = channelId('C0QUIET001')
const HERE = { user: 'U0LIN00001', channel: BUILDS }

describe('the answer to why', () => {
  test('has the recorded verdict and reason for each build event and channel', async () => {
    await using stage = await openStage()
    const failures = [{ branch: 'release/*', branchMatch: null, events: ['failed'] as const }]
    stage.reconcile.subscriptions.push(follower(QUIET, { rules: failures }))
    const { ref } = await stage.ended('error')
    const outcome = await whyIn(stage.main, ofAttempt(ref), HERE)
    expect(outcome).toMatchObject({ kind: 'why', more: 0, build: { ref, shown: 'failed' } })
    const decisions = outcome.kind === 'why' ? outcome.decisions : []
    expect(decisions.map(({ channel, rawStatus, verdict }) => `${channel} ${rawStatus} ${verdict}`)).toEqual([
      `${BUILDS} initiated post`,
      `${QUIET} initiated silent`,
      `${BUILDS} error post`,
      `${QUIET} error silent`,
    ])
    expect(decisions.every(({ reason }) => reason !== '')).toBe(true)
    stage.reconcile.subscriptions.length = 0
    expect(await whyIn(stage.main, ofAttempt(ref), HERE)).toEqual(outcome)
  })

  test('has each rule that was looked at, and its source', async () => {
    await using stage = await openStage()
    const rule = { branch: 'release/*', branchMatch: 'wildcard', events: ['failed'] as const }
    stage.reconcile.subscriptions.push(follower(QUIET, { rules: [rule] }))
    const { ref } = await stage.ended('error')
    const decisions = await decisionsOf(stage, ref)
    const quiet = decisions.filter(({ channel, rawStatus }) => channel === QUIET && rawStatus === 'error')
    expect(quiet.map(({ ruleResults }) => ruleResults)).toEqual([
      [{ rule, from: 'file', verdict: 'branch-not-matched' }],
    ])
  })

  test("says which messages exist: the card, the attempt's reply, or none", async () => {
    await using stage = await openStage()
    const failures = [{ branch: 'release/*', branchMatch: null, events: ['failed'] as const }]
    stage.reconcile.subscriptions.push(follower(QUIET, { rules: failures }))
    const { ref } = await stage.ended('error')
    const decisions = await decisionsOf(stage, ref)
    const [card, reply] = stage.reconcile.slack.messages
    const posted = [
      { slot: 'card', state: 'posted', ts: card!.ts },
      { slot: `run:${ref.buildId}.1`, state: 'posted', ts: reply!.ts },
    ]
    expect(card!.ts).not.toBe(reply!.ts)
    expect(decisions.map((decision) => [decision.channel, decision.rawStatus, decision.posted])).toEqual([
      [BUILDS, 'initiated', posted],
      [QUIET, 'initiated', []],
      [BUILDS, 'error', posted],
      [QUIET, 'error', []],
    ])
  })

  test("has each attempt's own reply", async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.ended('error')
    await stage.clock.advance(2 * MINUTE)
    stage.ci.restart(uuid, 'success')
    await stage.clock.advance(5_000)
    await stage.deliver()
    await stage.clock.advance(MINUTE)
    const told = (await decisionsOf(stage, ref)).map(({ rawStatus, posted }) => [
      rawStatus,
      ...posted.map(({ slot }) => slot),
    ])
    expect(told).toEqual([
      ['initiated', 'card', `run:${ref.buildId}.1`],
      ['error', 'card', `run:${ref.buildId}.1`],
      ['initiated', 'card', `run:${ref.buildId}.2`],
      ['success', 'card', `run:${ref.buildId}.2`],
    ])
  })

  test('says that a card waits while Slack is away, and that it is posted afterwards', async () => {
    await using stage = await openStage()
    stage.reconcile.slack.fate(() => UNSENT)
    const { ref } = await stage.running()
    expect((await decisionsOf(stage, ref)).map(({ posted }) => posted)).toEqual([
      [{ slot: 'card', state: 'waiting', ts: null }],
    ])
    stage.reconcile.slack.fate(() => undefined)
    await stage.clock.advance(MINUTE)
    expect((await decisionsOf(stage, ref)).map(({ posted }) => posted)).toMatchObject([
      [{ slot: 'card', state: 'posted', ts: stage.reconcile.slack.messages[0]!.ts }],
    ])
  })

  test('has the notice of the day for builds that CI refused', async () => {
    await using stage = await openStage()
    const { ref } = stage.push({ outcome: 'ignored' })
    await stage.deliver()
    await stage.clock.advance(MINUTE)
    expect(await decisionsOf(stage, ref)).toMatchObject([
      {
        reason: 'account-notice',
        posted: [{ slot: 'notice', state: 'posted', ts: stage.reconcile.slack.messages[0]!.ts }],
      },
    ])
  })

  test('mentions a channel that the requester cannot see without details, which it gives inside that channel', async () => {
    await using stage = await openStage()
    stage.reconcile.subscriptions.push(follower(QUIET))
    const { ref } = await stage.ended('error')
    const saidTo = async (changes: Changes, by: typeof HERE) => {
      const outcome = await whyIn(stage.another(changes), ofAttempt(ref), by)
      const { decisions = [], hidden = null } = outcome.kind === 'why' ? outcome : {}
      return { channels: [...new Set(decisions.map(({ channel }) => channel))], hidden }
    }
    const outsider: Changes = { seenBy: async () => new Set([BUILDS]) }
    expect(await saidTo(outsider, HERE)).toEqual({ channels: [BUILDS], hidden: 1 })
    expect(await saidTo(outsider, { ...HERE, channel: QUIET })).toEqual({ channels: [BUILDS, QUIET], hidden: 0 })
    expect(await saidTo({ seenBy: async () => null }, HERE)).toEqual({ channels: [BUILDS], hidden: 1 })
  })

  test('without a build is about the newest one in the channel', async () => {
    await using stage = await openStage()
    await stage.ended('error')
    const { ref } = await stage.running({}, 'acme/api')
    expect(await whyIn(stage.main, null, HERE)).toMatchObject({ kind: 'why', build: { ref } })
  })

  test('without any delivery is about no build', async () => {
    await using stage = await openStage()
    expect((await whyIn(stage.main, null, HERE)).kind).toBe('no-build')
    const target = { kind: 'build-number', number: '999', project: null } as const
    expect(await whyIn(stage.main, target, HERE)).toEqual({ kind: 'unknown-build', text: '#999' })
  })

  test('has the newest twenty decisions, and the number of earlier ones', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.ended('error')
    for (let n = 0; n < DECISIONS_MAX / 2; n++) {
      await stage.clock.advance(2 * MINUTE)
      stage.ci.restart(uuid, 'error')
      await stage.clock.advance(5_000)
      await stage.deliver()
    }
    const outcome = await whyIn(stage.main, { kind: 'build-number', number: ref.buildId, project: null }, HERE)
    expect(outcome).toMatchObject({ kind: 'why', more: 2, build: { attemptNumber: 11 } })
    const decisions = outcome.kind === 'why' ? outcome.decisions : []
    expect(decisions).toHaveLength(DECISIONS_MAX)
    expect(decisions.at(-1)!.at).toBeGreaterThan(decisions[0]!.at)
    expect(outcome).toMatchObject({ build: { at: decisions.at(-1)!.at } })
  })
})
