import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store, Tx } from '../store/store.ts'

/** A holder that has not renewed its lease for this long loses it to the next process that asks. */
export const LEASE_MS = 5_000

/** How often the holder renews the lease, and the other processes ask for it. */
export const RENEW_MS = 1_500

/** A holder starts no call in the last part of its lease: clocks differ a little. */
export const MARGIN_MS = 1_000

/** A lease that reaches further than this was taken by a clock that was wrong. */
const LEASE_MAX_MS = 60_000

/** After a sleep, requests that arrived meanwhile are read within this time. */
const DROWSY_MS = 2_000

const NAME = 'sender'

/** From taking the lease to losing it. Only the holder ingests, sends and runs jobs. */
export interface Term {
  /** unique; claims carry it, and those of an earlier term are dead */
  id: string
  /** aborts when the term is over */
  over: AbortSignal
  /** Whether no other process can hold the lease now, nor within MARGIN_MS. Ask right before each call. */
  isValid(): boolean
  /** Whether the lease is still held; in a transaction, nobody else can take it before that ends. */
  holds(tx: Tx): Promise<boolean>
}

/** The term of a process that has its database to itself: it never ends. */
export const soleTerm = (id: string): Term => ({
  id,
  over: new AbortController().signal,
  isValid: () => true,
  holds: async () => true,
})

export interface Lease {
  /** Whether this process sleeps, or slept a moment ago: what it reads first may have been handled elsewhere. */
  isDrowsy(): boolean
  /** Asks for the lease once, then again and again. Resolves after the first answer, whatever it is. */
  start(): Promise<void>
  /** Ends the term and gives the lease back, so that another process need not wait for it to expire. */
  stop(): Promise<void>
}

export interface LeaseDeps {
  store: Pick<Store, 'write'>
  clock: Clock
  /** Corrects the clock by the database's, which all processes share. */
  agree: () => Promise<void>
  log: Log
  /** ms since some moment; nobody sets this clock, and it goes on while the process is stopped */
  monotonic: () => number
  newId: () => string
  onTerm: (term: Term) => void
}

/**
 * One process of many sends: the one that holds this lease. It counts its time from before it asked the database, on a
 * clock nobody sets, so it stops before others begin, even after a sleep or without a connection.
 */
export function createLease({ store, clock, agree, log, monotonic, newId, onTerm }: LeaseDeps): Lease {
  const stopping = new AbortController()
  let current: { id: string; validUntil: number; over: AbortController } | null = null
  let awakeUntil = Number.POSITIVE_INFINITY
  let drowsyUntil = Number.NEGATIVE_INFINITY
  let asking: Promise<void> = Promise.resolve()

  async function ask(): Promise<void> {
    const requestedAt = monotonic()
    if (requestedAt >= awakeUntil) drowsyUntil = requestedAt + DROWSY_MS
    await agree()
    if (current) await renew(current, requestedAt)
    else if (await take(requestedAt)) await renewIfLate()
    awakeUntil = monotonic() + LEASE_MS - MARGIN_MS
  }

  async function renew(term: NonNullable<typeof current>, requestedAt: number): Promise<void> {
    const lease = { name: NAME, heldBy: term.id, heldUntil: clock.now() + LEASE_MS }
    if (await store.write((tx) => tx.renewLease(lease), { canBeRedone: true })) {
      term.validUntil = requestedAt + LEASE_MS - MARGIN_MS
    } else if (current === term) {
      log.warn({ term: term.id }, 'lease lost: another process sends now')
      end()
    }
  }

  async function take(requestedAt: number): Promise<boolean> {
    const id = newId()
    const now = clock.now()
    const lease = { name: NAME, heldBy: id, heldUntil: now + LEASE_MS }
    if (!(await store.write((tx) => tx.takeLease(lease, { now, longestMs: LEASE_MAX_MS }), { canBeRedone: true })))
      return false
    if (current || stopping.signal.aborted) return false
    const over = new AbortController()
    const term = { id, validUntil: requestedAt + LEASE_MS - MARGIN_MS, over }
    current = term
    log.info({ term: id }, 'lease taken: this process sends')
    onTerm({
      id,
      over: over.signal,
      isValid: () => !over.signal.aborted && monotonic() < term.validUntil,
      holds: (tx) => tx.holdsLease({ name: NAME, heldBy: id }),
    })
    return true
  }

  /** A lease that waited for the locks of its last holder may have expired by the time it is taken. */
  async function renewIfLate(): Promise<void> {
    const requestedAt = monotonic()
    if (current && requestedAt >= current.validUntil) await renew(current, requestedAt)
  }

  function end(): void {
    current?.over.abort()
    current = null
  }

  /** A database that does not even refuse is asked again after a while. */
  async function askInTime(): Promise<void> {
    const waited = new AbortController()
    const asked = ask().catch((error: unknown) => log.warn({ err: error }, 'the lease could not be asked for'))
    await Promise.race([asked, clock.sleep(LEASE_MS, waited.signal)])
    waited.abort()
  }

  async function keepAsking(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(RENEW_MS, stopping.signal)
      if (!stopping.signal.aborted) await askInTime()
    }
  }

  return {
    isDrowsy: () => monotonic() < drowsyUntil || monotonic() >= awakeUntil,
    async start() {
      await askInTime()
      asking = keepAsking()
    },
    async stop() {
      stopping.abort()
      await asking
      const held = current
      end()
      if (!held) return
      await store
        .write((tx) => tx.releaseLease({ name: NAME, heldBy: held.id }), { canBeRedone: true })
        .catch((error: unknown) => log.warn({ err: error }, 'the lease could not be given back; it expires by itself'))
    },
  }
}
