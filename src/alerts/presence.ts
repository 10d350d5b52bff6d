import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** A process that was not heard of for so long is taken to be dead, and its work taken over. */
export const PRESENCE_MS = 6_000

/** So often whoever is alive says so. */
export const RENEW_MS = 1_500

/** So long before others may take it over, a process itself begins nothing more: clocks and turns of the loop differ. */
export const MARGIN_MS = 1_000

/** After a sleep, what has come meanwhile is read within this time. */
const DROWSY_MS = 2_000

/** What a process may do while it is alive: taken before a claim, asked right before the call that was claimed. */
export interface Pass {
  /** Whether nobody can have taken this process's work over since the pass was taken, nor can within MARGIN_MS. */
  isValid(): boolean
}

/** This process among those that share the database. */
export interface Presence {
  pass(): Pass
  /** Whether this process sleeps, or slept until a moment ago: what it finds then may be long done elsewhere. */
  isDrowsy(): boolean
  /** aborts when others have taken this process's work over: what it held is theirs */
  lost(): AbortSignal
  /** Resolves when it was told to the database, or could not be; it is told again and again from there. */
  start(): Promise<void>
  /** Resolves when others know that this process is no more, or cannot be told: then its time ends by itself. */
  stop(): Promise<void>
}

export interface PresenceDeps {
  store: Pick<Store, 'write'>
  clock: Clock
  /** Puts the clock right by the one that all processes share. */
  agree: () => Promise<void>
  log: Log
  /** ms from some moment on, which nobody sets: it goes on while the process is stopped */
  monotonic: () => number
  processId: string
}

/**
 * Says every RENEW_MS that this process is alive. What it knows of that is counted from before the database was asked, on
 * a clock that nobody sets, so it stops before others begin: also where it slept, or is cut off from the database.
 */
export function createPresence({ store, clock, agree, log, monotonic, processId }: PresenceDeps): Presence {
  const stopping = new AbortController()
  let aliveUntil = Number.NEGATIVE_INFINITY
  let drowsyUntil = Number.NEGATIVE_INFINITY
  let life = new AbortController()
  let isKnown = false
  let telling: Promise<void> = Promise.resolve()

  async function renew(): Promise<void> {
    const beganAt = monotonic()
    if (isKnown && beganAt >= aliveUntil) drowsyUntil = beganAt + DROWSY_MS
    await agree()
    const kept = await store.write((tx) => tx.renewPresence(processId, clock.now() + PRESENCE_MS), {
      canBeRedone: true,
    })
    if (kept === 'begun') begin()
    aliveUntil = Math.max(aliveUntil, beganAt + PRESENCE_MS - MARGIN_MS)
  }

  function begin(): void {
    if (isKnown) log.warn({}, 'this process was taken for dead: others have taken its work over, and it begins anew')
    isKnown = true
    life.abort()
    life = new AbortController()
  }

  /** Not waited for longer than it would count: where the database does not even refuse, it is asked again. */
  async function renewInTime(): Promise<void> {
    const waited = new AbortController()
    const renewed = renew().catch((error: unknown) => log.warn({ err: error }, NOT_TOLD))
    await Promise.race([renewed, clock.sleep(PRESENCE_MS, waited.signal)])
    waited.abort()
  }

  async function keepTelling(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(RENEW_MS, stopping.signal)
      if (!stopping.signal.aborted) await renewInTime()
    }
  }

  return {
    pass() {
      const { signal } = life
      return { isValid: () => !signal.aborted && monotonic() < aliveUntil }
    },
    isDrowsy: () => monotonic() < drowsyUntil || (isKnown && monotonic() >= aliveUntil),
    lost: () => life.signal,
    async start() {
      await renewInTime()
      telling = keepTelling()
    },
    async stop() {
      stopping.abort()
      await telling
      await store
        .write((tx) => tx.endPresence(processId), { canBeRedone: true })
        .catch((error: unknown) => log.warn({ err: error }, END_NOT_TOLD))
    },
  }
}

const NOT_TOLD = 'the database could not be told that this process is alive; others take its work over'
const END_NOT_TOLD =
  'the database could not be told that this process ends; others take its work over when its time is up'
