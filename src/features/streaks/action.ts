import {
  extentOf,
  ownershipOf,
  type Streak,
  type StreakChange,
  type StreakExtent,
  type Ownership,
} from '../../domain/builds/streak.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import type { Clock } from '../../lib/clock.ts'
import { streakLock } from '../../store/streaks.ts'
import { refuseGivenUp } from '../../store/not-attempted.ts'
import type { Store, Tx } from '../../store/store.ts'
import { changeStreak, NO_OWNER } from '../../projects/streaks.ts'
import { findBuild, summariesOf, summaryOf, type FindBuildDeps } from '../../projects/find-build.ts'
import { deliveredById } from '../../projects/followers.ts'
import {
  refusalOf,
  type BuildSummary,
  type NotFound,
  type Permits,
  type Refused,
  type Requester,
  type Target,
} from '../../projects/outcomes.ts'

const MINUTE_MS = 60_000
export const HOUR_MINUTES = 60

/** The longest time for which a person can be on a branch. */
export const OWNED_HOURS_MAX = 24
/** The time for which a branch is handed over if nobody was on it. */
const HANDED_HOURS = 4

/** How long a person is on it: minutes, or until the next day at nine in their time zone. */
export type Span = number | 'tomorrow'

/** What a person wants to do about a red branch. */
export type StreakAction =
  | { kind: 'take'; span: Span }
  /** `to`: a Slack user */
  | { kind: 'hand'; to: string }
  | { kind: 'snooze'; minutes: number }
  | { kind: 'let-go' }

/** A streak by its id, or the one that a build belongs to. */
export type Which = { kind: 'streak'; id: string } | Target

/** A red branch as answers show it. */
export interface RedBranch extends StreakExtent {
  project: string
  branch: string
  ownership: Ownership
}

export type StreakOutcome =
  /** made now, or by an earlier copy of this request */
  | { kind: 'changed'; change: StreakChange; red: RedBranch }
  /** it already has this state, or the requester is not on it and so cannot let it go */
  | { kind: 'unchanged'; action: StreakAction['kind']; red: RedBranch }
  /** this person cannot take it over, as far as Slack says */
  | { kind: 'not-a-member'; user: string }
  | NotRed
  | Refused

/** The branch is not red, so there is nothing to do. */
export type NotRed =
  /** `by`: the build that fixed it; null: it is no longer stored */
  | { kind: 'fixed'; project: string; branch: string; by: BuildSummary | null }
  /** no build of its branch failed since it last passed; null: the build is no longer stored */
  | { kind: 'not-red'; build: BuildSummary | null }
  | NotFound

export interface StreakDeps extends FindBuildDeps {
  store: Store
  clock: Clock
  permits: Permits
  newId: () => string
  timeZoneOf: (user: string) => Promise<string>
}

/** The red branch, for the form. */
export async function findRed(deps: StreakDeps, which: Which): Promise<{ kind: 'red'; red: RedBranch } | NotRed> {
  const found = await find(deps, which)
  return found.kind === 'open' ? { kind: 'red', red: await redOf(deps, found.streak) } : found
}

/** Makes at most one change for each request, and none after the fix. */
export async function act(deps: StreakDeps, which: Which, action: StreakAction, by: Requester): Promise<StreakOutcome> {
  const refused = await refusalOf(deps.permits, 'own', by, 'own')
  if (refused) return refused
  if (action.kind === 'hand' && (await deps.permits('own', { user: action.to, team: null })).kind !== 'yes')
    return { kind: 'not-a-member', user: action.to }
  const found = await find(deps, which)
  if (found.kind !== 'open') return found
  const { branchKey: key, id } = found.streak
  const zone = action.kind === 'take' && action.span === 'tomorrow' ? await deps.timeZoneOf(by.user) : 'UTC'
  const changeId = deps.newId()
  const end = await deps.store.write(async (tx) => {
    await tx.lockName(streakLock(key))
    const [streak, earlier] = [await tx.streak(id), await tx.streakChangeBy(by.interactionKey)]
    if (earlier || !streak || streak.endedAt !== null) return { streak, change: earlier }
    await refuseGivenUp(tx, by.interactionKey)
    return makeChange(tx, streak, { action, by, zone, now: deps.clock.now(), id: changeId })
  })
  if (!end.streak) return { kind: 'not-red', build: null }
  if (end.streak.endedAt !== null && !end.change) return fixedOf(deps, end.streak)
  const red = await redOf(deps, end.streak)
  if (end.change === null) return { kind: 'unchanged', action: action.kind, red }
  return { kind: 'changed', change: end.change, red }
}

