import { createHash } from 'node:crypto'
import type { WebClient } from '@slack/web-api'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { classify } from '../../slack/api/errors.ts'
import type { HomeOutcome } from './home.ts'
import { answerFault } from '../fault-messages.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerHome, homeView, type HomeView } from './view.ts'

/** A Home is kept up to date for this long after it was opened. */
export const WATCHED_FOR_MS = 60 * 60_000
/** At most this many Homes are kept up to date. Beyond that, the one opened first has to be opened again. */
export const WATCHED_MAX = 200

/** The wait after a hint: changes come in bursts, and build events have to be ingested first. */
export const REFRESH_DELAY_MS = 3_000
/** Changes without a hint, such as a closed channel, are looked for after this time. */
export const SWEEP_EVERY_MS = 60_000
/**
 * Homes that nobody opened or clicked in just now are read at this pace, whether they have changed or not: for each of
 * them Slack is asked which channels the person is in, and accepts that about fifty times a minute.
 */
const REFRESH_EVERY_MS = 1_200

export interface HomesDeps {
  operations: { home: (user: string, team: string | null) => Promise<HomeOutcome> }
  client: WebClient
  clock: Clock
  log: Pick<Log, 'error' | 'info'>
  newReference: () => string
}

/** The Homes that people have open. Each is drawn when it is opened, and again when its content changes. */
export interface Homes {
  /** Draws this person's Home now. Never throws. */
  open(user: string, team: string | null): Promise<void>
  /** Draws it now, if it was opened recently. Never throws. */
  redraw(user: string): Promise<void>
  /** A hint that something may have changed. The sweep finds what hints miss. */
  wake(): void
  stop(): void
}

interface Watched {
  user: string
  team: string | null
  openedAt: number
  /** digest of the view that Slack shows; null: not known */
  digest: string | null
  /** runs one drawing after the other, so that an older view never replaces a newer one */
  work: Promise<unknown>
  /** the drawing that has not begun yet. It will read everything anew, so all callers until then share it. */
  next: Promise<void> | null
}

export function createHomes(deps: HomesDeps): Homes {
  const { clock, log } = deps
  const watched = new Map<string, Watched>()
  const stopping = new AbortController()
  let isDue = false
  let refreshing: Promise<void> | null = null
  let sweeping: Promise<void> | null = null

  function wake(): void {
    if (watched.size === 0 || stopping.signal.aborted) return
    isDue = true
    refreshing ??= refreshAll().finally(() => (refreshing = null))
  }

  async function refreshAll(): Promise<void> {
    while (isDue && !stopping.signal.aborted) {
      await clock.sleep(REFRESH_DELAY_MS, stopping.signal)
      isDue = false
      // A copy: `open` draws the Homes that are opened meanwhile.
      const open = [...watched.values()]
      for (const one of open) if (isWatched(one) && !stopping.signal.aborted) await refresh(one)
    }
  }

  // A person who was dropped (WATCHED_MAX) and has opened their Home again has a new entry.
  const isWatched = (one: Watched): boolean => watched.get(one.user) === one

  async function sweep(): Promise<void> {
    while (watched.size > 0 && !stopping.signal.aborted) {
      await clock.sleep(SWEEP_EVERY_MS, stopping.signal)
      wake()
      await refreshing
    }
  }

  async function refresh(one: Watched): Promise<void> {
    if (clock.now() - one.openedAt > WATCHED_FOR_MS) return void watched.delete(one.user)
    await draw(one)
    await clock.sleep(REFRESH_EVERY_MS, stopping.signal)
  }

  function draw(one: Watched): Promise<void> {
    one.next ??= one.work.then(() => {
      one.next = null
      return drawNow(one)
    })
    one.work = one.next
    return one.next
  }

  async function drawNow(one: Watched): Promise<void> {
    // The process stops, and its database is closed soon.
    if (stopping.signal.aborted) return
    const { view, digest } = await viewFor(deps, one)
    if (digest === one.digest) return
    try {
      await deps.client.apiCall('views.publish', { user_id: one.user, view })
      one.digest = digest
    } catch (error) {
      one.digest = null
      const failure = classify(error)
      log.info({ code: failure.code, user: one.user }, 'a Home could not be shown; it is tried again when it changes')
      if (failure.kind === 'rate-limited') await clock.sleep(failure.retryAfterMs, stopping.signal)
    }
  }

  return {
    wake,
    stop: () => stopping.abort(),
    async open(user, team) {
      const one = watched.get(user) ?? { user, team, openedAt: 0, digest: null, work: Promise.resolve(), next: null }
      Object.assign(one, { team, openedAt: clock.now(), digest: null })
      watched.delete(user)
      watched.set(user, one)
      if (watched.size > WATCHED_MAX) watched.delete(watched.keys().next().value!)
      sweeping ??= sweep().finally(() => (sweeping = null))
      await draw(one)
    },
    async redraw(user) {
      const one = watched.get(user)
      if (!one) return
      one.digest = null
      await draw(one)
    },
  }
}

interface Drawn {
  view: HomeView
  /** equal for views that say the same; the reference of an error is not part of it, since it always differs */
  digest: string
}

/** The view for one person: their Home, a refusal if they may not see it, or an error if it cannot be read. */
async function viewFor({ operations, log, newReference }: HomesDeps, { user, team }: Watched): Promise<Drawn> {
  try {
    const outcome = await operations.home(user, team)
    if (outcome.kind === 'home') return drawn(homeView(outcome.home))
    const view = answerHome(answerNotAllowed(outcome, { action: null, reference: newReference() }))
    return { view, digest: JSON.stringify(outcome) }
  } catch (error) {
    const reference = newReference()
    log.error({ err: error, reference }, 'a Home could not be read')
    return { view: answerHome(answerFault(reference)), digest: 'fault' }
  }
}

const drawn = (view: HomeView): Drawn => ({
  view,
  digest: createHash('sha256').update(JSON.stringify(view)).digest('hex'),
})
