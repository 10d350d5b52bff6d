import type { ChannelId } from '../domain/ids.ts'
import type { Queue } from '../domain/cards/plan.ts'
import { backoffMs } from '../lib/async.ts'
import type { CardKey, ClosedChannel, DueRevision } from '../store/records.ts'
import type { News, OnNews } from '../store/store.ts'
import type { ReconcileDeps } from './deps.ts'
import { ingestRevisions } from './ingest/ingest.ts'
import { WAITING_RECHECK_MS } from './ingest/news.ts'
import { postponeCard } from './plan-card/planner.ts'
import { createOutage, createPace, WINDOW_MS, type Pace } from './send/pace.ts'
import { sendNext } from './send/send.ts'

/** Concurrent calls to Slack. */
const CALLS_MAX = 32

/**
 * Revisions ingested in one transaction. PostgreSQL gets the queries of all at once. SQLite runs in this thread: one
 * revision at a time leaves room for deliveries.
 */
const REVISIONS_AT_ONCE = { shared: 32, alone: 1 }

/** Revisions read per round; on PostgreSQL as many as are ingested at once. */
const INGEST_MAX = 4

/**
 * While deliveries wait to be stored, ingesting pauses for this many times as long as it ran: both share one thread.
 */
const ENDPOINT_SHARE = 19

/**
 * How often that pause checks whether deliveries still wait, and how many times in a row none may: right after a batch
 * is answered, the next is on its way.
 */
const BUSY_RECHECK_MS = 2
const CALM_LOOKS = 3

/** The interval of the sweep, which finds due work even if wake-ups were lost. */
const SWEEP_MS = 15_000

/** Pause after the database or the lease was lost. */
const AGAIN_MS = 1_000

/** A revision that cannot be ingested is retried with backoff, and does not hold up others. */
const INGEST_AGAIN_MS = 5_000
const INGEST_AGAIN_MAX_MS = 10 * 60_000

export type Work = 'ingest' | 'send'

export interface Reconciler {
  start(): Promise<void>
  /** Starts no further work; resolves when the work in flight has ended. */
  stop(): Promise<void>
  /** Call it when there is news. Only a hint: the sweep finds the news too. */
  wake: OnNews
  /** Why nothing is being sent; null when Slack is reachable. */
  outage(): string | null
  /** What keeps failing within Buildline: the last two tries failed. */
  failing(): readonly Work[]
}

/**
 * Makes Slack agree with the build events. It runs two loops over two durable queues: one ingests revisions (build
 * events become decisions and cards), the other takes one step at a time for the most urgent card whose queue is free.
 */
