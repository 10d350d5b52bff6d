import type { BuildEvent } from './build-event.ts'
import { compareOrders, type BuildId, type ChannelId, type ProjectId } from './ids.ts'
import { isVerdict } from './status.ts'

// A branch's red streak, and who looks after it.

/** What finishes a build, by its place among the outcomes of its branch. */
type Outcome = Pick<BuildEvent, 'seq' | 'buildId' | 'buildOrder' | 'status'>

/** A streak that has not ended: its first and its newest failure, and how many builds failed. */
export interface RedStreak<One> {
  first: One
  newest: One
  builds: number
}

/**
 * The red streak that a branch is in: from its first failure after the last success, in the order of builds, whenever they
 * were received. A machine's failure neither begins one nor ends it, and is no build of it.
 * @param outcomes of one branch, in any order
 */
export function breakageOf<One extends Outcome>(outcomes: readonly One[]): RedStreak<One> | null {
  const ordered = outcomes.filter(({ status }) => isVerdict(status)).toSorted(compareOutcomes)
  const { failed } = sinceGreen(ordered)
  const [first] = failed
  if (!first) return null
  return { first, newest: failed.at(-1)!, builds: countBuilds(failed) }
}

/** What came after the last success: all of it, and what failed. @param ordered outcomes of a branch, the newest last */
export function sinceGreen<One extends Pick<Outcome, 'status'>>(ordered: readonly One[]) {
  const red = ordered.slice(ordered.findLastIndex(({ status }) => status === 'success') + 1)
  return { red, failed: red.filter(({ status }) => status === 'failed') }
}

export const countBuilds = (all: readonly Pick<Outcome, 'buildId'>[]): number =>
  new Set(all.map(({ buildId }) => buildId)).size

export const compareOutcomes = (a: Outcome, b: Outcome): number =>
  compareOrders(a.buildOrder, b.buildOrder) || a.seq - b.seq

/** A red streak as it is kept. Times in ms; places are `orderOf`. */
export interface Breakage {
  id: string
  branchKey: string
  projectId: ProjectId
  branch: string
  /** its first failure: when it ended, and its build's place */
  beganAt: number
  beganOrder: string
  /** builds that failed */
  builds: number
  /** its newest failure: its build's place, and the card that shows it */
  newestOrder: string
  revisionKey: string
  cardNumber: number
  /** when it ended, and the build that ended it; null: the branch is red */
  endedAt: number | null
  endedBy: BuildId | null
  /** a Slack user who has promised to look after it, since when and until when */
  owner: string | null
  ownedAt: number | null
  ownerUntil: number | null
  snoozedUntil: number | null
}

/** Since when a branch is red (ms), and how many builds failed. `atLeast`: longer than what is kept. */
export interface RedSince {
  at: number
  builds: number
  atLeast: boolean
}

/** What people see of a branch that is red: who is on it, and until when nobody is reminded. */
export interface Standing {
  id: string
  owner: { user: string; since: number; until: number } | null
  snoozedUntil: number | null
}

/** How it stands now (ms): a promise whose time has passed is none any more. */
export function standingOf(breakage: Breakage, now: number): Standing {
  const { id, owner: user, ownedAt, ownerUntil, snoozedUntil } = breakage
  const isOwned = user !== null && ownerUntil !== null && ownerUntil > now
  return {
    id,
    owner: isOwned ? { user, since: ownedAt ?? now, until: ownerUntil } : null,
    snoozedUntil: snoozedUntil !== null && snoozedUntil > now ? snoozedUntil : null,
  }
}

/** Since when the branch is red, and how many builds failed. */
export const redSinceOf = ({ beganAt: at, builds }: Breakage): RedSince => ({ at, builds, atLeast: false })

/** When a standing changes by itself (ms); null: it does not. */
export function changesAt({ owner, snoozedUntil }: Standing): number | null {
  const times = [owner?.until, snoozedUntil].filter((at) => at != null)
  return times.length === 0 ? null : Math.min(...times)
}

/** Something that somebody did about a breakage, or that happened to its owner: a line in the thread, and what people did a row of the audit. */
export interface BreakageChange {
  id: string
  breakageId: string
  /** Slack's id of the interaction: a repetition of it is the same change; null: nobody asked for it */
  interactionKey: string | null
  kind: DoneByPeople | 'reminded' | 'lapsed'
  /** a Slack user; of `left` the one who has left, of `lapsed` the one whose promise has passed; `reminded`: empty */
  by: string
  /** whom it was handed to */
  to: string | null
  /** until when it is promised, or nobody is reminded (ms) */
  until: number | null
  at: number
  /** the card in whose thread it stands */
  subject: string
  /** of `reminded`: where, and the how manieth there; else null */
  channel: ChannelId | null
  number: number | null
}

export type DoneByPeople = 'taken' | 'handed' | 'snoozed' | 'let-go' | 'left'
