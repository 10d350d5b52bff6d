import { type Claimable, claimable, normalHandle } from '../../domain/handle.ts'
import { refusalOf, type Permits, type Refused, type Requester } from '../../projects/outcomes.ts'
import { revisionSubject } from '../../domain/builds/revision.ts'
import { REQUEST_URGENCY } from '../../domain/cards/plan.ts'
import type { AttemptRef } from '../../domain/cards/request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Presence } from '../../slack/api/directory.ts'
import type { SendText } from '../../slack/api/send-text.ts'
import { refuseGivenUp } from '../../store/not-attempted.ts'
import type { Store, Tx } from '../../store/store.ts'
import { dropOwner } from '../../projects/streaks.ts'
import { readMe, type Me } from '../../projects/people.ts'
import { invariant } from '../../lib/assert.ts'
import { givenLine, takenLine } from '../../slack/messages/build.ts'

/** The most names of one person. Real people commit under fewer. */
export const HANDLES_MAX = 20

export type MeOutcome =
  | { kind: 'me'; me: Me }
  /** the name now means the requester; `isNew`: it did not before */
  | { kind: 'claimed'; handle: string; isNew: boolean; me: Me }
  /** another person has it; `isGone`: that person has left the workspace */
  | { kind: 'taken'; handle: string; by: string; isGone: boolean }
  | { kind: 'not-claimable'; handle: string; why: NotClaimable }
  | { kind: 'too-many'; user: string; max: number }
  /** an admin gave it to `user`; `was`: the owner before; `unreached`: those of both who could not be notified */
  | { kind: 'given'; handle: string; user: string; was: string | null; unreached: readonly string[] }
  /** the person who was to get the name cannot be mentioned */
  | { kind: 'not-a-person'; handle: string; user: string; why: NotAPerson }
  | { kind: 'released'; handle: string; me: Me }
  /** `by`: the person who has it; null: nobody */
  | { kind: 'not-yours'; handle: string; by: string | null }
  | { kind: 'mentions'; me: Me }
  /** the build is not stored any more, or names no committer */
  | { kind: 'no-committer' }
  | Refused

export type NotClaimable = Extract<Claimable, { kind: 'no' }>['why']

/** `unknown`: Slack did not say. */
export type NotAPerson = 'deactivated' | 'bot' | 'outsider' | 'unknown'

export interface PersonDeps {
  store: Store
  clock: Clock
  log: Log
  permits: Permits
  /** asks Slack, not the cache, whether this person is in the workspace */
  presenceOf: (user: string) => Promise<Presence>
  newId: () => string
  sendText: SendText
}

/**
 * Which person a committer's name means, and whether they want mentions. Everybody who may read can claim names: guests
 * too, but no outsiders, bots or deactivated accounts.
 */
export function createPersonOperations(deps: PersonDeps) {
  const { store } = deps
  return {
    me: (by: Requester) => whenPermitted(deps, by, async () => ({ kind: 'me', me: await readMe(store.read, by.user) })),
    /** Gives the name to the requester, unless another person has it. */
    claim: (text: string, by: Requester) => whenPermitted(deps, by, () => claim(deps, text, by)),
    /** An admin gives the name to this person, even if another one has it. Both are notified. */
    give: (text: string, user: string, by: Requester) => give(deps, text, user, by),
    /** Frees the name, if the requester has it. */
    release: (text: string, by: Requester) => whenPermitted(deps, by, () => release(deps, normalHandle(text), by)),
    setMentions: (on: boolean, by: Requester) =>
      whenPermitted(deps, by, async () => {
        await store.write(async (tx) => {
          await refuseGivenUp(tx, by.interactionKey)
          await tx.setMentions(by.user, on)
        })
        return { kind: 'mentions', me: await readMe(store.read, by.user) }
      }),
    /** The name of this build's committer is claimed: its card and thread lose the button. */
    async buttonPressed({ projectId, buildId }: AttemptRef) {
      const build = await store.read.build(projectId, buildId)
      if (!build) return
      const subject = revisionSubject(build.revisionKey, build.cardNumber)
      await store.write((tx) => tx.touchCards(subject, deps.clock.now(), REQUEST_URGENCY))
    },
  }
}

async function whenPermitted(deps: PersonDeps, by: Requester, work: () => Promise<MeOutcome>): Promise<MeOutcome> {
  return (await refusalOf(deps.permits, 'read', by, 'claim')) ?? work()
}

async function release({ store }: PersonDeps, handle: string, { user, interactionKey }: Requester): Promise<MeOutcome> {
  const by = await store.write(async (tx) => {
    await refuseGivenUp(tx, interactionKey)
    const claimed = await tx.claimOf(handle)
    if (claimed?.user === user) await tx.releaseHandle(handle)
    return claimed?.user ?? null
  })
  if (by !== user) return { kind: 'not-yours', handle, by }
  return { kind: 'released', handle, me: await readMe(store.read, user) }
}

