import { DIGEST_AHEAD_MAX_MS, DIGEST_LATE_MAX_MS, lastDue, nextDue, periodOf } from '../../domain/digest.ts'
import { NO_QUEUES } from '../../domain/plan.ts'
import { digestSubject } from '../../domain/revision.ts'
import type { DigestView } from '../../domain/view.ts'
import { digestView, type DigestViewDeps } from '../../catalog/figures.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { KeptDigest } from '../../store/digests.ts'
import type { Store } from '../../store/store.ts'

/** The job that looks for due digests, and how often it does. */
export const DIGESTS_JOB = 'send-digests'
export const DIGESTS_EVERY_MS = 10_000

export interface SendDigests extends DigestViewDeps {
  store: Store
  clock: Clock
  log: Log
  /** Draws the chart and uploads it to Slack, so that a message can show it: its id there; null if that fails. */
  chart: (view: DigestView) => Promise<string | null>
}

/**
 * Plans each due digest: stores its content with its period, as a card that the reconciler posts. So it is posted once,
 * even if a process dies. A digest that fails does not hold up the others.
 */
export async function sendDigests(deps: SendDigests, signal: AbortSignal): Promise<'done' | 'again'> {
  let end: 'done' | 'again' = 'done'
  const { read } = deps.store
  const now = deps.clock.now()
  for (const digest of [...(await read.digestsDue(now)), ...(await read.digestsAfter(now + DIGEST_AHEAD_MAX_MS))]) {
    if (signal.aborted) return 'again'
    try {
      await plan(deps, digest)
    } catch (error) {
      end = 'again'
      deps.log.error({ err: error, channel: digest.channel }, 'a digest could not be planned; it will be tried again')
    }
  }
  return end
}

async function plan(deps: SendDigests, digest: KeptDigest): Promise<void> {
  const { store, clock, log } = deps
  const { channel, schedule, last } = digest
  const now = clock.now()
  const dueAt = lastDue(schedule, now)
  const nextAt = nextDue(schedule, now)
  if (digest.nextAt > now) return void (await store.write((tx) => tx.advanceDigest(digest, { nextAt, planned: null })))
  const period = periodOf(schedule, dueAt)
  // `dueAt` can be before `nextAt` if the time zone's rules have changed since `nextAt` was computed.
  const isMissed = dueAt < digest.nextAt || now - dueAt > DIGEST_LATE_MAX_MS
  if (isMissed || last?.period === period.name) {
    await store.write((tx) => tx.advanceDigest(digest, { nextAt, planned: null }))
    if (isMissed) log.warn({ channel, period: period.name }, 'a digest was missed for too long and is left out')
    return
  }
  const view = await digestView(deps, channel, period, now)
  const picture = view.builds === 0 ? null : await deps.chart(view)
  const planned = { period: period.name, dueAt, plannedAt: now, view: { ...view, picture } }
  const card = { subject: digestSubject(period.name), channel, quiet: false, mention: false }
  const isPlanned = await store.write(async (tx) => {
    if (!(await tx.advanceDigest(digest, { nextAt, planned }))) return false
    await tx.ensureCard(card)
    await tx.setQueues(card, { ...NO_QUEUES, post: { at: now, priority: DIGEST_PRIORITY } })
    return true
  })
  if (isPlanned) log.info({ channel, period: period.name, builds: view.builds }, 'a digest was planned')
}

/** Digests are posted after all build news. */
const DIGEST_PRIORITY = 4
