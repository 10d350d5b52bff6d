import { type SubscriptionDeps, announce, channelFor, postableChannel, type Announced } from './channel.ts'
import {
  DIGEST_AHEAD_MAX_MS,
  DIGEST_LATE_MAX_MS,
  digestDue,
  periodOf,
  zoneNamed,
  type Schedule,
} from '../../domain/rules/digest.ts'
import { NO_QUEUES } from '../../domain/cards/plan.ts'
import { digestSubject } from '../../domain/builds/revision.ts'
import type { DigestView } from '../../domain/cards/view.ts'
import { digestView, type DigestViewDeps } from '../../projects/figures.ts'
import type { Refused, Requester } from '../../projects/outcomes.ts'
import { digestOffLine, digestSetLine } from '../../slack/messages/digest.ts'
import type { StoredDigest } from '../../store/records.ts'
import { refuseGivenUp } from '../../store/not-attempted.ts'

/** As typed. `zone` null: the requester's own time zone. */
export type DigestInput = Omit<Schedule, 'zone'> & { zone: string | null }

export type DigestOutcome =
  /** null: the channel has none */
  | { kind: 'digest'; digest: StoredDigest | null }
  | { kind: 'set'; digest: Omit<StoredDigest, 'last'>; announced: Announced }
  /** the channel has exactly this digest already */
  | { kind: 'same'; digest: StoredDigest }
  | { kind: 'off'; announced: Announced }
  /** the channel had no digest */
  | { kind: 'off-already' }
  | { kind: 'preview'; view: DigestView }
  | { kind: 'no-zone'; zone: string }
  | { kind: 'no-channel' }
  | Refused

export interface DigestDeps extends SubscriptionDeps, Omit<DigestViewDeps, 'store' | 'clock'> {}

export async function showDigest({ store }: DigestDeps, by: Requester): Promise<DigestOutcome> {
  const place = postableChannel(by.channel)
  return place.kind === 'channel' ? { kind: 'digest', digest: await store.read.digest(place.channel) } : place
}

/** Sets the channel's digest, replacing an earlier one; then announces it in the channel. */
export async function setDigest(deps: DigestDeps, input: DigestInput, by: Requester): Promise<DigestOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const zone = input.zone === null ? await deps.timeZoneOf(by.user) : zoneNamed(input.zone)
  if (zone === null) return { kind: 'no-zone', zone: input.zone! }
  const schedule: Schedule = { ...input, zone }
  const now = deps.clock.now()
  const digest = { channel, schedule, setBy: by.user, setAt: now, nextAt: digestDue(schedule, now).next }
  const same = await deps.store.write(async (tx) => {
    await refuseGivenUp(tx, by.interactionKey)
    const was = await tx.digest(channel)
    if (was && isSame(was.schedule, schedule)) return was
    await tx.saveDigest(digest)
    return null
  })
  if (same) return { kind: 'same', digest: same }
  const text = digestSetLine(by.user, schedule)
  return { kind: 'set', digest, announced: await announce(deps, { channel, text, user: by.user }) }
}

const isSame = (a: Schedule, b: Schedule): boolean =>
  a.kind === b.kind && a.weekday === b.weekday && a.minute === b.minute && a.zone === b.zone

export async function turnOffDigest(deps: DigestDeps, by: Requester): Promise<DigestOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const isRemoved = await deps.store.write(async (tx) => {
    await refuseGivenUp(tx, by.interactionKey)
    return tx.removeDigest(channel)
  })
  if (!isRemoved) return { kind: 'off-already' }
  return { kind: 'off', announced: await announce(deps, { channel, text: digestOffLine(by.user), user: by.user }) }
}

/** Tomorrow's digest as far as it is known now, with today's builds. A weekly one if none is set. */
export async function previewDigest(deps: DigestDeps, by: Requester): Promise<DigestOutcome> {
  const place = postableChannel(by.channel)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const stored = await deps.store.read.digest(channel)
  const zone = stored?.schedule.zone ?? (await deps.timeZoneOf(by.user))
  const now = deps.clock.now()
  // Not 24 hours later: a day with a clock change is longer or shorter.
  const tomorrow = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).add({ days: 1 })
  const { period, ...rest } = periodOf({ kind: stored?.schedule.kind ?? 'weekly', zone }, tomorrow.epochMilliseconds)
  // The period ends now (`to` is the first ms after it): a branch that is red must not count as red until midnight.
  const view = await digestView(deps, channel, { ...rest, period: { ...period, to: now + 1 } }, now)
  return { kind: 'preview', view }
}

/** The job that looks for due digests. */
export const DIGESTS_JOB = 'send-digests'

export interface SendDigests
  extends Pick<DigestDeps, 'store' | 'clock' | 'log'>, Omit<DigestViewDeps, 'store' | 'clock'> {
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

async function plan(deps: SendDigests, digest: StoredDigest): Promise<void> {
  const { store, clock, log } = deps
  const { channel, schedule, last } = digest
  const now = clock.now()
  const { last: dueAt, next: nextAt } = digestDue(schedule, now)
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
