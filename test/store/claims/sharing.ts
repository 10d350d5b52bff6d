import { expect, test, vi } from 'vitest'
import { LEASE_MS } from '../../../src/alerts/send/lease.ts'
import { idOrder, toUuid } from '../../../src/domain/ids.ts'
import { together } from '../../../src/lib/async.ts'
import type { KnownBuild } from '../../../src/store/records.ts'
import type { OnNews } from '../../../src/store/store.ts'
import { buildId, projectId, request, T0, WEB } from '../../support/build-events.ts'
import type { Place, Places } from '../../support/stores.ts'
import { CARD, claimed, decided, dueKeys, hear, REVISION, projectRequest, several } from '../given.ts'

const ROUNDS = 25

/** More than a column of type `integer` holds. */
const BEYOND_INTEGER = 2 ** 40

const WAIT = { timeout: 10_000 }

const RUN = { projectId: projectId(WEB), buildId: buildId('512'), attempt: 1 }

const BUILD: KnownBuild = {
  ...RUN,
  buildOrder: idOrder('512'),
  revisionKey: REVISION,
  cardNumber: 1,
  branch: 'main',
  status: 'started',
  rawStatus: 'initiated',
  at: T0,
  buildUuid: null,
  committer: null,
}

/** Does the same in both stores, in many rounds, all at once. */
const both = <T>(place: Place, act: (store: Place['store'], i: number) => Promise<T>): Promise<T[]> => {
  const stores = [place.store, place.another()]
  return Promise.all(several(ROUNDS, (i) => stores.map((store) => act(store, i))).flat())
}

