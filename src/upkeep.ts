import type { Job } from './jobs/schedule.ts'
import type { Metrics } from './metrics.ts'
import { recordLookedUp } from './alerts/record.ts'
import { createPoll, type PolledSource } from './sources/poll.ts'
import { confirmRequests, type ConfirmRequests } from './features/builds/confirm.ts'
import { CLAIMANTS_JOB, checkClaimants, type PersonDeps } from './features/people/people.ts'
import type { ProjectRules } from './catalog/projects.ts'
import { confirmProjectRequests } from './features/projects/confirm.ts'
import { DIGESTS_JOB, sendDigests, type SendDigests } from './features/subscriptions/digest.ts'
import { announceClosings, type ClosingDeps } from './features/subscriptions/closings.ts'
import { FORGET_JOB, type PendingInteractions } from './features/pending-interactions.ts'
import { prune, PRUNE_JOB } from './jobs/retention.ts'
import { REMIND_JOB, remind, type RemindDeps } from './jobs/remind.ts'
import { checkBranches } from './jobs/check-branches.ts'
import { CHECK_CLAIMS_JOB, createCheckClaims } from './jobs/check-claims.ts'
import { readEnds } from './jobs/read-ends.ts'
import { refreshSilent } from './jobs/refresh-silent.ts'

/** When projects, their rules and their builds are read again. */
export const READ_PROJECTS_CRON = '*/5 * * * *'

/** This job runs every few seconds, so its row tells until when this database was in use. */
export const OFTEN_DONE_JOB = 'confirm-requests'

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
      cron: '*/15 * * * * *',
      run: createPoll({ ...acting, record: (build, origin) => recordLookedUp(acting, build, origin) }, polled),
    })),
    // Not the row of the read itself: this job may join a read that began earlier, whose list is as old as that.
    {
      name: 'read-projects',
      cron: READ_PROJECTS_CRON,
      run: async () => ((await rules.refresh()).failure ? 'again' : 'done'),
    },
    {
      name: OFTEN_DONE_JOB,
      cron: '*/5 * * * * *',
      run: async () => {
        await confirmRequests(acting)
        await confirmProjectRequests(acting)
      },
    },
    { name: FORGET_JOB, cron: '0 * * * *', run: () => pendingInteractions.forget() },
    { name: 'tell-closings', cron: '*/5 * * * * *', run: () => announceClosings(deps.following) },
    { name: DIGESTS_JOB, cron: '*/10 * * * * *', run: (signal) => sendDigests(deps.digests, signal) },
    { name: REMIND_JOB, cron: '*/15 * * * * *', run: (signal) => remind(acting, signal) },
    {
      name: CLAIMANTS_JOB,
      cron: '*/10 * * * *',
      run: (signal) => checkClaimants({ ...acting, presenceOf: deps.presenceOf }, signal),
    },
    {
      name: 'read-ends',
      cron: '*/5 * * * * *',
      run: (signal) => readEnds({ ...acting, record: (shown) => recordLookedUp(acting, shown, 'delivery') }, signal),
    },
    { name: 'check-red-branches', cron: '* * * * *', run: (signal) => checkBranches(acting, signal) },
    { name: CHECK_CLAIMS_JOB, cron: '* * * * *', run: createCheckClaims(acting) },
    {
      name: 'refresh-silent',
      cron: '*/5 * * * *',
      run: (signal) => refreshSilent({ ...acting, count: metrics.countSilent }, signal),
    },
    {
      name: PRUNE_JOB,
      cron: '30 3 * * *',
      run: async (signal) =>
        metrics.countPruned((await prune({ ...acting, retentionDays, hasWaitingDeliveries }, signal)).rows),
    },
  ]
}
