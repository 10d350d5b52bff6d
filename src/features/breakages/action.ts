import {
  redSinceOf,
  shownBreakage,
  type Breakage,
  type BreakageChange,
  type RedSince,
  type ShownBreakage,
} from '../../domain/builds/breakage.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import type { Clock } from '../../lib/clock.ts'
import { breakageLock } from '../../store/breakages.ts'
import { refuseGivenUp } from '../../store/not-attempted.ts'
import type { Store, Tx } from '../../store/store.ts'
import { changeBreakage, NO_OWNER } from '../../projects/breakages.ts'
import { findBuild, summariesOf, type FindBuildDeps } from '../../projects/find-build.ts'
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
export type BreakageAction =
  | { kind: 'take'; span: Span }
  /** `to`: a Slack user */
  | { kind: 'hand'; to: string }
  | { kind: 'snooze'; minutes: number }
  | { kind: 'let-go' }

/** A breakage by its id, or the one that a build belongs to. */
export type Which = { kind: 'breakage'; id: string } | Target

/** A red branch as answers show it. */
export interface RedBranch extends RedSince {
  project: string
  branch: string
  breakage: ShownBreakage
}

export type BreakageOutcome =
  /** made now, or by an earlier copy of this request */
  | { kind: 'changed'; change: BreakageChange; red: RedBranch }
  /** it already has this state, or the requester is not on it and so cannot let it go */
  | { kind: 'unchanged'; action: BreakageAction['kind']; red: RedBranch }
  /** this person cannot take it over, as far as Slack says */
  | { kind: 'not-a-member'; user: string }
  | NotRed
  | Refused

/** The branch is not red, so there is nothing to do. */
export type NotRed =
  /** `by`: the build that fixed it; null: it is no longer stored */
  | { kind: 'fixed'; project: string; branch: string; by: BuildSummary | null }
  /** no build of its branch failed since it last passed */
  | { kind: 'not-red' }
  | NotFound

export interface BreakageDeps extends FindBuildDeps {
  store: Store
  clock: Clock
  permits: Permits
  newId: () => string
  timeZoneOf: (user: string) => Promise<string>
}

export type BreakageOperations = ReturnType<typeof breakageOperations>

/** What full members can do about red branches. */
export const breakageOperations = (deps: BreakageDeps) => ({
  /** The red branch, for the form. */
  async find(which: Which): Promise<{ kind: 'red'; red: RedBranch } | NotRed> {
    const found = await find(deps, which)
    return found.kind === 'open' ? { kind: 'red', red: await redOf(deps, found.breakage) } : found
  },
  /** Makes at most one change for each request, and none after the fix. */
  act: (which: Which, action: BreakageAction, by: Requester) => act(deps, which, action, by),
  /** Whether this person may be on a red branch. */
  mayOwn: (by: Pick<Requester, 'user' | 'team'>) => deps.permits('own', by),
})

async function act(deps: BreakageDeps, which: Which, action: BreakageAction, by: Requester): Promise<BreakageOutcome> {
  const refused = await refusalOf(deps.permits, 'own', by, 'own')
  if (refused) return refused
  if (action.kind === 'hand' && (await deps.permits('own', { user: action.to, team: null })).kind !== 'yes')
    return { kind: 'not-a-member', user: action.to }
  const found = await find(deps, which)
  if (found.kind !== 'open') return found
  const { branchKey: key, id } = found.breakage
  const zone = action.kind === 'take' && action.span === 'tomorrow' ? await deps.timeZoneOf(by.user) : 'UTC'
  const changeId = deps.newId()
  const end = await deps.store.write(async (tx) => {
    await tx.lockName(breakageLock(key))
    const [breakage, earlier] = [await tx.breakage(id), await tx.breakageChangeBy(by.interactionKey)]
    if (earlier || !breakage || breakage.endedAt !== null) return { breakage, change: earlier }
    await refuseGivenUp(tx, by.interactionKey)
    return makeChange(tx, breakage, { action, by, zone, now: deps.clock.now(), id: changeId })
  })
  if (!end.breakage) return { kind: 'not-red' }
  if (end.breakage.endedAt !== null && !end.change) return fixedOf(deps, end.breakage)
  const red = await redOf(deps, end.breakage)
  if (end.change === null) return { kind: 'unchanged', action: action.kind, red }
  return { kind: 'changed', change: end.change, red }
}

interface ChangeRequest {
  action: BreakageAction
  by: Requester
  zone: string
  now: number
  id: string
}

/** `change` is null if there is nothing to change. */
async function makeChange(tx: Tx, breakage: Breakage, { action, by, zone, now, id }: ChangeRequest) {
  const { owner } = shownBreakage(breakage, now)
  const common = { id, interactionKey: by.interactionKey, by: by.user, at: now }
  const done = async (fields: Partial<Breakage>, what: Pick<BreakageChange, 'kind' | 'to' | 'until'>) => {
    const changed = { ...breakage, ...fields }
    return { breakage: changed, change: await changeBreakage(tx, changed, { ...common, ...what }) }
  }
  const nothing = { breakage, change: null }
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
      if (breakage.snoozedUntil === until) return nothing
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

async function find(deps: BreakageDeps, which: Which): Promise<{ kind: 'open'; breakage: Breakage } | NotRed> {
  const { read } = deps.store
  if (which.kind === 'breakage') return openOr(deps, await read.breakage(which.id))
  const result = await findBuild(deps, which)
  if (result.kind !== 'found') return result
  const { attempt } = result.found
  const [{ projectId, branch }] = [attempt.buildEvents[0]!]
  return openOr(deps, branch === null ? null : await read.breakageAt(branchKey(projectId, branch), attempt.buildOrder))
}

async function openOr(deps: BreakageDeps, breakage: Breakage | null) {
  if (!breakage) return { kind: 'not-red' } as const
  return breakage.endedAt === null ? ({ kind: 'open', breakage } as const) : fixedOf(deps, breakage)
}

async function fixedOf(deps: BreakageDeps, { projectId, branch, endedBy }: Breakage) {
  const build = endedBy && (await deps.store.read.build(projectId, endedBy))
  const [by = null] = build ? await summariesOf(deps, [build]) : []
  return { kind: 'fixed', project: await nameOf(deps, projectId), branch, by } as const
}

async function redOf(deps: BreakageDeps, breakage: Breakage): Promise<RedBranch> {
  const { projectId, branch } = breakage
  const shown = shownBreakage(breakage, deps.clock.now())
  return { project: await nameOf(deps, projectId), branch, ...redSinceOf(breakage), breakage: shown }
}

async function nameOf({ store }: BreakageDeps, projectId: string): Promise<string> {
  const known = await deliveredById(store.read, [projectId])
  return known.get(projectId)?.name ?? `project ${projectId}`
}
