import { expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { ChannelRule } from '../../../src/domain/rule.ts'
import type { KeptSubscription, WantedSubscription } from '../../../src/store/records.ts'
import type { Store } from '../../../src/store/store.ts'
import { HOUR, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, RELEASES } from '../given.ts'

const ADA = 'U0ADA00001'
const GRACE = 'U0GRACE001'
const WEB_UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const WEB = { what: 'project', name: 'acme/web', uuid: WEB_UUID, projectId: '41' } as const

const onMain: ChannelRule = { branch: 'main', branchMatch: 'exact', events: ['failed', 'recovered'] }
const onReleases: ChannelRule = { branch: 'release/*', branchMatch: 'wildcard', events: 'every' }

/** #builds follows acme/web by the project's own rules, unless said otherwise. */
const wanted = (change: Partial<WantedSubscription> = {}): WantedSubscription => ({
  channel: BUILDS,
  follows: WEB,
  rules: null,
  quiet: false,
  mention: 'committer',
  ...change,
})

const keep = (store: Store, change: Partial<WantedSubscription> = {}, user = ADA, at = T0) =>
  store.write((tx) => tx.keepSubscription(wanted(change), { user, at }))

const rulesOf = (subscriptions: readonly KeptSubscription[]) => subscriptions.map(({ rules }) => rules)

/** What channels follow, as it was said in Slack: one subscription stands in each slot of a channel. */
export function subscriptionClaims(places: () => Places): void {
  test('there are no subscriptions before somebody makes one', async () => {
    await using place = await places().open()
    expect(await place.store.read.subscriptions()).toEqual([])
    expect(await place.store.read.subscriptionsOf(BUILDS)).toEqual([])
  })

  test('a subscription is read back whole, with who made it and when', async () => {
    await using place = await places().open()
    const remind = { afterMs: HOUR, fromHour: 22, toHour: 6, days: 'daily', zone: 'Europe/Berlin' } as const
    const whole = wanted({ rules: [onMain, onReleases], quiet: true, mention: 'nobody', remind })
    const { kept, was } = await place.store.write((tx) => tx.keepSubscription(whole, { user: ADA, at: T0 }))
    const made = { source: 'slack', createdBy: ADA, createdAt: T0, changedBy: null, changedAt: null }
    expect(was).toBeNull()
    expect(kept).toEqual({ ...whole, ...made, id: expect.stringMatching(/^\d+$/) })
    expect(await place.store.read.subscriptions()).toEqual([kept])
  })

  test('subscriptions come in the order they were made, of one channel or of all', async () => {
    await using place = await places().open()
    const all = { what: 'all' } as const
    const first = await keep(place.store, { channel: RELEASES, follows: all })
    const second = await keep(place.store)
    const third = await keep(place.store, { channel: RELEASES })
    const { read } = place.store
    expect(await read.subscriptions()).toEqual([first.kept, second.kept, third.kept])
    expect(await read.subscriptionsOf(RELEASES)).toEqual([first.kept, third.kept])
    expect(await read.subscriptionsOf(BUILDS)).toEqual([second.kept])
  })

  test('whoever subscribes again puts theirs in the place of what stood there, which keeps its id and its maker', async () => {
    await using place = await places().open()
    const first = await keep(place.store, { rules: [onMain] })
    const events = ['started']
    const second = await keep(place.store, { rules: [{ ...onMain, events }], quiet: true }, GRACE, T0 + HOUR)
    expect(second.was).toEqual(first.kept)
    const changed = { rules: [{ ...onMain, events }], quiet: true, changedBy: GRACE, changedAt: T0 + HOUR }
    expect(second.kept).toEqual({ ...first.kept, ...changed })
    expect(await place.store.read.subscriptions()).toEqual([second.kept])
    expect((await keep(place.store, { rules: [onMain] })).was).toEqual(second.kept)
  })

  test('a project that was renamed has the subscription it had', async () => {
    await using place = await places().open()
    await keep(place.store)
    const { was } = await keep(place.store, { follows: { ...WEB, name: 'acme/site' } })
    expect(was?.follows).toEqual(WEB)
    expect(await place.store.read.subscriptions()).toMatchObject([{ follows: { name: 'acme/site', uuid: WEB_UUID } }])
  })

  test('other branches, other projects and other channels have places of their own', async () => {
    await using place = await places().open()
    const others: Partial<WantedSubscription>[] = [
      { rules: [onMain] },
      { rules: [onReleases] },
      { follows: { ...WEB, uuid: toUuid('22222222-bbbb-0000-0000-000000000002') } },
      { follows: { what: 'all' } },
      { channel: RELEASES },
    ]
    await keep(place.store)
    for (const other of others) expect((await keep(place.store, other)).was).toBeNull()
    expect(await place.store.read.subscriptions()).toHaveLength(others.length + 1)
  })

  test('patterns as long as people may type them stand beside each other, of whatever letters', async () => {
    await using place = await places().open()
    const long = (end: string): ChannelRule => ({ ...onMain, branch: 'ロ'.repeat(999) + end })
    for (const end of ['グ', 'イ', '\u0000'])
      expect((await keep(place.store, { rules: [long(end)] })).was, end).toBeNull()
    expect(rulesOf(await place.store.read.subscriptions())).toEqual([[long('グ')], [long('イ')], [long('\u0000')]])
  })

  test('what is removed is told once and is gone; the others stay', async () => {
    await using place = await places().open()
    const { kept } = await keep(place.store)
    const other = await keep(place.store, { channel: RELEASES })
    expect(await place.store.write((tx) => tx.removeSubscription(kept.id))).toEqual(kept)
    expect(await place.store.write((tx) => tx.removeSubscription(kept.id))).toBeNull()
    expect(await place.store.read.subscriptions()).toEqual([other.kept])
  })

  test('an id is not given again: a button of what was removed removes nothing else', async () => {
    await using place = await places().open()
    const { kept } = await keep(place.store)
    await place.store.write((tx) => tx.removeSubscription(kept.id))
    await keep(place.store)
    expect(await place.store.write((tx) => tx.removeSubscription(kept.id))).toBeNull()
    expect(await place.store.read.subscriptions()).toHaveLength(1)
  })

  test.each(['', 'none', '-1', '1.5', '9'.repeat(30), "1' or '1"])('the id %j is nobody’s', async (id) => {
    await using place = await places().open()
    await keep(place.store)
    expect(await place.store.write((tx) => tx.removeSubscription(id))).toBeNull()
    expect(await place.store.read.subscriptions()).toHaveLength(1)
  })

  test('one that is made and taken back in one write never was', async () => {
    await using place = await places().open()
    const failing = place.store.write(async (tx) => {
      await tx.keepSubscription(wanted(), { user: ADA, at: T0 })
      throw new Error('Ada changed her mind')
    })
    await expect(failing).rejects.toThrow('changed her mind')
    expect(await place.store.read.subscriptions()).toEqual([])
  })
}
