import { nextDue, periodOf, zoneNamed, type Schedule } from '../../domain/digest.ts'
import type { DigestView } from '../../domain/view.ts'
import { digestView, type DigestViewDeps } from '../../catalog/figures.ts'
import type { Refused, Requester } from '../../catalog/outcomes.ts'
import { digestOffLine, digestSetLine } from '../../slack/messages/digest.ts'
import type { KeptDigest } from '../../store/digests.ts'
import { announce } from './announce.ts'
import { channelFor } from './channel.ts'
import type { Announced, SubscriptionDeps } from './outcomes.ts'

/** As typed. `zone` null: the requester's own time zone. */
export type WantedDigest = Omit<Schedule, 'zone'> & { zone: string | null }

export type DigestOutcome =
  /** null: the channel has none */
  | { kind: 'digest'; digest: KeptDigest | null }
  | { kind: 'set'; digest: Omit<KeptDigest, 'last'>; announced: Announced }
  /** the channel has exactly this digest already */
  | { kind: 'same'; digest: KeptDigest }
  | { kind: 'off'; announced: Announced }
  /** the channel had no digest */
  | { kind: 'off-already' }
  | { kind: 'preview'; view: DigestView }
  | { kind: 'no-zone'; zone: string }
  | { kind: 'no-channel' }
  | Refused

export interface DigestDeps extends SubscriptionDeps, Omit<DigestViewDeps, 'store' | 'clock'> {
  /** the time zone of a Slack user; UTC if Slack does not say */
  timeZoneOf: (user: string) => Promise<string>
}

/** What people can do with a channel's digest. */
export const digestOperations = (deps: DigestDeps) => ({
  async digest({ channel }: Requester): Promise<DigestOutcome> {
    return { kind: 'digest', digest: channel === null ? null : await deps.store.read.digest(channel) }
  },
  setDigest: (wanted: WantedDigest, by: Requester) => setDigest(deps, wanted, by),
  turnOffDigest: (by: Requester) => turnOffDigest(deps, by),
  previewDigest: (by: Requester) => previewDigest(deps, by),
})

/** Sets the channel's digest, replacing an earlier one; then tells the channel in one line. */
async function setDigest(deps: DigestDeps, wanted: WantedDigest, by: Requester): Promise<DigestOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  const zone = wanted.zone === null ? await deps.timeZoneOf(by.user) : zoneNamed(wanted.zone)
  if (zone === null) return { kind: 'no-zone', zone: wanted.zone! }
  const schedule: Schedule = { ...wanted, zone }
  const now = deps.clock.now()
  const digest = { channel, schedule, setBy: by.user, setAt: now, nextAt: nextDue(schedule, now) }
  const same = await deps.store.write(async (tx) => {
    const was = await tx.digest(channel)
    if (was && isSame(was.schedule, schedule)) return was
    await tx.keepDigest(digest)
    return null
  })
  if (same) return { kind: 'same', digest: same }
  const text = digestSetLine(by.user, schedule)
  return { kind: 'set', digest, announced: await announce(deps, { channel, text, user: by.user }) }
}

const isSame = (a: Schedule, b: Schedule): boolean =>
  a.kind === b.kind && a.weekday === b.weekday && a.minute === b.minute && a.zone === b.zone

async function turnOffDigest(deps: DigestDeps, by: Requester): Promise<DigestOutcome> {
  const place = await channelFor(deps, by)
  if (place.kind !== 'channel') return place
  const { channel } = place
  if (!(await deps.store.write((tx) => tx.removeDigest(channel)))) return { kind: 'off-already' }
  return { kind: 'off', announced: await announce(deps, { channel, text: digestOffLine(by.user), user: by.user }) }
}

/** What a digest would say today; a weekly one if none is set. */
async function previewDigest(deps: DigestDeps, { channel, user }: Requester): Promise<DigestOutcome> {
  if (channel === null) return { kind: 'no-channel' }
  const kept = await deps.store.read.digest(channel)
  const zone = kept?.schedule.zone ?? (await deps.timeZoneOf(user))
  const now = deps.clock.now()
  const period = periodOf({ kind: kept?.schedule.kind ?? 'weekly', zone }, now)
  const view = await digestView(deps, channel, period, now)
  return { kind: 'preview', view }
}