/** Of concurrent requests for a name only one succeeds, also across processes. Idempotent. */
async function claim(
  { store, clock }: PersonDeps,
  text: string,
  { user, interactionKey }: Requester,
): Promise<MeOutcome> {
  const named = claimable(text)
  if (named.kind === 'no') return { kind: 'not-claimable', handle: text, why: named.why }
  const { handle } = named
  const claimed = await store.write(async (tx): Promise<MeOutcome | { isNew: boolean }> => {
    await refuseGivenUp(tx, interactionKey)
    await tx.lockName(`handles of ${user}`)
    // The requester is active, so a mark as inactive is outdated.
    await tx.setInactive(user, null)
    if (!(await tx.claimOf(handle))) {
      if (await hasEnough(tx, user)) return { kind: 'too-many', user, max: HANDLES_MAX }
      if (await tx.claimHandle(handle, user, clock.now())) return { isNew: true }
    }
    const known = await tx.claimOf(handle)
    invariant(known, 'what could not be claimed is claimed')
    if (known.user === user) return { isNew: false }
    return { kind: 'taken', handle, by: known.user, isGone: known.inactiveAt !== null }
  })
  return 'kind' in claimed ? claimed : { kind: 'claimed', handle, ...claimed, me: await readMe(store.read, user) }
}

const hasEnough = async (tx: Tx, user: string): Promise<boolean> => (await tx.handlesOf(user)).length >= HANDLES_MAX

/** An admin gives a committer's name to a person. The new and the old owner each get one direct message. */
async function give(deps: PersonDeps, text: string, user: string, by: Requester): Promise<MeOutcome> {
  const refused = await refusalOf(deps.permits, 'administer', by, 'give')
  if (refused) return refused
  const named = claimable(text)
  if (named.kind === 'no') return { kind: 'not-claimable', handle: text, why: named.why }
  const { handle } = named
  const why = await whyNobody(deps, user)
  if (why !== null) return { kind: 'not-a-person', handle, user, why }
  const given = await deps.store.write(async (tx): Promise<Given | Extract<MeOutcome, { kind: 'too-many' }>> => {
    await refuseGivenUp(tx, by.interactionKey)
    await tx.lockName(`handles of ${user}`)
    const known = await tx.claimOf(handle)
    if (known?.user === user) return { kind: 'given', handle, user, was: user, unreached: [] }
    if (await hasEnough(tx, user)) return { kind: 'too-many', user, max: HANDLES_MAX }
    const was = await tx.giveHandle(handle, user, deps.clock.now())
    return { kind: 'given', handle, user, was, unreached: [] }
  })
  if (given.kind === 'too-many' || given.was === user) return given
  return { ...given, unreached: await notify(deps, given, by.user) }
}

type Given = Extract<MeOutcome, { kind: 'given' }>

/** Why a name cannot mean this person; null: it can, since the person may read. */
async function whyNobody({ permits }: PersonDeps, user: string): Promise<NotAPerson | null> {
  const permit = await permits('read', { user, team: null })
  if (permit.kind === 'yes') return null
  if (permit.kind === 'unknown-person') return 'unknown'
  const { why } = permit
  return why === 'deactivated' || why === 'bot' || why === 'outsider' ? why : 'unknown'
}

/** @returns those whose message failed, or may have failed. The admin who made the change gets no message. */
async function notify({ sendText, log }: PersonDeps, { handle, user, was }: Given, by: string): Promise<string[]> {
  const news = [
    { to: user, text: givenLine({ handle, was, by }) },
    ...(was === null ? [] : [{ to: was, text: takenLine({ handle, user, by }) }]),
  ].filter(({ to }) => to !== by)
  const unreached: string[] = []
  for (const { to, text } of news) {
    const ended = await sendText(to, text)
    if (ended.kind === 'sent') continue
    unreached.push(to)
    log.warn({ user: to, code: ended.code }, 'a person could not be notified that a committer name was reassigned')
  }
  return unreached
}

/** Each person with a committer's name is looked up again after this time. */
export const CHECK_AGAIN_MS = 24 * 60 * 60_000
/** At most this many in one run of the job. */
export const CHECKS_MAX = 50
/** The pause between two of them: clicks need the same call to Slack, and come first. */
export const CHECK_GAP_MS = 1_000

/** The store records under this name when the job last ran. */
export const CLAIMANTS_JOB = 'look-at-claimants'

type ClaimantDeps = Pick<PersonDeps, 'store' | 'clock' | 'log' | 'presenceOf' | 'newId'>

/**
 * Asks Slack whether people with a claimed name, or who are on a red branch, are still in the workspace. A person who
 * has left is not mentioned until they are back, and is taken off their branches. Ends early if Slack does not say: the
 * next run goes on.
 */
export async function checkClaimants(deps: ClaimantDeps, stopping: AbortSignal): Promise<void> {
  const { store, clock } = deps
  const owners = await store.read.streakOwners(clock.now(), CHECKS_MAX)
  const claimants = await store.read.claimantsToCheck(clock.now() - CHECK_AGAIN_MS, CHECKS_MAX)
  const users = [...new Set([...owners, ...claimants])]
  for (const [at, user] of users.entries()) {
    if (at > 0) await clock.sleep(CHECK_GAP_MS, stopping)
    if (stopping.aborted || !(await checkClaimant(deps, user))) break
  }
  if (!stopping.aborted) await store.write((tx) => tx.setLastDoneAt(CLAIMANTS_JOB, clock.now()))
}

/** @returns false if Slack did not say */
async function checkClaimant(deps: ClaimantDeps, user: string): Promise<boolean> {
  const { store, clock, log, presenceOf } = deps
  const presence = await presenceOf(user)
  if (presence.kind === 'unknown') {
    log.warn({ user, code: presence.code }, 'Slack did not say whether a user is still in the workspace')
    return false
  }
  if (presence.kind === 'gone') await dropOwner(deps, user)
  const now = clock.now()
  await store.write(async (tx) => {
    await tx.setInactive(user, presence.kind === 'here' ? null : now)
    await tx.setChecked(user, now)
  })
  return true
}
