import { expect, test } from 'vitest'
import { HOUR, T0 } from '../../support/facts.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, RELEASES, several } from '../given.ts'

/** People, subscriptions and jobs. */
export function peopleClaims(places: () => Places): void {
  test('a handle belongs to whoever claims it first', async () => {
    await using place = await places().open()
    const claim = (user: string) => place.store.write((tx) => tx.claimHandle('Ada', user, T0))
    expect(await place.store.read.personOf('ada')).toBeNull()
    expect(await claim('U0ADA')).toBe(true)
    expect(await claim('U0GRACE')).toBe(false)
    expect(await place.store.read.personOf('Ada')).toBe('U0ADA')
  })

  test('a handle is the same in capitals and small letters, also beyond ASCII', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.claimHandle('ÅSA', 'U0ASA', T0))
    expect(await place.store.read.personOf('åsa')).toBe('U0ASA')
    expect(await place.store.write((tx) => tx.claimHandle('åSa', 'U0GRACE', T0))).toBe(false)
    expect(await place.store.read.personOf('asa')).toBeNull()
  })

  test('one of many who claim a handle at once has it, and only that one is told so', async () => {
    await using place = await places().open()
    const claims = await Promise.all(several(8, (i) => place.store.write((tx) => tx.claimHandle('grace', `U${i}`, T0))))
    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await place.store.read.personOf('grace')).toBe(`U${claims.indexOf(true)}`)
  })

  test('a person may have several handles', async () => {
    await using place = await places().open()
    for (const handle of ['ada', 'ada@acme.example'])
      expect(await place.store.write((tx) => tx.claimHandle(handle, 'U0ADA', T0))).toBe(true)
    expect(await place.store.read.personOf('ada@acme.example')).toBe('U0ADA')
  })

  test('there are no subscriptions before somebody makes one', async () => {
    await using place = await places().open()
    expect(await place.store.read.subscriptions()).toEqual([])
  })

  test('subscriptions are read whole, in the order they were made', async () => {
    await using place = await places().open()
    const subscribe = (channel: string, rest: string) =>
      place.sql(`insert into subscription (channel, follows, rules, quiet, mention, created_by, created_at)
        values ('${channel}', ${rest}, 'U0ADA', ${T0})`)
    await subscribe(RELEASES, `'{"what":"all"}', null, 0, 'nobody'`)
    const rules = [{ branch: 'release/*', branchMatch: 'wildcard', events: ['failed', 'recovered'] }]
    await subscribe(BUILDS, `'{"what":"project","name":"acme/web"}', '${JSON.stringify(rules)}', 1, 'committer'`)
    expect(await place.store.read.subscriptions()).toEqual([
      { channel: RELEASES, follows: { what: 'all' }, rules: null, quiet: false, mention: 'nobody', source: 'slack' },
      {
        channel: BUILDS,
        follows: { what: 'project', name: 'acme/web' },
        rules,
        quiet: true,
        mention: 'committer',
        source: 'slack',
      },
    ])
  })

  test('a job was last done when it was last said to be, and never before that', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await read.lastDoneAt('sweep')).toBeNull()
    await write((tx) => tx.setLastDoneAt('sweep', T0))
    await write((tx) => tx.setLastDoneAt('sweep', T0 + HOUR))
    expect(await read.lastDoneAt('sweep')).toBe(T0 + HOUR)
    expect(await read.lastDoneAt('digest')).toBeNull()
  })
}
