import { expect, test } from 'vitest'
import { HOUR, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { several } from '../given.ts'

const ADA = 'U0ADA00001'
const GRACE = 'U0GRACE001'

/** Which Slack user claimed which committer handle, and whether they want mentions. */
export function peopleClaims(places: () => Places): void {
  test('a handle belongs to the first person who claims it', async () => {
    await using place = await places().open()
    const claim = (user: string) => place.store.write((tx) => tx.claimHandle('Ada', user, T0))
    expect(await place.store.read.personOf('ada')).toBeNull()
    expect(await claim('U0ADA')).toBe(true)
    expect(await claim('U0GRACE')).toBe(false)
    expect(await place.store.read.personOf('Ada')).toBe('U0ADA')
  })

  test('a handle is compared without case, even beyond ASCII', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.claimHandle('ÅSA', 'U0ASA', T0))
    expect(await place.store.read.personOf('åsa')).toBe('U0ASA')
    expect(await place.store.write((tx) => tx.claimHandle('åSa', 'U0GRACE', T0))).toBe(false)
    expect(await place.store.read.personOf('asa')).toBeNull()
  })

  test('one of many concurrent claims of a handle succeeds, and only that one is confirmed', async () => {
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

  test('blanks around a handle do not matter', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.claimHandle(' Ada ', ADA, T0))
    expect(await place.store.read.personOf('ada')).toBe(ADA)
    expect(await place.store.read.personOf('\tADA')).toBe(ADA)
    expect(await place.store.read.handlesOf(ADA)).toEqual([{ handle: 'ada', at: T0 }])
  })

  test('a claim has its user and time; an unclaimed handle has none', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.claimHandle('Ada', ADA, T0))
    await place.store.write((tx) => tx.claimHandle('Ada', GRACE, T0 + HOUR))
    expect(await place.store.read.claimOf('ADA')).toEqual({ user: ADA, at: T0, inactiveAt: null })
    expect(await place.store.write((tx) => tx.claimOf('ada'))).toEqual({ user: ADA, at: T0, inactiveAt: null })
    expect(await place.store.read.claimOf('grace')).toBeNull()
  })

  test('the handles of a person come oldest first, without those of others', async () => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      await tx.claimHandle('ada@acme.example', ADA, T0 + HOUR)
      await tx.claimHandle('ada', ADA, T0)
      await tx.claimHandle('grace', GRACE, T0)
    })
    expect(await place.store.read.handlesOf(ADA)).toEqual([
      { handle: 'ada', at: T0 },
      { handle: 'ada@acme.example', at: T0 + HOUR },
    ])
    expect(await place.store.read.handlesOf('U0NOBODY01')).toEqual([])
  })

  test('a handle that is given to a person is theirs, whoever had it before', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    expect(await write((tx) => tx.giveHandle('Ada', GRACE, T0))).toBeNull()
    expect(await read.personOf('ada')).toBe(GRACE)
    expect(await write((tx) => tx.giveHandle('ADA', ADA, T0 + HOUR))).toBe(GRACE)
    expect(await read.claimOf('ada')).toEqual({ user: ADA, at: T0 + HOUR, inactiveAt: null })
    expect(await read.handlesOf(GRACE)).toEqual([])
  })

  test('a released handle is free, and its previous user is returned once', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.claimHandle('ada', ADA, T0))
    await write((tx) => tx.claimHandle('ada@acme.example', ADA, T0))
    expect(await write((tx) => tx.releaseHandle('Ada'))).toBe(ADA)
    expect(await write((tx) => tx.releaseHandle('Ada'))).toBeNull()
    expect(await read.handlesOf(ADA)).toEqual([{ handle: 'ada@acme.example', at: T0 }])
    expect(await write((tx) => tx.claimHandle('ada', GRACE, T0))).toBe(true)
  })

  test('a person who wants no mentions gets none under any handle, until they want them again', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.claimHandle('ada', ADA, T0))
    await write((tx) => tx.claimHandle('grace', GRACE, T0))
    expect(await read.mentionsOf(ADA)).toBe(true)
    await write((tx) => tx.setMentions(ADA, false))
    await write((tx) => tx.claimHandle('ada@acme.example', ADA, T0))
    expect([await read.mentionsOf(ADA), await read.mentionsOf(GRACE)]).toEqual([false, true])
    expect([await read.personOf('ada'), await read.personOf('ada@acme.example')]).toEqual([null, null])
    expect([await read.isClaimed(' ADA'), await read.isClaimed('lin')]).toEqual([true, false])
    expect(await read.personOf('grace')).toBe(GRACE)
    expect(await read.claimOf('ada')).toMatchObject({ user: ADA })
    await write((tx) => tx.setMentions(ADA, true))
    expect([await read.mentionsOf(ADA), await read.personOf('ada')]).toEqual([true, ADA])
  })

  test('a person who left gets no mentions and keeps the handle; they get mentions again when they return', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.claimHandle('ada', ADA, T0))
    await write((tx) => tx.claimHandle('grace', GRACE, T0))
    await write((tx) => tx.setInactive(ADA, T0 + HOUR))
    await write((tx) => tx.setInactive(ADA, T0 + 2 * HOUR))
    expect(await read.personOf('ada')).toBeNull()
    expect(await read.isClaimed('ada')).toBe(true)
    expect(await read.personOf('grace')).toBe(GRACE)
    expect(await read.claimOf('ada')).toEqual({ user: ADA, at: T0, inactiveAt: T0 + HOUR })
    expect(await write((tx) => tx.claimHandle('ada', GRACE, T0))).toBe(false)
    await write((tx) => tx.setInactive(ADA, null))
    expect(await read.personOf('ada')).toBe(ADA)
  })

  test('the handle of a person who left mentions its new user once it is given away', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.claimHandle('ada', ADA, T0))
    await write((tx) => tx.setInactive(ADA, T0))
    await write((tx) => tx.giveHandle('ada', GRACE, T0))
    expect(await read.personOf('ada')).toBe(GRACE)
  })

  test('people with handles are checked now and then: the longest unchecked first, each once, up to a limit', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    for (const user of ['U0LIN00001', GRACE, ADA])
      for (const n of [1, 2]) await write((tx) => tx.claimHandle(`${user} ${n}`, user, T0))
    await write((tx) => tx.setChecked(ADA, T0 + HOUR))
    await write((tx) => tx.setChecked(GRACE, T0))
    expect(await read.claimantsToCheck(T0 + 2 * HOUR, 10)).toEqual(['U0LIN00001', GRACE, ADA])
    expect(await read.claimantsToCheck(T0 + 2 * HOUR, 2)).toEqual(['U0LIN00001', GRACE])
    expect(await read.claimantsToCheck(T0 + HOUR, 10)).toEqual(['U0LIN00001', GRACE])
    expect(await read.claimantsToCheck(T0, 10)).toEqual(['U0LIN00001'])
    await write((tx) => tx.giveHandle('ada', ADA, T0 + HOUR))
    expect(await read.claimantsToCheck(T0, 10)).toEqual([ADA, 'U0LIN00001'])
  })
}
