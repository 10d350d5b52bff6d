import { describe, expect, it } from 'vitest'
import { watchRules } from '../../src/demo/rules-watch.ts'
import { pushed, projectNamed, startCi, v2 } from '../../../sandbox-ci/test/support.ts'

const NARROW = [{ notifier: 'slack', build_statuses: ['failed'], options: { key: 'k' } }]

/** A watch over this CI, with a clock that somebody turns. */
function openWatch(ci: Awaited<ReturnType<typeof startCi>>) {
  let nowMs = 1_000
  const look = watchRules(ci, { now: () => nowMs, sleep: () => Promise.resolve() })
  return {
    uncounted: () => look().uncounted,
    read: () => look().read,
    turn: (ms: number) => void (nowMs += ms),
  }
}

describe('a change of the rules', () => {
  it('leaves what runs meanwhile out of the count, until the bot has read them', async () => {
    const ci = await startCi()
    const { uncounted } = openWatch(ci)
    const before = pushed(ci, { outcome: 'none' })
    const ended = pushed(ci, { outcome: 'none' })
    const other = pushed(ci, { outcome: 'none' }, 'acme/api')
    ci.finish(ended.uuid, 'success')
    expect([...uncounted()]).toEqual([])
    ci.setRules('acme/web', NARROW)
    uncounted()
    const unread = pushed(ci, { outcome: 'none' })
    ci.finish(unread.uuid, 'success')
    expect([...uncounted()]).toEqual([before.id, unread.id])
    ci.finish(before.uuid, 'error')
    await v2(ci, 'GET', '/projects')
    uncounted()
    const after = pushed(ci, { outcome: 'none' })
    expect([...uncounted()]).toEqual([before.id, unread.id])
    expect([after.id, other.id].some((id) => uncounted().has(id))).toBe(false)
  })

  it('is named until the bot has read it, with the time until when it does', async () => {
    const ci = await startCi()
    const { read, turn } = openWatch(ci)
    await v2(ci, 'GET', '/projects')
    expect(read()).toEqual({ unread: [], dueAt: 300_000, onListFrom: 61_000 })
    turn(30_000)
    ci.setRules('acme/web', NARROW)
    expect(read()).toEqual({ unread: ['acme/web'], dueAt: 300_000, onListFrom: 61_000 })
    turn(70_000)
    await v2(ci, 'GET', '/projects')
    expect(read()).toEqual({ unread: [], dueAt: 300_000, onListFrom: 161_000 })
  })

  it('is none when only other notifiers change', async () => {
    const ci = await startCi()
    const { uncounted } = openWatch(ci)
    pushed(ci, { outcome: 'none' })
    uncounted()
    const rules = projectNamed(ci, 'acme/web').notification_rules
    ci.setRules(
      'acme/web',
      rules.filter(({ notifier }) => notifier !== 'email'),
    )
    expect([...uncounted()]).toEqual([])
  })
})