export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { store, clock, log } = deps
  const stopping = new AbortController()
  const outage = createOutage(clock)
  const atOnce = store.shared ? REVISIONS_AT_ONCE.shared : REVISIONS_AT_ONCE.alone
  const bells = { ingest: createBell(deps), send: createBell(deps) }
  const underWay = new Map<string, Promise<void>>()
  const waitingChannels = new Set<ChannelId>()
  const failures = { ingest: createFailures(clock), send: createFailures(clock) }
  const working = { ...deps, isUnderWay: (card: CardKey) => underWay.has(nameOf(card)) }
  let closed: readonly ClosedChannel[] = []
  let answered = () => {}
  let sweepAt = 0
  let pace: Pace
  let loops: Promise<void>[] = []

  async function ingestLoop(): Promise<void> {
    let hasPostponed = false
    while (!stopping.signal.aborted) {
      const askedAt = clock.now()
      const due = await store.read.dueIngest(askedAt, Math.max(INGEST_MAX, atOnce))
      const beganAt = clock.now()
      const taken = await ingestAll(due)
      failures.ingest.end(ROUND)
      await yieldToEndpoint((clock.now() - beganAt) * ENDPOINT_SHARE)
      if (taken.includes('waits')) hasPostponed = true
      if (taken.some((one) => one !== 'lost')) continue
      const restMs = hasPostponed ? WAITING_RECHECK_MS : await untilIngest(askedAt)
      await bells.ingest.wait(taken.includes('lost') ? Math.min(AGAIN_MS, restMs) : restMs)
      hasPostponed = false
    }
  }

  /** ms until a revision is due that was not when we asked, or until the next sweep. It may have become due meanwhile. */
  async function untilIngest(askedAt: number): Promise<number> {
    const nextAt = (await store.read.nextIngestAt(askedAt)) ?? Infinity
    return Math.max(0, Math.min(SWEEP_MS, nextAt - clock.now()))
  }

  /** Pauses for up to `ms` while deliveries come in. */
  async function yieldToEndpoint(ms: number): Promise<void> {
    const until = clock.now() + ms
    let calm = deps.hasWaitingDeliveries() ? 0 : CALM_LOOKS
    while (calm < CALM_LOOKS && clock.now() < until && !stopping.signal.aborted) {
      await clock.sleep(Math.min(BUSY_RECHECK_MS, until - clock.now()), stopping.signal)
      calm = deps.hasWaitingDeliveries() ? 0 : calm + 1
    }
  }

  async function ingestAll(due: readonly DueRevision[]): Promise<IngestResult[]> {
    const taken: IngestResult[] = []
    for (let i = 0; i < due.length; i += atOnce) taken.push(...(await ingestSome(due.slice(i, i + atOnce))))
    return taken
  }

  async function ingestSome(due: readonly DueRevision[]): Promise<IngestResult[]> {
    try {
      const ingested = await ingestRevisions(working, due)
      return ingested.map((channels, i) => {
        if (channels === 'waits' || channels === 'lost') return channels
        // A postponed revision is first read without its build events, so success does not prove they can be read.
        const { revisionKey, buildKeys } = due[i]!
        if (buildKeys.length > 0) failures.ingest.end(revisionKey)
        for (const channel of channels) waitingChannels.add(channel)
        bells.send.ring()
        return 'taken'
      })
    } catch (error) {
      if (due.length === 1) return [await postpone(due[0]!, error)]
      // One by one, so that the failing revision does not hold up the others.
      const taken: IngestResult[] = []
      for (const one of due) taken.push(...(await ingestSome([one])))
      return taken
    }
  }

  async function postpone({ revisionKey }: DueRevision, error: unknown): Promise<'failed'> {
    log.error({ err: error, revision: revisionKey }, 'a revision could not be ingested; it will be tried again')
    const againAt = clock.now() + ingestAgainMs(revisionKey)
    await store.write((tx) => tx.postponeRevision(revisionKey, againAt)).catch(() => clock.sleep(AGAIN_MS))
    return 'failed'
  }

  function ingestAgainMs(revisionKey: string): number {
    const before = failures.ingest.count(revisionKey)
    return backoffMs(before, deps.random(), { baseMs: INGEST_AGAIN_MS, maxMs: INGEST_AGAIN_MAX_MS })
  }

  async function sendLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (clock.now() >= sweepAt) {
        sweepAt = clock.now() + SWEEP_MS
        await sweep()
      }
      if (await pingWhileDown()) continue
      const askedAt = clock.now()
      const begun = underWay.size < CALLS_MAX ? await beginCalls() : 0
      failures.send.end(ROUND)
      if (begun > 0) continue
      const freeAt = nextFreeAt()
      // In a flood something always waits for Slack's limits: then the read, which sees every card that waits, is left out.
      if (freeAt === Infinity) sweepAt = Math.min(sweepAt, await nextStepAt(askedAt))
      // The lease may only be renewed late.
      const againAt = deps.term.isValid() ? Number.POSITIVE_INFINITY : clock.now() + AGAIN_MS
      await bells.send.wait(Math.max(1, Math.min(sweepAt, freeAt, againAt) - clock.now()))
    }
  }

  /** When a step is due that was not when we asked, or a closed channel is tried again. It may have become due meanwhile. */
  async function nextStepAt(askedAt: number): Promise<number> {
    const retries = closed.map(({ retryAt }) => retryAt).filter((at) => at > askedAt)
    return Math.min((await store.read.nextStepAt(askedAt)) ?? Infinity, ...retries)
  }

  async function sweep(): Promise<void> {
    closed = await store.read.closedChannels()
    for (const channel of await store.read.channelsToPost()) waitingChannels.add(channel)
  }

  /** While Slack is down, only a ping is sent now and then. */
  async function pingWhileDown(): Promise<boolean> {
    if (outage.reason() === null) return false
    const back = new AbortController()
    answered = () => back.abort()
    await clock.sleep(outage.nextPingAt() - clock.now(), AbortSignal.any([back.signal, stopping.signal]))
    if (outage.reason() !== null && !stopping.signal.aborted) void ping()
    return true
  }

  async function ping(): Promise<void> {
    outage.pingSent()
    const answer = await deps.notifier.ping()
    // Several pings may be in flight: after one good answer, the others are ignored.
    if (outage.reason() === null) return
    outage.recordOutcome(answer)
    if (outage.reason() !== null) return
    log.info({}, 'Slack answers again')
    answered()
  }

  async function beginCalls(): Promise<number> {
    if (!deps.term.isValid()) return 0
    let begun = 0
    const shut = closed.filter(({ retryAt }) => retryAt > clock.now()).map(({ channel }) => channel)
    // Posts before edits: a reply is news. Looks last: while history hangs, a look would block the card's other calls.
    const waiting = [...waitingChannels]
    for (const channel of waiting) {
      if (underWay.size >= CALLS_MAX) break
      if (shut.includes(channel) || pace.freeAt('post', channel) > clock.now()) continue
      // Before the read: what becomes due meanwhile adds the channel again, as ingesting, a finished call and a sweep do.
      waitingChannels.delete(channel)
      const started = await beginIn('post', channel, shut)
      if (started > 0) waitingChannels.add(channel)
      begun += started
    }
    begun += await beginIn('edit', null, shut)
    return begun + (await beginIn('look', null, shut))
  }

  /** Starts calls in a queue while its limit allows; one post per channel at a time, so the most urgent is next. */
  async function beginIn(queue: Queue, channel: ChannelId | null, shut: readonly ChannelId[]): Promise<number> {
    const now = clock.now()
    const freeCalls = CALLS_MAX - underWay.size
    if (freeCalls <= 0 || pace.freeAt(queue, channel) > now) return 0
    const due = await store.read.dueCards(queue, now, underWay.size + freeCalls, channel, shut)
    const ready = due.filter((key) => !underWay.has(nameOf(key))).slice(0, queue === 'post' ? 1 : freeCalls)
    let begun = 0
    for (const key of ready) {
      if (pace.freeAt(queue, key.channel) > now) break
      begin(key, queue)
      begun++
    }
    return begun
  }

  function begin(key: CardKey, queue: Queue): void {
    const release = pace.take(queue, key.channel)
    underWay.set(nameOf(key), sendAndRelease(key, queue, release))
  }

  async function sendAndRelease(key: CardKey, queue: Queue, release: (sentAt: number | null) => void): Promise<void> {
    release(await sendStep(key, queue))
    underWay.delete(nameOf(key))
    // A post of the same card may have waited for this call.
    waitingChannels.add(key.channel)
    bells.send.ring()
  }

  /** @returns when Slack was called (or may have been); null: it was not */
  async function sendStep(key: CardKey, queue: Queue): Promise<number | null> {
    try {
      const result = await sendNext(deps, key, queue)
      failures.send.end(nameOf(key))
      // The card stays due until the next renewal stops this process: pause, so that it is not retried in a tight loop.
      if (result.kind === 'lost') await clock.sleep(AGAIN_MS, stopping.signal)
      if (result.kind !== 'done') return null
      const { outcome, sentAt } = result
      outage.recordOutcome(outcome)
      if (outcome.kind === 'rate-limited') pace.block(queue, key.channel, outcome.retryAfterMs)
      if (outcome.kind === 'channel-closed') closed = await store.read.closedChannels()
      return sentAt
    } catch (error) {
      failures.send.count(nameOf(key))
      log.error({ err: error, ...key }, 'a step for Slack failed in Buildline; it will be tried again')
      await store.write((tx) => postponeCard(tx, deps, key)).catch(() => clock.sleep(AGAIN_MS, stopping.signal))
      return clock.now()
    }
  }

  /** When Slack's limits next allow a call that they do not allow now; Infinity: nothing waits for them. */
  function nextFreeAt(): number {
    const posts = [...waitingChannels].map((channel) => pace.freeAt('post', channel))
    const all = [...posts, pace.freeAt('edit', null), pace.freeAt('look', null)]
    return Math.min(...all.filter((at) => at > clock.now()))
  }

  function wake(news: News): void {
    if (news !== 'ingest') {
      if (news !== 'anything') waitingChannels.add(news)
      // The channel may be open again.
      if (news === 'anything' || closed.some(({ channel }) => channel === news)) sweepAt = 0
      bells.send.ring()
    }
    if (news === 'ingest' || news === 'anything') bells.ingest.ring()
  }

  return {
    async start() {
      pace = createPace(clock, await store.read.recentCalls(clock.now() - WINDOW_MS))
      const guard = (work: Work, loop: () => Promise<void>) =>
        forever(loop, deps, stopping.signal, () => failures[work].count(ROUND))
      loops = [guard('ingest', ingestLoop), guard('send', sendLoop)]
    },
    async stop() {
      stopping.abort()
      bells.ingest.ring()
      bells.send.ring()
      await Promise.all(loops)
      await Promise.allSettled(underWay.values())
    },
    wake,
    outage: outage.reason,
    failing: () => WORK.filter((work) => failures[work].areRepeated()),
  }
}

