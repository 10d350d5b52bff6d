import { describe, expect, it } from 'vitest'
import { watchRules } from '../../../src/tools/demo/rules-watch.ts'
import { pushed, projectNamed, startCi, v2 } from '../../sandbox/ci/support.ts'

const NARROW = [{ notifier: 'slack', build_statuses: ['failed'], options: { key: 'k' } }]

describe('a change of the rules', () => {
  it('leaves what runs meanwhile out of the count, until the bot has read them', async () => {
    const ci = await startCi()
    const uncounted = watchRules(ci)
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

  it('is none when only other notifiers change', async () => {
    const ci = await startCi()
    const uncounted = watchRules(ci)
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
