import { DAY_MS } from '../domain/digest.ts'
import { noticeDay } from '../domain/notice.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store, Tx } from '../store/store.ts'
import { BRANCH_TIMES, cardsOfEvents, createStays } from './retained.ts'

/** Rows removed in one transaction; only a story that is larger by itself takes more. */
export const ROWS_MAX = 100

/** Build events looked at between two pauses. */
const LOOKED_AT_MAX = 100

/** Other users of the database get this many times the time that removing takes, and never less than this pause. */
const OTHERS_SHARE = 9
const PAUSE_MIN_MS = 20

/** While deliveries press at the endpoint nothing is removed; the job looks again after this time. */
const PRESSED_AGAIN_MS = 1_000

/** The job: once a day, so that a day's worth goes at a time. */
export const PRUNE_JOB = 'prune'
export const PRUNE_EVERY_MS = DAY_MS

export interface PruneDeps {
  store: Store
  clock: Clock
  log: Log
  retentionDays: number
  /** many deliveries are waiting for their answer: the endpoint comes first */
  isPressed: () => boolean
}

/**
 * What was removed: cards with all that belongs to them, bodies of deliveries, notices, requests about projects, and reports
 * of builds that nobody delivered.
 */
export interface Pruned {
  cards: number
  deliveries: number
  notices: number
  asks: number
  reports: number
  /** of all these */
  rows: number
}

/**
 * Removes what is older than `retentionDays`, a few rows at a time: bodies of deliveries, and whole cards with everything
 * that belongs to them; and after a day reports of builds that nobody delivered. Cards that may still change in Slack stay.
 * So do those that show the state of a branch, until nothing was built on it for BRANCH_TIMES as long. If it is stopped in
 * the middle, the rest goes next time.
 */
export async function prune(deps: PruneDeps, signal: AbortSignal): Promise<Pruned> {
  const now = deps.clock.now()
  const before = now - deps.retentionDays * DAY_MS
  const pruned: Pruned = { cards: 0, deliveries: 0, notices: 0, asks: 0, reports: 0, rows: 0 }
  pruned.deliveries = await repeat(deps, signal, (tx) => tx.removeDeliveries(before, ROWS_MAX))
  const closed = (await deps.store.read.closedChannels()).filter(({ closedAt }) => closedAt < before)
  const old = { beforeDay: noticeDay(before), closed: closed.map(({ channel }) => channel) }
  pruned.notices = await repeat(deps, signal, (tx) => tx.removeNotices(old, ROWS_MAX))
  pruned.asks = await repeat(deps, signal, (tx) => tx.removeProjectRequests(before, ROWS_MAX))
  pruned.reports = await repeat(deps, signal, (tx) => tx.removeEarlyReports(now - DAY_MS, ROWS_MAX))
  const removed = await removeCards(deps, signal, { now, before })
  const { deliveries, notices, asks, reports } = pruned
  const all = { ...pruned, ...removed, rows: deliveries + notices + asks + reports + removed.rows }
  deps.log.info({ ...all, before: new Date(before).toISOString() }, 'what is old was removed')
  return all
}

/** @returns how many rows were removed until there were no more */
async function repeat(deps: PruneDeps, signal: AbortSignal, remove: (tx: Tx) => Promise<number>): Promise<number> {
  let rows = 0
  while (!signal.aborted) {
    const removed = await inTurn(deps, signal, () => deps.store.write(remove, { canBeRedone: true }))
    rows += removed ?? 0
    if (!removed || removed < ROWS_MAX) break
  }
  return rows
}

/** One piece of work when nobody presses, and then a pause. Null: there was none, the process stops. */
async function inTurn<T>(
  { clock, isPressed }: PruneDeps,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | null> {
  while (isPressed() && !signal.aborted) await clock.sleep(PRESSED_AGAIN_MS, signal)
  if (signal.aborted) return null
  const beganAt = clock.now()
  const done = await work()
  await clock.sleep(Math.max(PAUSE_MIN_MS, (clock.now() - beganAt) * OTHERS_SHARE), signal)
  return done
}

async function removeCards(
  deps: PruneDeps,
  signal: AbortSignal,
  { now, before }: { now: number; before: number },
): Promise<{ cards: number; rows: number }> {
  const { read } = deps.store
  const stays = createStays({ now, before, forgottenBefore: now - (now - before) * BRANCH_TIMES })
  const removed = { cards: 0, rows: 0 }
  let last = 0
  let looked = 0
  while (!signal.aborted) {
    const buildEvents = await read.eventsAfter(last, LOOKED_AT_MAX)
    const old = cardsOfEvents(buildEvents, before)
    // The order of receipt is that of time but for a clock that was put back: a page of young ones is the end.
    if (old.length === 0 && !buildEvents.some(({ at }) => at < before)) {
      if (removed.cards === looked) break
      // Once more from the beginning: something may have stayed only for what has gone since.
      looked = removed.cards
      last = 0
      continue
    }
    last = buildEvents.at(-1)!.seq
    const going: typeof old = []
    await inTurn(deps, signal, async () => {
      for (const card of old) if (!(await stays(read, card))) going.push(card)
    })
    await removeThese(deps, signal, { going, stays, removed })
  }
  return removed
}

interface Going {
  going: { revisionKey: string; cardNumber: number }[]
  stays: ReturnType<typeof createStays>
  removed: { cards: number; rows: number }
}

/** What was looked at outside is looked at again inside: news may have come in between. */
async function removeThese(deps: PruneDeps, signal: AbortSignal, { going, stays, removed }: Going): Promise<void> {
  const remove = async (tx: Tx) => {
    const done = { looked: 0, cards: 0, rows: 0 }
    for (const { revisionKey, cardNumber } of going) {
      if (done.rows >= ROWS_MAX) break
      done.looked++
      if (await stays(tx, { revisionKey, cardNumber })) continue
      const rows = await tx.removeCardEvents(revisionKey, cardNumber)
      // Without any another process was here first.
      if (rows > 0) done.cards++
      done.rows += rows
    }
    return done
  }
  while (going.length > 0) {
    const done = await inTurn(deps, signal, () => deps.store.write(remove, { canBeRedone: true }))
    if (!done) return
    going.splice(0, done.looked)
    removed.cards += done.cards
    removed.rows += done.rows
  }
}
