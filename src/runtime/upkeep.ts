import type { Job } from '../features/kit/feature.ts'
import { recordLookedUp } from '../alerts/record/record.ts'
import { recordFailures } from '../alerts/record/record-report.ts'
import { createPoll, type PolledSource } from '../sources/poll.ts'
import { type ProjectRules, CHECK_CLAIMS_JOB, createCheckClaims } from '../ci-sync/reading.ts'
import { FORGET_JOB, type PendingInteractions } from '../features/kit/pending-interactions.ts'
import { prune, PRUNE_JOB } from '../retention/retention.ts'
import { readEnds } from '../ci-sync/read-ends.ts'
import { refreshSilent } from '../ci-sync/refresh-silent.ts'

/** This job is done every minute, so its row tells, to the minute, until when this database was in use. */
export const EACH_MINUTE_JOB = CHECK_CLAIMS_JOB

/** When projects, their rules and their builds are read again. */
export const READ_PROJECTS_CRON = '*/5 * * * *'

type Deps = Parameters<typeof recordLookedUp>[0] &
  Omit<Parameters<typeof createPoll>[0], 'record'> &
  Omit<Parameters<typeof readEnds>[0], 'record' | 'recordFailures'> &
  Parameters<typeof createCheckClaims>[0] &
  Omit<Parameters<typeof refreshSilent>[0], 'count'> &
  Parameters<typeof prune>[0]

export interface UpkeepDeps extends Deps {
  polled: readonly PolledSource[]
  rules: Pick<ProjectRules, 'refresh'>
  pendingInteractions: Pick<PendingInteractions, 'forget'>
  metrics: { countSilent: Parameters<typeof refreshSilent>[0]['count'] }
}

const recording = (deps: Deps): Pick<Parameters<typeof readEnds>[0], 'record' | 'recordFailures'> => ({
  record: (shown) => recordLookedUp(deps, shown, 'delivery'),
  recordFailures: (build, reports) => recordFailures(deps, build, reports),
})

/** The jobs that belong to no feature. */
export const upkeepJobs = ({ polled, rules, pendingInteractions, metrics, ...deps }: UpkeepDeps): Job[] => [
  ...polled.map((one): Job => ({
    name: `poll-${one.source}`,
    cron: '*/5 * * * * *',
    run: createPoll({ ...deps, record: (build, origin) => recordLookedUp(deps, build, origin) }, one),
  })),
  // Not the row of the read itself: this job may join a read that began earlier, whose list is as old as that.
  {
    name: 'read-projects',
    cron: READ_PROJECTS_CRON,
    run: async () => ((await rules.refresh()).failure ? 'again' : 'done'),
  },
  { name: FORGET_JOB, cron: '0 * * * *', run: () => pendingInteractions.forget() },
  {
    name: 'read-ends',
    cron: '*/15 * * * * *',
    afterNews: true,
    run: (signal) => readEnds({ ...deps, ...recording(deps) }, signal),
  },
  { name: CHECK_CLAIMS_JOB, cron: '* * * * *', run: createCheckClaims(deps) },
  {
    name: 'refresh-silent',
    cron: '*/5 * * * *',
    run: (signal) => refreshSilent({ ...deps, count: metrics.countSilent }, signal),
  },
  { name: PRUNE_JOB, cron: '30 3 * * *', run: (signal) => prune(deps, signal) },
]
