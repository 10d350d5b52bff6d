import type { Job } from './jobs/schedule.ts'
import type { Metrics } from './metrics.ts'
import { recordLookedUp } from './alerts/record.ts'
import { createPoll, POLL_EVERY_MS, type PolledSource } from './sources/poll.ts'
import { confirmRequests, type ConfirmRequests } from './features/builds/confirm.ts'
import { CLAIMANTS_JOB, checkClaimants, type PersonDeps } from './features/people/people.ts'
import type { ProjectRules } from './catalog/projects.ts'
import { confirmProjectRequests } from './features/projects/confirm.ts'
import { DIGESTS_EVERY_MS, DIGESTS_JOB, sendDigests, type SendDigests } from './features/subscriptions/digest.ts'
import { announceClosings, type ClosingDeps } from './features/subscriptions/closings.ts'
import { FORGET_JOB, type PendingInteractions } from './features/pending-interactions.ts'
import { prune, PRUNE_EVERY_MS, PRUNE_JOB } from './jobs/retention.ts'
import { REMIND_EVERY_MS, REMIND_JOB, remind, type RemindDeps } from './jobs/remind.ts'
import { CHECK_CLAIMS_EVERY_MS, CHECK_CLAIMS_JOB, createCheckClaims } from './jobs/check-claims.ts'
import { refreshSilent, REFRESH_SILENT_EVERY_MS } from './jobs/refresh-silent.ts'

/** How often projects, their rules and their builds are read again. */
export const REFRESH_EVERY_MS = 5 * 60_000

/** How often requests that CI has not confirmed are looked at. */
const CONFIRM_EVERY_MS = 5_000

/** This job runs every few seconds, so its row tells until when this database was in use. */
export const OFTEN_DONE_JOB = 'confirm-requests'

/** The owners of committers' handles are looked up a few at a time, each once a day. */
const CLAIMANTS_EVERY_MS = 10 * 60_000

/** How often requests that are too old to be answered are removed. */
const FORGET_EVERY_MS = 60 * 60_000

/** How often closed channels are looked for, to tell the people concerned. */
const ANNOUNCE_CLOSINGS_EVERY_MS = 5_000

export interface UpkeepDeps {
  acting: ConfirmRequests & Parameters<typeof confirmProjectRequests>[0] & RemindDeps
  following: ClosingDeps
  digests: SendDigests
  polled: readonly PolledSource[]
  rules: Pick<ProjectRules, 'refresh'>
  pendingInteractions: Pick<PendingInteractions, 'forget'>
  presenceOf: PersonDeps['presenceOf']
  metrics: Pick<Metrics, 'countSilent' | 'countPruned'>
  retentionDays: number
  hasWaitingDeliveries: () => boolean
}

/** All scheduled work but the reconciler's sweep. */
export function upkeepJobs(deps: UpkeepDeps): Job[] {
  const { acting, rules, pendingInteractions, metrics, retentionDays, hasWaitingDeliveries } = deps
  return [
    ...deps.polled.map((polled): Job => ({
      name: `poll-${polled.source}`,
      everyMs: POLL_EVERY_MS,
      run: createPoll({ ...acting, record: (build, origin) => recordLookedUp(acting, build, origin) }, polled),
    })),
    // Not the row of the read itself: this job may join a read that began earlier, whose list is as old as that.
    {
      name: 'read-projects',
      everyMs: REFRESH_EVERY_MS,
      run: async () => ((await rules.refresh()).failure ? 'again' : 'done'),
    },
    {
      name: OFTEN_DONE_JOB,
      everyMs: CONFIRM_EVERY_MS,
      run: async () => {
        await confirmRequests(acting)
        await confirmProjectRequests(acting)
      },
    },
    { name: FORGET_JOB, everyMs: FORGET_EVERY_MS, run: () => pendingInteractions.forget() },
    { name: 'tell-closings', everyMs: ANNOUNCE_CLOSINGS_EVERY_MS, run: () => announceClosings(deps.following) },
    { name: DIGESTS_JOB, everyMs: DIGESTS_EVERY_MS, run: (signal) => sendDigests(deps.digests, signal) },
    { name: REMIND_JOB, everyMs: REMIND_EVERY_MS, run: (signal) => remind(acting, signal) },
    {
      name: CLAIMANTS_JOB,
      everyMs: CLAIMANTS_EVERY_MS,
      run: (signal) => checkClaimants({ ...acting, presenceOf: deps.presenceOf }, signal),
    },
    { name: CHECK_CLAIMS_JOB, everyMs: CHECK_CLAIMS_EVERY_MS, run: createCheckClaims(acting) },
    {
      name: 'refresh-silent',
      everyMs: REFRESH_SILENT_EVERY_MS,
      run: (signal) => refreshSilent({ ...acting, count: metrics.countSilent }, signal),
    },
    {
      name: PRUNE_JOB,
      everyMs: PRUNE_EVERY_MS,
      run: async (signal) =>
        metrics.countPruned((await prune({ ...acting, retentionDays, hasWaitingDeliveries }, signal)).rows),
    },
  ]
}
