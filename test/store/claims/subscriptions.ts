import { expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import type { StoredSubscription, NewSubscription } from '../../../src/store/records.ts'
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

/** #builds follows acme/web by the project's own rules, by default. */
const wanted = (change: Partial<NewSubscription> = {}): NewSubscription => ({
  channel: BUILDS,
  follows: WEB,
  rules: null,
  quiet: false,
  mention: 'committer',
  ...change,
})

const keep = (store: Store, change: Partial<NewSubscription> = {}, user = ADA, at = T0) =>
  store.write((tx) => tx.saveSubscription(wanted(change), { user, at }))

const rulesOf = (subscriptions: readonly StoredSubscription[]) => subscriptions.map(({ rules }) => rules)

/** Subscriptions made in Slack: one in each slot of a channel. */
export function subscriptionClaims(places: () => Places): void {
  test('there are no subscriptions at the beginning', async () => {
    await using place = await places().open()
    expect(await place.store.read.subscriptions()).toEqual([])
    expect(await place.store.read.subscriptionsOf(BUILDS)).toEqual([])
  })

  test('a subscription that an earlier version left without a slot is replaced like any other', async () => {
    await using place = await places().open()
    await keep(place.store)
    await place.sql('update subscription set slot = null')
    await keep(place.store, { quiet: true })
    expect(await place.store.read.subscriptionsOf(BUILDS)).toMatchObject([{ quiet: true }])
  })

  test('a subscription is read back unchanged, with its creator and time', async () => {
    await using place = await places().open()
    const remind = { afterMs: HOUR, fromHour: 22, toHour: 6, days: 'daily', zone: 'Europe/Berlin' } as const
    const whole = wanted({ rules: [onMain, onReleases], quiet: true, mention: 'nobody', details: 'names', remind })
    const { saved, was } = await place.store.write((tx) => tx.saveSubscription(whole, { user: ADA, at: T0 }))
    const made = { source: 'slack', createdBy: ADA, createdAt: T0, changedBy: null, changedAt: null }
    expect(was).toBeNull()
    expect(saved).toEqual({ ...whole, ...made, id: expect.stringMatching(/^\d+$/) })
    expect(await place.store.read.subscriptions()).toEqual([saved])
  })

  test('subscriptions come in the order of their creation, of one channel or all', async () => {
    await using place = await places().open()
    const all = { what: 'all' } as const
    const first = await keep(place.store, { channel: RELEASES, follows: all })
    const second = await keep(place.store)
    const third = await keep(place.store, { channel: RELEASES })
    const { read } = place.store
    expect(await read.subscriptions()).toEqual([first.saved, second.saved, third.saved])
    expect(await read.subscriptionsOf(RELEASES)).toEqual([first.saved, third.saved])
    expect(await read.subscriptionsOf(BUILDS)).toEqual([second.saved])
  })

  test('a new subscription in the same slot replaces the old one, and keeps its id and creator', async () => {
    await using place = await places().open()
    const first = await keep(place.store, { rules: [onMain] })
    const events = ['started']
    const second = await keep(place.store, { rules: [{ ...onMain, events }], quiet: true }, GRACE, T0 + HOUR)
    expect(second.was).toEqual(first.saved)
    const changed = { rules: [{ ...onMain, events }], quiet: true, changedBy: GRACE, changedAt: T0 + HOUR }
    expect(second.saved).toEqual({ ...first.saved, ...changed })
    expect(await place.store.read.subscriptions()).toEqual([second.saved])
    expect((await keep(place.store, { rules: [onMain] })).was).toEqual(second.saved)
  })

  test('a project that was renamed keeps its subscription', async () => {
    await using place = await places().open()
    await keep(place.store)
    const { was } = await keep(place.store, { follows: { ...WEB, name: 'acme/site' } })
    expect(was?.follows).toEqual(WEB)
    expect(await place.store.read.subscriptions()).toMatchObject([{ follows: { name: 'acme/site', uuid: WEB_UUID } }])
  })

  test('other branches, projects and channels have their own slots', async () => {
    await using place = await places().open()
    const others: Partial<NewSubscription>[] = [
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

  test('the longest patterns that people may type have different slots, in any script', async () => {
    await using place = await places().open()
    const long = (end: string): ChannelRule => ({ ...onMain, branch: 'ロ'.repeat(999) + end })
    for (const end of ['グ', 'イ', '\u0000'])
      expect((await keep(place.store, { rules: [long(end)] })).was, end).toBeNull()
    expect(rulesOf(await place.store.read.subscriptions())).toEqual([[long('グ')], [long('イ')], [long('\u0000')]])
  })

  test('a removed subscription is returned once; the others stay', async () => {
    await using place = await places().open()
    const { saved } = await keep(place.store)
    const other = await keep(place.store, { channel: RELEASES })
    expect(await place.store.write((tx) => tx.removeSubscription(saved.id))).toEqual(saved)
    expect(await place.store.write((tx) => tx.removeSubscription(saved.id))).toBeNull()
    expect(await place.store.read.subscriptions()).toEqual([other.saved])
  })

  test('ids are not reused, so that the button of a removed subscription removes no other', async () => {
    await using place = await places().open()
    const { saved } = await keep(place.store)
    await place.store.write((tx) => tx.removeSubscription(saved.id))
    await keep(place.store)
    expect(await place.store.write((tx) => tx.removeSubscription(saved.id))).toBeNull()
    expect(await place.store.read.subscriptions()).toHaveLength(1)
  })

  test.each(['', 'none', '-1', '1.5', '9'.repeat(30), "1' or '1"])('the id %j does not exist', async (id) => {
    await using place = await places().open()
    await keep(place.store)
    expect(await place.store.write((tx) => tx.removeSubscription(id))).toBeNull()
    expect(await place.store.read.subscriptions()).toHaveLength(1)
  })

  test('a subscription of a write that fails does not exist', async () => {
    await using place = await places().open()
    const failing = place.store.write(async (tx) => {
      await tx.saveSubscription(wanted(), { user: ADA, at: T0 })
      throw new Error('Ada changed her mind')
    })
    await expect(failing).rejects.toThrow('changed her mind')
    expect(await place.store.read.subscriptions()).toEqual([])
  })
}