const WORK: readonly Work[] = ['ingest', 'send']

/** Stands for the loop itself in the count of failures; not the name of a revision or card. */
const ROUND = 'round'

type IngestResult = 'taken' | 'waits' | 'lost' | 'failed'

const nameOf = ({ subject, channel }: CardKey): string => `${subject} ${channel}`

/** Restarts a loop that failed, after a moment. The database may be away. */
async function forever(
  loop: () => Promise<void>,
  { log, clock }: ReconcileDeps,
  signal: AbortSignal,
  failed: () => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await loop()
    } catch (error) {
      failed()
      log.error({ err: error }, 'the reconciler failed; restarting it')
      await clock.sleep(AGAIN_MS, signal)
    }
  }
}

/** Failures are counted for at most this many revisions or cards. */
const FAILING_MAX = 10_000

/** A failure that is not retried within this time is forgotten: the longest backoff is half of it. */
const FAILING_MS = 2 * INGEST_AGAIN_MAX_MS

/** Counts failures in a row. */
function createFailures({ now }: Pick<ReconcileDeps['clock'], 'now'>) {
  const failing = new Map<string, { times: number; at: number }>()

  return {
    /** One more failure. @returns how many there were before */
    count(name: string): number {
      const times = failing.get(name)?.times ?? 0
      if (times > 0 || failing.size < FAILING_MAX) failing.set(name, { times: times + 1, at: now() })
      return times
    },
    end: (name: string) => void failing.delete(name),
    areRepeated: () => [...failing.values()].some(({ times, at }) => times > 1 && now() - at < FAILING_MS),
  }
}

/** A wake-up that is remembered until somebody waits for it. */
function createBell({ clock }: Pick<ReconcileDeps, 'clock'>) {
  let rung = false
  let wakeUp: (() => void) | null = null
  return {
    ring() {
      rung = true
      wakeUp?.()
    },
    async wait(ms: number): Promise<void> {
      if (!rung) {
        const waiting = new AbortController()
        // Without a reason, `abort` would create an exception each time.
        wakeUp = () => waiting.abort('rung')
        await clock.sleep(ms, waiting.signal)
        wakeUp = null
      }
      rung = false
    },
  }
}