interface ChangeRequest {
  action: StreakAction
  by: Requester
  zone: string
  now: number
  id: string
}

/** `change` is null if there is nothing to change. */
async function makeChange(tx: Tx, streak: Streak, { action, by, zone, now, id }: ChangeRequest) {
  const { owner } = ownershipOf(streak, now)
  const common = { id, interactionKey: by.interactionKey, by: by.user, at: now }
  const done = async (fields: Partial<Streak>, what: Pick<StreakChange, 'kind' | 'to' | 'until'>) => {
    const changed = { ...streak, ...fields }
    return { streak: changed, change: await changeStreak(tx, changed, { ...common, ...what }) }
  }
  const nothing = { streak, change: null }
  switch (action.kind) {
    case 'take': {
      const until = untilOf(action.span, zone, now)
      if (owner?.user === by.user && owner.until === until) return nothing
      return done({ owner: by.user, ownedAt: now, ownerUntil: until }, { kind: 'taken', to: null, until })
    }
    case 'hand': {
      if (owner?.user === action.to) return nothing
      const until = owner?.until ?? untilOf(HANDED_HOURS * HOUR_MINUTES, zone, now)
      const fields = { owner: action.to, ownedAt: now, ownerUntil: until }
      if (action.to === by.user) return done(fields, { kind: 'taken', to: null, until })
      return done(fields, { kind: 'handed', to: action.to, until })
    }
    case 'snooze': {
      const until = untilOf(action.minutes, zone, now)
      if (streak.snoozedUntil === until) return nothing
      return done({ snoozedUntil: until }, { kind: 'snoozed', to: null, until })
    }
    case 'let-go':
      if (owner?.user !== by.user) return nothing
      return done(NO_OWNER, { kind: 'let-go', to: null, until: null })
  }
}

/** Rounded to the minute, so that a second press in the same minute changes nothing. */
export function untilOf(span: Span, zone: string, now: number): number {
  if (span !== 'tomorrow') return (Math.floor(now / MINUTE_MS) + span) * MINUTE_MS
  const there = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
  return there.add({ days: 1 }).withPlainTime({ hour: WORKDAY_HOUR }).epochMilliseconds
}

const WORKDAY_HOUR = 9

async function find(deps: StreakDeps, which: Which): Promise<{ kind: 'open'; streak: Streak } | NotRed> {
  const { read } = deps.store
  if (which.kind === 'streak') return openOr(deps, await read.streak(which.id))
  const result = await findBuild(deps, which)
  if (result.kind !== 'found') return result
  const { attempt } = result.found
  const [{ projectId, branch }] = [attempt.buildEvents[0]!]
  const streak = branch === null ? null : await read.streakAt(branchKey(projectId, branch), attempt.buildOrder)
  return streak ? openOr(deps, streak) : ({ kind: 'not-red', build: await summaryOf(deps, result.found) } as const)
}

async function openOr(deps: StreakDeps, streak: Streak | null) {
  if (!streak) return { kind: 'not-red', build: null } as const
  return streak.endedAt === null ? ({ kind: 'open', streak } as const) : fixedOf(deps, streak)
}

async function fixedOf(deps: StreakDeps, { projectId, branch, endedBy }: Streak) {
  const build = endedBy && (await deps.store.read.build(projectId, endedBy))
  const [by = null] = build ? await summariesOf(deps, [build]) : []
  return { kind: 'fixed', project: await nameOf(deps, projectId), branch, by } as const
}

async function redOf(deps: StreakDeps, streak: Streak): Promise<RedBranch> {
  const { projectId, branch } = streak
  const shown = ownershipOf(streak, deps.clock.now())
  return { project: await nameOf(deps, projectId), branch, ...extentOf(streak), ownership: shown }
}

async function nameOf({ store }: StreakDeps, projectId: string): Promise<string> {
  const known = await deliveredById(store.read, [projectId])
  return known.get(projectId)?.name ?? `project ${projectId}`
}
