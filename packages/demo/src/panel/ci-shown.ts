import type { Attempt } from '../../../sandbox-ci/src/sender.ts'
import type { Delivery } from '../../../sandbox-ci/src/deliveries.ts'
import type { SandboxCi } from '../../../sandbox-ci/src/server.ts'
import type { BuildSnapshot, StateSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { PanelBuild, PanelDelivery, PanelProject } from '../../../sandbox-slack/src/panel-state.ts'

/** So many of the builds that attempt, of those that have ended, and of the deliveries are shown: a storm has more. */
export const RUNNING_SHOWN_MAX = 60
export const ENDED_SHOWN_MAX = 12
export const DELIVERIES_SHOWN_MAX = 60
export const UNTAKEN_MAX = 1_000

/** What CI is and does, as a panel shows it; its own credentials stay here. */
export function ciShown(ci: Pick<SandboxCi, 'deliveries'>, state: StateSnapshot) {
  const newestFirst = state.builds.toReversed()
  const running = newestFirst.filter(isRunning)
  const ended = newestFirst.filter((build) => !isRunning(build))
  const deliveries = ci.deliveries()
  return {
    projects: state.projects.map(projectShown),
    builds: [...running.slice(0, RUNNING_SHOWN_MAX), ...ended.slice(0, ENDED_SHOWN_MAX)].map(buildShown),
    buildsTotal: state.builds.length,
    unfinishedTotal: running.length,
    deliveries: deliveries.slice(-DELIVERIES_SHOWN_MAX).toReversed().map(deliveryShown(state)),
    deliveriesTotal: deliveries.length,
    untaken: deliveries
      .filter((one) => one.state !== 'queued' && !isTaken(one))
      .slice(0, UNTAKEN_MAX)
      .map(({ n }) => n),
    isHolding: state.switches.holdDeliveries,
    isOverLimit: state.switches.overLimit,
  }
}

/** Whether the bot has ever taken it. */
export const isTaken = ({ attempts }: Delivery): boolean => attempts.some(isAccepted)

export const isAccepted = (attempt: Attempt): boolean =>
  attempt.kind === 'answered' && attempt.statusCode >= 200 && attempt.statusCode < 300

export const isRunning = ({ status }: BuildSnapshot): boolean => status === 'initiated' || status === 'waiting'

const projectShown = ({ id, name, type, notification_rules }: StateSnapshot['projects'][number]): PanelProject => ({
  id,
  name,
  type,
  rules: notification_rules,
})

function buildShown({ runs, runMs, ...build }: BuildSnapshot): PanelBuild {
  const { id, uuid, project, branch, message, committer, status } = build
  const startedAt = runs.at(-1)?.startedAt ?? null
  const begun = startedAt === null ? null : Date.parse(startedAt)
  return { id, uuid, project, branch, message, committer, status, attempt: runs.length, startedAt: begun, runMs }
}

const deliveryShown =
  ({ projects }: StateSnapshot) =>
  (delivery: Delivery): PanelDelivery => ({
    n: delivery.n,
    project: projects.find(({ id }) => id === delivery.projectId)?.name ?? `project ${delivery.projectId}`,
    buildId: delivery.buildId,
    status: delivery.status,
    state: delivery.state,
    attempts: delivery.attempts.length,
    answer: answerOf(delivery.attempts.at(-1)),
    isTaken: isTaken(delivery),
  })

const answerOf = (attempt: Attempt | undefined): number | string | null => {
  if (attempt === undefined) return null
  return attempt.kind === 'answered' ? attempt.statusCode : attempt.errorCode
}