/** Two processes on one database that write the same keys at the same time. */
export function sharingClaims(places: () => Places): void {
  test('the store knows that its database is shared', async () => {
    await using place = await places().open()
    expect(place.store.shared).toBe(true)
  })

  test('a notification reaches the listening process, even after its connection was lost', async () => {
    await using place = await places().open()
    const listener = vi.fn<OnNews>()
    const stop = place.store.listen(listener)
    const other = place.another()
    const hears = (times: number) =>
      vi.waitFor(() => expect(listener.mock.calls.flat()).toEqual(Array(times).fill('anything')), WAIT)
    // The listener is called once at the start, since notifications may have come before.
    await hears(1)
    await other.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await hears(2)
    await other.write((tx) => tx.setLastDoneAt('job', T0))
    await place.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'",
    )
    await hears(3)
    await other.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    await hears(4)
    await stop()
  })

  test('a paused process with two transactions, one waiting for the other, does not block the lease for its whole time', async () => {
    await using place = await places().open()
    const lease = { name: 'sender', heldBy: 'paused', heldUntil: T0 }
    await place.store.write((tx) => tx.takeLease(lease, { now: T0, longestMs: LEASE_MS }))
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const awake = Promise.withResolvers<void>()
    const paused = several(2, async () =>
      place.store.write(async (tx) => {
        expect(await tx.holdsLease(lease)).toBe(true)
        await tx.wakeRevision(REVISION, T0, 1)
        await awake.promise
      }),
    )
    const ended = Promise.allSettled(paused)
    await vi.waitFor(async () =>
      expect(await place.sql('select count(*)::int as n from pg_locks where not granted')).not.toEqual([{ n: 0 }]),
    )
    const beganAt = performance.now()
    const taken = { ...lease, heldBy: 'other' }
    expect(await place.another().write((tx) => tx.takeLease(taken, { now: T0, longestMs: LEASE_MS }))).toBe(true)
    expect(performance.now() - beganAt).toBeLessThan(LEASE_MS)
    awake.resolve()
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  test('if both wake the same revision, there is one mark, whose stamp counts every wake', async () => {
    await using place = await places().open()
    await both(place, (store, i) => store.write((tx) => tx.wakeRevision(REVISION, T0 - i, i % 3)))
    expect(
      await place.sql('select priority, cast(due_at - @T0 as integer) as due from intake'.replace('@T0', `${T0}`)),
    ).toEqual([{ priority: 0, due: 1 - ROUNDS }])
    expect(await dueKeys(place.store.read, T0, 10)).toEqual([REVISION])
    const mark = await place.store.read.ingestOf(REVISION)
    await place.store.write((tx) => tx.settleRevision(REVISION, mark!.stamp))
    expect(await place.store.read.ingestOf(REVISION)).toBeNull()
  })

  test("a wake between another process's read and settle is not lost", async () => {
    await using place = await places().open()
    const other = place.another()
    await place.store.write((tx) => tx.wakeRevision(REVISION, T0, 1))
    const wakes: Promise<void>[] = []
    await place.store.write(async (tx) => {
      const mark = await tx.ingestOf(REVISION)
      // The other process waits for the row that is being settled, and then wakes the revision again.
      wakes.push(other.write((theirs) => theirs.wakeRevision(REVISION, T0, 1)))
      await place.sql('select pg_sleep(0.05)')
      await tx.settleRevision(REVISION, mark!.stamp)
    })
    await Promise.all(wakes)
    expect(await place.store.read.ingestOf(REVISION)).not.toBeNull()
  })

  test('a write that fails makes its transaction fail, with its own error', async () => {
    await using place = await places().open()
    const twice = place.store.write(async (tx) => {
      await tx.insertMessage(claimed({ key: 'twice' }))
      await tx.insertMessage(claimed({ key: 'twice' }))
      return tx.messagesOf(CARD)
    })
    await expect(twice).rejects.toMatchObject({ code: '23505' })
    expect(await place.store.read.messagesOf(CARD)).toEqual([])
  })

  test('a read that fails says why, and not the writes that fail after it', async () => {
    await using place = await places().open()
    const beyond = place.store.write((tx) =>
      together([tx.eventsOfCard(REVISION, BEYOND_INTEGER), tx.insertMessage(claimed({ key: 'after' }))]),
    )
    await expect(beyond).rejects.toMatchObject({ code: '22003' })
    expect(await place.store.read.messagesOf(CARD)).toEqual([])
  })

  test('of statements that wait side by side, the first to fail says why, wherever it stands', async () => {
    await using place = await places().open()
    const beyond = place.store.write((tx) =>
      together([
        tx.cardsOf(CARD.subject).then(() => tx.messagesOf(CARD)),
        tx.eventsOfCard(REVISION, BEYOND_INTEGER),
        tx.insertMessage(claimed({ key: 'after' })),
      ]),
    )
    await expect(beyond).rejects.toMatchObject({ code: '22003' })
  })

  test('one process claims a slot, in every round', async () => {
    await using place = await places().open()
    const stores = [place.store, place.another()]
    for (const round of several(ROUNDS, (i) => i)) {
      const slot = `run:${round}.1`
      const claims = stores.map((store, i) =>
        store.write((tx) => tx.insertMessage(claimed({ key: `${round}-${i}`, slot }))),
      )
      const settled = await Promise.allSettled(claims)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
    expect(await place.store.read.messagesOf(CARD)).toHaveLength(ROUNDS)
  })

  test('the loser of a race for a claim can read the claim instead of failing', async () => {
    await using place = await places().open()
    const claims = await both(place, (store, i) =>
      store.write(async (tx) => {
        const slot = `run:${i}.1`
        if ((await tx.messagesOf(CARD)).some((message) => message.slot === slot)) return 'there'
        await tx.insertMessage(claimed({ key: `key-${i}-${Math.random()}`, slot }))
        return 'claimed'
      }),
    )
    expect(claims.filter((outcome) => outcome === 'claimed')).toHaveLength(ROUNDS)
  })

  test('of two processes with the same request one records it, and the other finds it', async () => {
    await using place = await places().open()
    const asks = await both(place, (store, i) => {
      const id = `request-${Math.random()}`
      return store.write(async (tx) => {
        const open = await tx.openRequest({ ...RUN, attempt: i + 1 }, 'restart')
        if (open) return 'met'
        await tx.insertRequest(request({ id, attempt: i + 1 }))
        return 'recorded'
      })
    })
    expect(asks.filter((outcome) => outcome === 'recorded')).toHaveLength(ROUNDS)
    expect(asks.filter((outcome) => outcome === 'met')).toHaveLength(ROUNDS)
    expect(await place.sql('select cast(count(*) as integer) as rows from request')).toEqual([{ rows: ROUNDS }])
  })

  test('one process at a time ingests a revision, even one without a mark', async () => {
    await using place = await places().open()
    const seen = await both(place, (store) =>
      store.write(async (tx) => {
        await tx.ingestOf(REVISION)
        const before = (await tx.build(WEB, '512'))?.attempt ?? 0
        await tx.saveBuild({ ...BUILD, attempt: before + 1 })
        return before
      }),
    )
    expect(seen.toSorted((a, b) => a - b)).toEqual(several(ROUNDS * 2, (i) => i))
  })

  test('cards, decisions, projects, channels and jobs that both write exist once', async () => {
    await using place = await places().open()
    const eventSeq = await hear(place.store)
    const uuid = toUuid('11111111-aaaa-0000-0000-000000000001')
    await both(place, (store, i) =>
      store.write(async (tx) => {
        await tx.ensureCard({ ...CARD, quiet: false, mention: true })
        await tx.saveDecision(decided({ eventSeq, decidedAt: T0 + i }))
        await tx.saveProject({
          uuid,
          name: 'acme/web',
          legacyId: '41',
          type: null,
          rules: [],
          readAt: T0 + i,
        })
        await tx.closeChannel({ channel: CARD.channel, code: 'is_archived', at: T0, retryAt: T0 + i })
        await tx.setLastDoneAt('job', T0 + i)
      }),
    )
    for (const table of ['card', 'decision', 'project', 'channel', 'job'])
      expect(await place.sql(`select cast(count(*) as integer) as rows from ${table}`)).toEqual([{ rows: 1 }])
  })

  test('repetitions counted by both are all counted', async () => {
    await using place = await places().open()
    const seq = await hear(place.store)
    await both(place, (store) => store.write((tx) => tx.countRepeat(seq)))
    expect(await place.sql('select repeats from fact')).toEqual([{ repeats: ROUNDS * 2 }])
  })

  test('one process gets a handle that both claim', async () => {
    await using place = await places().open()
    const claims = await both(place, (store) => store.write((tx) => tx.claimHandle('ada', 'U0ADA', T0)))
    expect(claims.filter(Boolean)).toHaveLength(1)
  })

  test('a subscription that both write exists once, and each write returns the one before', async () => {
    await using place = await places().open()
    const wanted = {
      channel: CARD.channel,
      follows: { what: 'all' },
      rules: null,
      quiet: false,
      mention: 'nobody',
    } as const
    const kept = await both(place, (store, i) =>
      store.write((tx) => tx.saveSubscription(wanted, { user: 'U0ADA00001', at: T0 + i })),
    )
    expect(kept.filter(({ was }) => was === null)).toHaveLength(1)
    expect(new Set(kept.map((one) => one.saved.id)).size).toBe(1)
    expect(await place.store.read.subscriptions()).toHaveLength(1)
  })

  test('of two processes that change the same project one records it, and the other finds that', async () => {
    await using place = await places().open()
    const asks = await both(place, (store, i) => {
      const projectUuid = toUuid(`11111111-aaaa-0000-0000-${String(i).padStart(12, '0')}`)
      const id = `request-${Math.random()}`
      return store.write(async (tx) => {
        if (await tx.openProjectRequest(projectUuid)) return 'met'
        await tx.insertRequest(projectRequest({ id, projectUuid }))
        return 'recorded'
      })
    })
    expect(asks.filter((outcome) => outcome === 'recorded')).toHaveLength(ROUNDS)
    expect(asks.filter((outcome) => outcome === 'met')).toHaveLength(ROUNDS)
  })

  test('one process marks a closing as told', async () => {
    await using place = await places().open()
    const closing = { channel: CARD.channel, closedAt: T0 }
    await place.store.write((tx) => tx.closeChannel({ ...closing, code: 'is_archived', at: T0, retryAt: T0 }))
    const told = await both(place, (store) => store.write((tx) => tx.markNotified(closing, T0)))
    expect(told.filter(Boolean)).toHaveLength(1)
  })

  test('if both give a handle away again and again, each previous user is returned exactly once', async () => {
    await using place = await places().open()
    const users = await both(place, (store, i) => {
      const user = `U${i}-${Math.random()}`
      return store.write((tx) => tx.giveHandle('ada', user, T0)).then((was) => ({ user, was }))
    })
    const last = await place.store.read.personOf('ada')
    const had = users.map(({ was }) => was)
    expect(had.filter((was) => was === null)).toHaveLength(1)
    expect([...had, last].filter((was) => was !== null).sort()).toEqual(users.map(({ user }) => user).sort())
  })

  test('a claim that is read in a write does not change until that write ends', async () => {
    await using place = await places().open()
    const other = place.another()
    await place.store.write((tx) => tx.claimHandle('ada', 'U0ADA00001', T0))
    const given: Promise<string | null>[] = []
    const seen = await place.store.write(async (tx) => {
      const before = await tx.claimOf('ada')
      given.push(other.write((theirs) => theirs.giveHandle('ada', 'U0GRACE001', T0)))
      await place.sql('select pg_sleep(0.05)')
      const after = await tx.claimOf('ada')
      await tx.releaseHandle('ada')
      return [before?.user, after?.user]
    })
    expect(seen).toEqual(['U0ADA00001', 'U0ADA00001'])
    await Promise.all(given)
    expect(await place.store.read.personOf('ada')).not.toBe('U0ADA00001')
  })

  test('two writes that deadlock both succeed', async () => {
    await using place = await places().open()
    const stores = [place.store, place.another()]
    const met = meeting(2)
    const wakes = [
      ['a', 'b'],
      ['b', 'a'],
    ].map(([first, second], i) =>
      stores[i]!.write(async (tx) => {
        await tx.wakeRevision(first!, T0, 1)
        await met()
        await tx.wakeRevision(second!, T0, 1)
      }),
    )
    await Promise.all(wakes)
    expect((await dueKeys(place.store.read, T0, 10)).sort()).toEqual(['a', 'b'])
  })
}

/** Lets the first `size` callers wait for each other; later callers pass. */
function meeting(size: number): () => Promise<void> {
  let missing = size
  const { promise, resolve } = Promise.withResolvers<void>()
  return () => {
    if (--missing <= 0) resolve()
    return promise
  }
}
