import { describe, expect, it } from 'vitest'
import type { SandboxCi } from '../src/server.ts'
import { BUILD_STATUSES } from '../src/state.ts'
import { pushed, reached, startCi, startReceiver, statusOf, v2 } from './support.ts'

const FINALS = BUILD_STATUSES.filter((status) => status !== 'initiated' && status !== 'waiting')

describe('a build', () => {
  it('goes from initiated to success, and every step is delivered in order', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url })
    const build = pushed(ci, { ms: 1 })
    await reached(ci, build.uuid, 'success')
    await ci.settle()
    expect(hook.statuses()).toEqual(['initiated', 'success'])
    const [run] = ci.state().builds[0]!.runs
    expect(Date.parse(run!.finishedAt!)).toBeGreaterThanOrEqual(Date.parse(run!.startedAt!))
  })

  it('waits in the queue first if its push says so', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url })
    await reached(ci, pushed(ci, { waitingMs: 1, ms: 1, outcome: 'error' }).uuid, 'error')
    await ci.settle()
    expect(hook.statuses()).toEqual(['waiting', 'initiated', 'error'])
  })

  it('waits until it is approved', async () => {
    const ci = await startCi()
    const build = pushed(ci, { needsApproval: true, ms: 0 })
    expect(ci.finish('none', 'error').kind).toBe('no-build')
    expect(statusOf(ci, build.uuid)).toBe('waiting')
    expect(ci.approve(build.uuid)).toMatchObject({ kind: 'changed', build: { status: 'initiated' } })
    await reached(ci, build.uuid, 'success')
    expect(ci.approve(build.uuid).kind).toBe('not-possible')
  })

  it('can be stopped while it is waiting', async () => {
    const ci = await startCi()
    const build = pushed(ci, { needsApproval: true })
    const { uuid } = ci.state().projects[0]!
    expect((await v2(ci, 'POST', `/projects/${uuid}/builds/${build.uuid}/stop`)).status).toBe(202)
    await reached(ci, build.uuid, 'stopped')
  })

  it.each(FINALS)('can be ended as %s by a call, once', async (status) => {
    const ci = await startCi()
    const build = pushed(ci, { ms: 60_000 })
    expect(ci.finish(build.id, status)).toMatchObject({ kind: 'changed', build: { status } })
    expect(ci.finish(build.id, 'success').kind).toBe('not-possible')
  })

  it.each(['ignored', 'blocked'] as const)('is %s at once, without a start', async (outcome) => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url })
    const build = pushed(ci, { outcome })
    await ci.settle()
    expect(hook.statuses()).toEqual([outcome])
    expect(ci.state().builds.find(({ uuid }) => uuid === build.uuid)!.runs[0]!.startedAt).toBeNull()
  })

  it.each([
    [{ overLimit: true }, 'ignored'],
    [{ blocked: true }, 'blocked'],
  ])('with the account switch %j is %s, also when it is restarted', async (switches, status) => {
    const ci = await startCi()
    const before = pushed(ci, { outcome: 'none' })
    ci.finish(before.uuid, 'error')
    ci.setSwitches(switches)
    expect(pushed(ci).status).toBe(status)
    expect(ci.restart(before.uuid)).toMatchObject({ build: { status } })
  })

  it('is not made if the branch filter leaves the branch out, or for an unknown project', async () => {
    const ci = await startCi()
    const { uuid } = ci.state().projects[0]!
    await v2(ci, 'PUT', `/projects/${uuid}`, { type: 'basic', branch_match: 'exclude', branches: ['^wip/.*$'] })
    expect(ci.push('acme/web', { branch: 'wip/x' })).toEqual({ kind: 'branch-not-built' })
    expect(ci.push('acme/web', { branch: 'main' }).kind).toBe('build')
    expect(ci.push('acme/none')).toEqual({ kind: 'no-project' })
  })

  it('takes its time multiplied by timeScale', async () => {
    const ci = await startCi({ switches: { timeScale: 0 } })
    await reached(ci, pushed(ci, { ms: 3_600_000, waitingMs: 3_600_000 }).uuid, 'success')
  })

  it('does not go on after a reset', async () => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url })
    pushed(ci, { ms: 300 })
    await ci.settle()
    ci.reset()
    expect([ci.state().builds, ci.deliveries()]).toEqual([[], []])
    const next = pushed(ci, { ms: 500, branch: 'later' })
    await reached(ci, next.uuid, 'success')
    await ci.settle()
    expect(hook.statuses()).toEqual(['initiated', 'initiated', 'success'])
  })
})

