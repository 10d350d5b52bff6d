import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Store, Tx } from '../../store/store.ts'

/** A holder that has not renewed its lease for this long loses it to the next process that asks. */
export const LEASE_MS = 5_000

/** How often the holder renews the lease, and the other processes ask for it. */
export const RENEW_MS = 2_000

/** The holder starts no call in this last part of its lease, because clocks differ a little. */
export const MARGIN_MS = 1_000

/** A lease that ends later than this from now was taken with a wrong clock, and counts as free. */
const LEASE_MAX_MS = 60_000

/** After a pause of the process, the requests that arrived meanwhile are read within this time. */
const AFTER_PAUSE_MS = 2_000

const NAME = 'sender'

/** The time from taking the lease to losing it. Only the holder ingests, sends and runs jobs. */
export interface Term {
  /** unique; claims carry it, and a claim of an earlier term is orphaned */
  id: string
  over: AbortSignal
  /** True if no other process can hold the lease now or within MARGIN_MS. Check it right before each call. */
  isValid(): boolean
  /** Whether the lease is still held. If so, it stays held until this transaction ends. */
  holds(tx: Tx): Promise<boolean>
}

/** The term of a process that has its database to itself: it never ends. */
export const soleTerm = (id: string): Term => ({
  id,
  over: new AbortController().signal,
  isValid: () => true,
  holds: async () => true,
})

export interface LeaseDeps {
  store: Pick<Store, 'write'>
  clock: Clock
  /** Sets the clock by the database's, which all processes share. */
  syncClock: () => Promise<void>
  log: Log
  /** monotonic (ms): nobody can set it, and it runs on while the process is paused */
  monotonic: () => number
  newId: () => string
  onTerm: (term: Term) => void
}

/**
 * Lets one of many processes send: the holder of this lease. It counts the lease from before its request to the
 * database, on the monotonic clock, so it stops before another one begins, even after a pause or without a connection.
 */
export function createLease({ store, clock, syncClock, log, monotonic, newId, onTerm }: LeaseDeps) {
  const stopping = new AbortController()
  let current: { id: string; validUntil: number; over: AbortController } | null = null
  let awakeUntil = Number.POSITIVE_INFINITY
  let afterPauseUntil = Number.NEGATIVE_INFINITY
  let renewing: Promise<void> = Promise.resolve()

  async function acquireOrRenew(): Promise<void> {
    const requestedAt = monotonic()
    if (requestedAt >= awakeUntil) afterPauseUntil = requestedAt + AFTER_PAUSE_MS
    // Each time: the clock stands still while the machine is suspended, and others would count a lease by it as over.
    await syncClock()
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

  /** Taking the lease may have waited for locks of its last holder for so long that it must be renewed at once. */
  async function renewIfLate(): Promise<void> {
    const requestedAt = monotonic()
    if (current && requestedAt >= current.validUntil) await renew(current, requestedAt)
  }

  function end(): void {
    current?.over.abort()
    current = null
  }

  /** Stops waiting for a database that does not answer; `keepRenewing` asks again. */
  async function acquireInTime(): Promise<void> {
    const waited = new AbortController()
    const call = acquireOrRenew().catch((error: unknown) =>
      log.warn({ err: error }, 'the lease could not be requested'),
    )
    await Promise.race([call, clock.sleep(LEASE_MS, waited.signal)])
    waited.abort()
  }

  async function keepRenewing(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(RENEW_MS, stopping.signal)
      if (!stopping.signal.aborted) await acquireInTime()
    }
  }

  return {
    /** Whether this process was paused a moment ago: the requests it reads first may have been handled elsewhere. */
    wasJustPaused: () => monotonic() < afterPauseUntil || monotonic() >= awakeUntil,
    /** Asks for the lease now, and then every RENEW_MS. Resolves after the first try, whether or not it got the lease. */
    async start(): Promise<void> {
      await acquireInTime()
      renewing = keepRenewing()
    },
    /** Ends the term and gives the lease back, so that another process need not wait for it to expire. */
    async stop(): Promise<void> {
      stopping.abort()
      await renewing
      const held = current
      end()
      if (!held) return
      await store
        .write((tx) => tx.releaseLease({ name: NAME, heldBy: held.id }), { canBeRedone: true })
        .catch((error: unknown) => log.warn({ err: error }, 'the lease could not be given back; it expires by itself'))
    },
  }
}
