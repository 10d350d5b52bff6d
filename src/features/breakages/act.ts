import {
  redSinceOf,
  standingOf,
  type Breakage,
  type BreakageChange,
  type RedSince,
  type Standing,
} from '../../domain/breakage.ts'
import { branchKey } from '../../domain/revision.ts'
import type { Clock } from '../../lib/clock.ts'
import { breakageLock } from '../../store/breakages.ts'
import type { Store, Tx } from '../../store/store.ts'
import { changeBreakage, OF_NOBODY } from '../../catalog/breakages.ts'
import { findBuild, summariesOf, type FindDeps } from '../../catalog/find-build.ts'
import type { BuildSummary, NotFound, Permits, Refused, Requester, Target } from '../../catalog/outcomes.ts'

const HOUR_MS = 60 * 60_000
const MINUTE_MS = 60_000

/** A promise lasts so many hours at most. */
export const OWNED_HOURS_MAX = 24
/** Nobody can have reminders silent for longer. */
export const SNOOZE_HOURS_MAX = 168
/** Whom a branch is handed to has it as long as it was promised, or so long. */
const HANDED_HOURS = 4

/** For how long somebody is on it: hours, or until the next day at nine where they live. */
export type Span = number | 'tomorrow'

/** What somebody wants to do about a red branch. */
export type Wish =
  | { kind: 'take'; span: Span }
  /** `to`: a Slack user */
  | { kind: 'hand'; to: string }
  | { kind: 'snooze'; hours: number }
  | { kind: 'let-go' }

/** A breakage by its name, or that of a build. */
export type Which = { kind: 'breakage'; id: string } | Target

/** A red branch as answers show it. */
export interface RedBranch extends RedSince {
  project: string
  branch: string
  standing: Standing
}

export type BreakageOutcome =
  /** also where this very ask was answered before */
  | { kind: 'changed'; change: BreakageChange; red: RedBranch }
  /** it is so already, or there is nothing to let go */
  | { kind: 'unchanged'; red: RedBranch }
  /** it cannot be handed to them, as far as Slack says */
  | { kind: 'not-a-member'; user: string }
  | NotRed
  | Refused

/** Nothing is to be done. */
export type NotRed =
  /** `by`: null where that build is not kept any more */
  | { kind: 'fixed'; project: string; branch: string; by: BuildSummary | null }
  /** no build of its branch failed since it last passed */
  | { kind: 'not-red' }
  | NotFound

export type LookOutcome = { kind: 'red'; red: RedBranch } | NotRed

export interface BreakageDeps extends Omit<FindDeps, 'reads'> {
  store: Store
  clock: Clock
  permits: Permits
  newId: () => string
  wake: (revisionKey: string) => void
  timeZoneOf: (user: string) => Promise<string>
}

/** What people do about red branches. Full members only. */
export const breakageOperations = (deps: BreakageDeps) => ({
  /** How it stands, for the form. */
  async look(which: Which): Promise<LookOutcome> {
    const found = await find(deps, which)
    return found.kind === 'open' ? { kind: 'red', red: await redOf(deps, found.breakage) } : found
  },
  /** At most one change for one ask. After the fix nothing is changed. */
  act: (which: Which, wish: Wish, by: Requester) => act(deps, which, wish, by),
  /** May this person do anything about them? */
  mayOwn: (by: Pick<Requester, 'user' | 'team'>) => deps.permits('own', by),
})

async function act(deps: BreakageDeps, which: Which, wish: Wish, by: Requester): Promise<BreakageOutcome> {
  const permit = await deps.permits('own', by)
  if (permit.kind === 'no') return { kind: 'forbidden', action: 'own', permit }
  if (permit.kind === 'unknown-person') return permit
  if (wish.kind === 'hand' && (await deps.permits('own', { user: wish.to, team: null })).kind !== 'yes')
    return { kind: 'not-a-member', user: wish.to }
  const found = await find(deps, which)
  if (found.kind !== 'open') return found
  const { branchKey: key, id } = found.breakage
  const zone = wish.kind === 'take' && wish.span === 'tomorrow' ? await deps.timeZoneOf(by.user) : 'UTC'
  const changeId = deps.newId()
  const end = await deps.store.write(async (tx) => {
    await tx.lockName(breakageLock(key))
    const [stands, earlier] = [await tx.breakage(id), await tx.breakageChangeBy(by.interactionKey)]
    if (earlier || !stands || stands.endedAt !== null) return { breakage: stands, change: earlier }
    return change(tx, stands, { wish, by, zone, now: deps.clock.now(), id: changeId })
  })
  if (!end.breakage) return { kind: 'not-red' }
  if (end.breakage.endedAt !== null && !end.change) return fixedOf(deps, end.breakage)
  const red = await redOf(deps, end.breakage)
  if (end.change === null) return { kind: 'unchanged', red }
  deps.wake(end.breakage.revisionKey)
  return { kind: 'changed', change: end.change, red }
}

