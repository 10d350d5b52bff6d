import { describe, expect, test } from 'vitest'
import { STATUS_BUILDS_MAX, type StatusOutcome } from '../../../src/features/builds/status.ts'
import { follower } from '../../alerts/stage.ts'
import { channelId, MINUTE } from '../../support/build-events.ts'
import { BUILDS, openStage, type Stage } from '../operations-stage.ts'

const ELSEWHERE = channelId('C0OTHER001')

const status = (stage: Stage, project: string | null, branch: string | null = null, channel = BUILDS) =>
  stage.main.operations.status({ project, branch, channel })

const inBrief = (outcome: StatusOutcome) =>
  'builds' in outcome && outcome.kind !== 'several-builds'
    ? outcome.builds.map(({ project, branch, shown }) => `${project}@${branch} ${shown}`)
    : outcome.kind

const newestIn = (outcome: StatusOutcome) => (outcome.kind === 'status' ? outcome.builds[0] : null)

describe('the state of a project', () => {
  test('is the last build of each branch, newest first', async () => {
    await using stage = await openStage()
    await stage.ended('error', { branch: 'main' })
    await stage.ended('success', { branch: 'fix' })
    await stage.running({ branch: 'main' })
    const outcome = await status(stage, 'web')
    expect(outcome).toMatchObject({ kind: 'project-status', red: 1, more: 0, project: { name: 'acme/web' } })
    expect(inBrief(outcome)).toEqual(['acme/web@main started', 'acme/web@fix passed'])
  })

  test('says since when a branch is red, and how many builds failed', async () => {
    await using stage = await openStage()
    await stage.ended('success')
    await stage.ended('error')
    const redAt = stage.clock.now() - MINUTE
    await stage.ended('error')
    const outcome = await status(stage, 'web', 'main')
    expect(newestIn(outcome)).toMatchObject({ shown: 'failed', streak: { builds: 2, atLeast: false } })
    const since = outcome.kind === 'status' ? outcome.builds[0]!.streak!.at : 0
    expect(Math.abs(since - redAt)).toBeLessThan(10_000)
    await stage.ended('success')
    expect(newestIn(await status(stage, 'web', 'main'))).toMatchObject({ shown: 'fixed', streak: null })
  })

  test('says so even while its newest build runs', async () => {
    await using stage = await openStage()
    await stage.ended('error')
    await stage.ended('error')
    await stage.running()
    expect(newestIn(await status(stage, 'web', 'main'))).toMatchObject({ shown: 'started', streak: { builds: 2 } })
    await stage.ended('success')
    await stage.running()
    expect(newestIn(await status(stage, 'web', 'main'))).toMatchObject({ shown: 'started', streak: null })
  })

  test('has at most ten branches, the red ones first, and counts the others', async () => {
    await using stage = await openStage()
    await stage.ended('error', { branch: 'old' })
    for (let n = 0; n <= STATUS_BUILDS_MAX; n++) stage.push({ branch: `b-${n}` })
    await stage.deliver()
    const outcome = await status(stage, 'web')
    expect(outcome).toMatchObject({ red: 1, more: 2 })
    expect(inBrief(outcome)).toHaveLength(STATUS_BUILDS_MAX)
    expect(inBrief(outcome).at(0)).toBe('acme/web@old failed')
  })

  test('without branches is its newest build', async () => {
    await using stage = await openStage({ switches: { missingFields: ['branch'] } })
    await stage.running()
    expect(inBrief(await status(stage, 'web'))).toEqual(['acme/web@null started'])
  })

  test('is empty if it never built', async () => {
    await using stage = await openStage()
    expect(await status(stage, 'web')).toEqual({ kind: 'no-build', project: 'acme/web', branch: null, nearest: null })
    expect((await status(stage, 'acme')).kind).toBe('several-projects')
    expect((await status(stage, 'nowhere')).kind).toBe('no-project')
  })

  test("is that of the card's build if it is asked from a card", async () => {
    await using stage = await openStage()
    await stage.ended('error', { branch: 'fix' })
    const { channel, ts } = stage.reconcile.slack.messages[0]!
    const outcome = await stage.main.operations.status({ target: { kind: 'message', channel, ts }, channel })
    expect(outcome).toMatchObject({ kind: 'status', branch: 'fix', builds: [{ shown: 'failed', offers: ['restart'] }] })
  })
})

describe('the state of a channel', () => {
  const followsWeb = { follows: { what: 'project', name: 'acme/web' } } as const

  test('is the newest build of each project that it follows', async () => {
    await using stage = await openStage()
    await stage.ended('error', {}, 'acme/web')
    await stage.running({}, 'acme/api')
    stage.reconcile.subscriptions.splice(0, 1, follower(BUILDS, followsWeb))
    expect(inBrief(await status(stage, null))).toEqual(['acme/web@main failed'])
  })

  test('is that of all projects if it follows none, or if there is no channel', async () => {
    await using stage = await openStage()
    await stage.ended('error', {}, 'acme/web')
    await stage.running({}, 'acme/api')
    stage.reconcile.subscriptions.splice(0, 1, follower(BUILDS, followsWeb))
    const all = ['acme/web@main failed', 'acme/api@main started']
    const elsewhere = await status(stage, null, null, ELSEWHERE)
    expect(elsewhere).toMatchObject({ where: 'everywhere', red: 1 })
    expect(inBrief(elsewhere)).toEqual(all)
    expect(inBrief(await stage.main.operations.status({ project: null, branch: null, channel: null }))).toEqual(all)
  })

  test('is empty before the first delivery', async () => {
    await using stage = await openStage()
    expect(await status(stage, null)).toMatchObject({ kind: 'channel-status', builds: [], more: 0, red: 0 })
    expect(await stage.main.operations.running(BUILDS)).toMatchObject({ kind: 'running', builds: [], more: 0 })
  })
})

describe('the running builds', () => {
  test('are those of projects that the channel follows, at most ten, newest first', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running({}, 'acme/api')
    await stage.ended('success')
    for (let n = 0; n < STATUS_BUILDS_MAX; n++) stage.push({ branch: `b-${n}` })
    await stage.deliver()
    const running = await stage.main.operations.running(BUILDS)
    expect(running).toMatchObject({ kind: 'running', more: 1 })
    expect(running.builds).toHaveLength(STATUS_BUILDS_MAX)
    expect(running.builds.every(({ shown, offers }) => shown === 'started' && offers.includes('stop'))).toBe(true)
    stage.ci.finish(ref.buildId, 'error')
    await stage.deliver()
    expect(await stage.main.operations.running(BUILDS)).toMatchObject({ more: 0 })
  })
})
