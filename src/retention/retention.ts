import { DAY_MS } from '../domain/rules/digest.ts'
import { noticeDay } from '../domain/cards/view.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store, Tx } from '../store/store.ts'
import { BRANCH_TIMES, cardsOfEvents, createStays } from './retained.ts'

/** Rows removed in one transaction. Only a single card with more rows exceeds this. */
export const ROWS_MAX = 100

/** Build events read between two pauses. */
const LOOKED_AT_MAX = 100

/** After each piece of work, the job pauses for this many times as long as the work took, but at least PAUSE_MIN_MS. */
const OTHERS_SHARE = 9
const PAUSE_MIN_MS = 20

/** While many deliveries wait to be stored, nothing is removed. The job checks again after this time. */
const PRESSED_AGAIN_MS = 1_000

/** The job runs once a day, so each run removes about a day's worth. */
export const PRUNE_JOB = 'prune'

interface PruneDeps {
  store: Store
  clock: Clock
  log: Log
  retentionDays: number
  /** many deliveries wait to be stored, and come first */
  hasWaitingDeliveries: () => boolean
}

export interface Pruned {
  cards: number
  /** the sum of all rows, also of those that belong to no card */
  rows: number
}

/**
 * Removes what is older than `retentionDays`, a few rows at a time: bodies of deliveries, and whole cards with all that
 * belongs to them. Test reports of builds that CI never delivered go after a day. Cards that may still change in Slack
 * stay. Cards that show the state of a branch stay until the branch had no build for BRANCH_TIMES the retention. If the
 * job is stopped, the next run removes the rest.
 */
export async function prune(deps: PruneDeps, signal: AbortSignal): Promise<Pruned> {
  const now = deps.clock.now()
  const before = now - deps.retentionDays * DAY_MS
  const closed = (await deps.store.read.closedChannels()).filter(({ closedAt }) => closedAt < before)
  const old = { beforeDay: noticeDay(before), closed: closed.map(({ channel }) => channel) }
  let others = await repeat(deps, signal, (tx) => tx.removeDeliveries(before, ROWS_MAX))
  others += await repeat(deps, signal, (tx) => tx.removeNotices(old, ROWS_MAX))
  others += await repeat(deps, signal, (tx) => tx.removeProjectRequests(before, ROWS_MAX))
  others += await repeat(deps, signal, (tx) => tx.removeEarlyReports(now - DAY_MS, ROWS_MAX))
  const { cards, rows } = await removeCards(deps, signal, { now, before })
  others += await removeProjects(deps, signal)
  const pruned = { cards, rows: rows + others }
  if (pruned.rows > 0) deps.log.info({ ...pruned, before: new Date(before).toISOString() }, 'old rows were removed')
  return pruned
}

/** Removes until nothing is left. @returns how many rows were removed */
async function repeat(deps: PruneDeps, signal: AbortSignal, remove: (tx: Tx) => Promise<number>): Promise<number> {
  let rows = 0
  while (!signal.aborted) {
    const removed = await inTurn(deps, signal, () => deps.store.write(remove, { canBeRedone: true }))
    rows += removed ?? 0
    if (!removed || removed < ROWS_MAX) break
  }
  return rows
}

/** After the cards: then it shows which projects have no builds. */
async function removeProjects(deps: PruneDeps, signal: AbortSignal): Promise<number> {
  let removed = 0
  let last: string | null = ''
  while (last !== null && !signal.aborted) {
    const after: string = last
    const remove = (tx: Tx) => tx.removeEmptyProjects(after, ROWS_MAX)
    const done = await inTurn(deps, signal, () => deps.store.write(remove, { canBeRedone: true }))
    removed += done?.removed ?? 0
    last = done?.last ?? null
  }
  return removed
}

/** Waits while many deliveries wait, does the work once, then pauses. Null: stopped before the work was done. */
async function inTurn<T>(
  { clock, hasWaitingDeliveries }: PruneDeps,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | null> {
  while (hasWaitingDeliveries() && !signal.aborted) await clock.sleep(PRESSED_AGAIN_MS, signal)
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
): Promise<Pruned> {
  const { read } = deps.store
  const stays = createStays({ now, before, forgottenBefore: now - (now - before) * BRANCH_TIMES })
  const removed: Pruned = { cards: 0, rows: 0 }
  let last = 0
  let removedBefore = 0
  while (!signal.aborted) {
    const buildEvents = await read.eventsAfter(last, LOOKED_AT_MAX)
    const old = cardsOfEvents(buildEvents, before)
    // Events come in order of receipt, so by time unless a clock was set back. A page without old events is the end.
    if (old.length === 0 && !buildEvents.some(({ at }) => at < before)) {
      if (removed.cards === removedBefore) break
      // Start again: some cards may have stayed only because of cards that are removed by now.
      removedBefore = removed.cards
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
  removed: Pruned
}

/** Removes cards, after checking each again inside the transaction: news may have come since the first check. */
async function removeThese(deps: PruneDeps, signal: AbortSignal, { going, stays, removed }: Going): Promise<void> {
  const remove = async (tx: Tx) => {
    const done = { checked: 0, cards: 0, rows: 0 }
    for (const { revisionKey, cardNumber } of going) {
      if (done.rows >= ROWS_MAX) break
      done.checked++
      if (await stays(tx, { revisionKey, cardNumber })) continue
      const rows = await tx.removeCardEvents(revisionKey, cardNumber)
      // No rows: another process has removed the card already.
      if (rows > 0) done.cards++
      done.rows += rows
    }
    return done
  }
  while (going.length > 0) {
    const done = await inTurn(deps, signal, () => deps.store.write(remove, { canBeRedone: true }))
    if (!done) return
    going.splice(0, done.checked)
    removed.cards += done.cards
    removed.rows += done.rows
  }
}
