import type { PersonDeps } from './deps.ts'

/** Each person with a committer's name is looked up so often: Slack's event may have been lost. */
export const LOOK_AGAIN_MS = 24 * 60 * 60_000
/** So many in one run, */
export const LOOKS_MAX = 50
/** with so much time between: people who click ask Slack the same, and come first. */
export const LOOK_GAP_MS = 1_000

/** Under this name the store knows when it was last done. */
export const CLAIMANTS_JOB = 'look-at-claimants'

type ClaimantDeps = Pick<PersonDeps, 'store' | 'clock' | 'log' | 'presenceOf'>

/**
 * Asks Slack whether those whom committers' names mean are in the workspace still; whoever is not is mentioned no more,
 * until they are back. Ends early where Slack does not say: the next run goes on.
 */
export async function lookAtClaimants(deps: ClaimantDeps, stopping: AbortSignal): Promise<void> {
  const { store, clock } = deps
  const users = await store.read.claimantsToCheck(clock.now() - LOOK_AGAIN_MS, LOOKS_MAX)
  for (const [at, user] of users.entries()) {
    if (at > 0) await clock.sleep(LOOK_GAP_MS, stopping)
    if (stopping.aborted || !(await lookAt(deps, user))) break
  }
  if (!stopping.aborted) await store.write((tx) => tx.setLastDoneAt(CLAIMANTS_JOB, clock.now()))
}

/**
 * An account has changed, as Slack told us. That somebody is gone is believed at once; that somebody is back is asked
 * for, since Slack repeats old news for an hour.
 */
export async function accountChanged(deps: ClaimantDeps, user: string, isDeactivated: boolean): Promise<void> {
  const { store, clock } = deps
  const handles = await store.read.handlesOf(user)
  if (handles.length === 0) return
  if (isDeactivated) return store.write((tx) => tx.setInactive(user, clock.now()))
  const claims = await Promise.all(handles.map(({ handle }) => store.read.claimOf(handle)))
  if (claims.some((claim) => claim?.user === user && claim.inactiveAt !== null)) await lookAt(deps, user)
}

/** @returns whether Slack said */
async function lookAt({ store, clock, log, presenceOf }: ClaimantDeps, user: string): Promise<boolean> {
  const presence = await presenceOf(user)
  if (presence.kind === 'unknown') {
    log.warn({ user, code: presence.code }, 'Slack did not say whether somebody is in the workspace still')
    return false
  }
  const now = clock.now()
  await store.write(async (tx) => {
    await tx.setInactive(user, presence.kind === 'here' ? null : now)
    await tx.setChecked(user, now)
  })
  return true
}
