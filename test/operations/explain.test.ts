import { describe, expect, test } from 'vitest'
import { DECISIONS_MAX } from '../../src/operations/explain.ts'
import { follower } from '../reconcile/stage.ts'
import { channelId, MINUTE } from '../support/facts.ts'
import { BUILDS, ofRun, openStage } from './stage.ts'

const QUIET = channelId('C0QUIET001')

describe('why', () => {
  test('gives for each fact and channel the verdict as it was made, with its reason', async () => {
    await using stage = await openStage()
    const failures = [{ branch: 'release/*', branchMatch: null, events: ['failed'] as const }]
    stage.reconcile.subscriptions.push(follower(QUIET, { rules: failures }))
    const { ref } = await stage.ended('error')
    const outcome = await stage.main.operations.why(ofRun(ref), BUILDS)
    expect(outcome).toMatchObject({ kind: 'why', more: 0, build: { ref, shown: 'failed' } })
    const decisions = outcome.kind === 'why' ? outcome.decisions : []
    expect(decisions.map(({ channel, word, verdict }) => `${channel} ${word} ${verdict}`)).toEqual([
      `${BUILDS} initiated tell`,
      `${QUIET} initiated silent`,
      `${BUILDS} error tell`,
      `${QUIET} error silent`,
    ])
    expect(decisions.every(({ reason }) => reason !== '')).toBe(true)
    stage.reconcile.subscriptions.length = 0
    expect(await stage.main.operations.why(ofRun(ref), BUILDS)).toEqual(outcome)
  })

  test('without a build is about the newest of the channel', async () => {
    await using stage = await openStage()
    await stage.ended('error')
    const { ref } = await stage.running({}, 'acme/api')
    expect(await stage.main.operations.why(null, BUILDS)).toMatchObject({ kind: 'why', build: { ref } })
  })

  test('where nothing was delivered yet is about no build', async () => {
    await using stage = await openStage()
    expect((await stage.main.operations.why(null, BUILDS)).kind).toBe('no-build')
    const target = { kind: 'build-number', number: '999', project: null } as const
    expect(await stage.main.operations.why(target, BUILDS)).toEqual({ kind: 'unknown-build', text: '#999' })
  })

  test('shows the newest twenty decisions, and how many there are more', async () => {
    await using stage = await openStage()
    const { ref, uuid } = await stage.ended('error')
    for (let n = 0; n < DECISIONS_MAX / 2; n++) {
      await stage.clock.advance(2 * MINUTE)
      stage.ci.restart(uuid, 'error')
      await stage.clock.advance(5_000)
      await stage.deliver()
    }
    const outcome = await stage.main.operations.why(
      { kind: 'build-number', number: ref.buildId, project: null },
      BUILDS,
    )
    expect(outcome).toMatchObject({ kind: 'why', more: 2, build: { attempt: 11 } })
    const decisions = outcome.kind === 'why' ? outcome.decisions : []
    expect(decisions).toHaveLength(DECISIONS_MAX)
    expect(decisions.at(-1)!.at).toBeGreaterThan(decisions[0]!.at)
  })
})