interface Asked {
  wish: Wish
  by: Requester
  zone: string
  now: number
  id: string
}

/** Makes the change that is asked for; null: there is nothing to change. */
async function change(tx: Tx, stands: Breakage, { wish, by, zone, now, id }: Asked) {
  const { owner } = standingOf(stands, now)
  const done = async (breakage: Breakage, what: Pick<BreakageChange, 'kind' | 'to' | 'until'>) => ({
    breakage,
    change: await changeBreakage(tx, breakage, {
      id,
      interactionKey: by.interactionKey,
      by: by.user,
      at: now,
      ...what,
    }),
  })
  const nothing = { breakage: stands, change: null }
  switch (wish.kind) {
    case 'take': {
      const until = untilOf(wish.span, zone, now)
      if (owner?.user === by.user && owner.until === until) return nothing
      const taken = { ...stands, owner: by.user, ownedAt: now, ownerUntil: until }
      return done(taken, { kind: 'taken', to: null, until })
    }
    case 'hand': {
      if (owner?.user === wish.to) return nothing
      const until = owner?.until ?? untilOf(HANDED_HOURS, zone, now)
      const handed = { ...stands, owner: wish.to, ownedAt: now, ownerUntil: until }
      return done(handed, { kind: 'handed', to: wish.to, until })
    }
    case 'snooze': {
      const until = untilOf(Math.min(wish.hours, SNOOZE_HOURS_MAX), zone, now)
      if (stands.snoozedUntil === until) return nothing
      return done({ ...stands, snoozedUntil: until }, { kind: 'snoozed', to: null, until })
    }
    case 'let-go':
      if (owner?.user !== by.user) return nothing
      return done({ ...stands, ...OF_NOBODY }, { kind: 'let-go', to: null, until: null })
  }
}

/** To the minute: who presses twice promises the same. */
export function untilOf(span: Span, zone: string, now: number): number {
  if (span !== 'tomorrow') return Math.floor((now + span * HOUR_MS) / MINUTE_MS) * MINUTE_MS
  const there = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
  return there.add({ days: 1 }).withPlainTime({ hour: WORKDAY_HOUR }).epochMilliseconds
}

const WORKDAY_HOUR = 9

async function find(deps: BreakageDeps, which: Which): Promise<{ kind: 'open'; breakage: Breakage } | NotRed> {
  const { read } = deps.store
  if (which.kind === 'breakage') return openOr(deps, await read.breakage(which.id))
  const looked = await findBuild(findIn(deps), which)
  if (looked.kind !== 'found') return looked
  const { attempt } = looked.found
  const [{ projectId, branch }] = [attempt.buildEvents[0]!]
  return openOr(deps, branch === null ? null : await read.breakageAt(branchKey(projectId, branch), attempt.buildOrder))
}

async function openOr(deps: BreakageDeps, breakage: Breakage | null) {
  if (!breakage) return { kind: 'not-red' } as const
  return breakage.endedAt === null ? ({ kind: 'open', breakage } as const) : fixedOf(deps, breakage)
}

async function fixedOf(deps: BreakageDeps, { projectId, branch, endedBy }: Breakage) {
  const build = endedBy && (await deps.store.read.build(projectId, endedBy))
  const [by = null] = build ? await summariesOf(findIn(deps), [build]) : []
  return { kind: 'fixed', project: await nameOf(deps, projectId), branch, by } as const
}

async function redOf(deps: BreakageDeps, breakage: Breakage): Promise<RedBranch> {
  const { projectId, branch } = breakage
  const standing = standingOf(breakage, deps.clock.now())
  return { project: await nameOf(deps, projectId), branch, ...redSinceOf(breakage), standing }
}

async function nameOf({ store }: BreakageDeps, projectId: string): Promise<string> {
  const known = (await store.read.deliveredProjects()).find((one) => one.projectId === projectId)
  return known?.name ?? `project ${projectId}`
}

const findIn = ({ store, interfaces, clock }: BreakageDeps): FindDeps => ({ reads: store.read, interfaces, clock })