describe('recovered', () => {
  const finals = (...statuses: ('success' | 'error' | 'stopped' | 'infrastructure_failure')[]) => statuses

  it.each([
    [finals('error', 'success'), ['success']],
    [finals('infrastructure_failure', 'success'), ['success']],
    [finals('error', 'stopped', 'success'), ['success']],
    [finals('error', 'success', 'success'), ['success']],
    [finals('success', 'success'), []],
    [finals('success'), []],
    [finals('stopped', 'success'), []],
  ])('after %j makes a rule for recovered alone send %j', async (statuses, expected) => {
    const hook = await startReceiver()
    const ci = await startCi({ webhookUrl: hook.url })
    const rule = { notifier: 'webhook', build_statuses: ['recovered'], options: { webhook: { url: hook.url } } }
    await v2(ci, 'PUT', `/projects/${ci.state().projects[0]!.uuid}`, { type: 'basic', notification_rules: [rule] })
    for (const status of statuses) ci.finish(pushed(ci, { outcome: 'none' }).uuid, status)
    await ci.settle()
    expect(hook.statuses()).toEqual(expected)
  })

  const recoveredOnly = async (ci: SandboxCi) => {
    const options = { webhook: { url: 'http://127.0.0.1:9/' } }
    const rule = { notifier: 'webhook', build_statuses: ['recovered'], options }
    await v2(ci, 'PUT', `/projects/${ci.state().projects[0]!.uuid}`, { type: 'basic', notification_rules: [rule] })
  }
  const silent = { status: 'success', verdict: { kind: 'silent', reason: 'event-not-selected' } }

  it.each([
    ['on another branch', { branch: 'dev' }, 'acme/web'],
    ['in another project', {}, 'acme/api'],
  ])('is not sent after a failure %s', async (_, push, project) => {
    const ci = await startCi()
    await recoveredOnly(ci)
    ci.finish(pushed(ci, { outcome: 'none' }).uuid, 'success')
    ci.finish(pushed(ci, { outcome: 'none', ...push }, project).uuid, 'error')
    ci.finish(pushed(ci, { outcome: 'none' }).uuid, 'success')
    expect(ci.decisions().at(-1)).toMatchObject(silent)
  })

  it('is not sent if an older build passes after a newer one failed', async () => {
    const ci = await startCi()
    await recoveredOnly(ci)
    const older = pushed(ci, { outcome: 'none' })
    ci.finish(pushed(ci, { outcome: 'none' }).uuid, 'error')
    ci.finish(older.uuid, 'success')
    expect(ci.decisions().at(-1)).toMatchObject(silent)
  })

  it('is sent if a restarted build passes after it failed', async () => {
    const ci = await startCi({ switches: { restartOutcome: 'none' } })
    await recoveredOnly(ci)
    const build = pushed(ci, { outcome: 'none' })
    ci.finish(build.uuid, 'error')
    ci.restart(build.uuid)
    ci.finish(build.uuid, 'success')
    expect(ci.decisions().at(-1)).toMatchObject({ status: 'success', verdict: { kind: 'send', event: 'recovered' } })
  })
})

describe('the same seed', () => {
  it('gives the same ids and commits, another seed gives others', async () => {
    const story = async (seed: number) => {
      const ci = await startCi({ seed })
      return [ci.address().organizationUuid, pushed(ci, { outcome: 'none' }).commitId]
    }
    expect(await story(7)).toEqual(await story(7))
    expect(await story(7)).not.toEqual(await story(8))
  })
})
