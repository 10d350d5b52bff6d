import type { SendAttempt } from '../../../sandbox-ci/src/sender.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { PanelBuild, PanelDelivery } from '../../../sandbox-slack/src/panel-state.ts'
import type { Sent, Service } from '../service/service.ts'

/** So many of the running builds, of those that have ended, and of the deliveries are shown: a storm has more. */
export const RUNNING_SHOWN_MAX = 60
export const ENDED_SHOWN_MAX = 12
export const DELIVERIES_SHOWN_MAX = 60
export const UNTAKEN_MAX = 1_000

/** What CI is and does, as a panel shows it; its own credentials stay here. */
export function ciShown(ci: Service) {
  const { builds } = ci.state()
  const newestFirst = builds.toReversed()
  const running = newestFirst.filter(isRunning)
  const ended = newestFirst.filter((build) => !isRunning(build))
  const deliveries = ci.sent()
  return {
    service: ci.panel,
    projects: ci.projects(),
    builds: [...running.slice(0, RUNNING_SHOWN_MAX), ...ended.slice(0, ENDED_SHOWN_MAX)].map(buildShown(ci)),
    buildsTotal: builds.length,
    unfinishedTotal: running.length,
    deliveries: deliveries.slice(-DELIVERIES_SHOWN_MAX).toReversed().map(deliveryShown),
    deliveriesTotal: deliveries.length,
    untaken: deliveries
      .filter((one) => one.state !== 'queued' && !isTaken(one))
      .slice(0, UNTAKEN_MAX)
      .map(({ n }) => n),
    isHolding: ci.isHolding(),
    isOverLimit: ci.isOverLimit(),
    ciBreak: ci.broken(),
  }
}

/** Whether the bot has ever taken it. */
export const isTaken = ({ attempts }: Pick<Sent, 'attempts'>): boolean => attempts.some(isAccepted)

export const isAccepted = (attempt: SendAttempt): boolean =>
  attempt.kind === 'answered' && attempt.statusCode >= 200 && attempt.statusCode < 300

export const isRunning = ({ status }: BuildSnapshot): boolean => status === 'initiated' || status === 'waiting'

const buildShown =
  (ci: Service) =>
  (build: BuildSnapshot): PanelBuild => {
    const { runs, commitId: _, ...shown } = build
    const startedAt = runs.at(-1)?.startedAt ?? null
    const begun = startedAt === null ? null : Date.parse(startedAt)
    return { ...shown, ...ci.lookOf(build), attempt: runs.length, startedAt: begun }
  }

const deliveryShown = (delivery: Sent): PanelDelivery => ({
  n: delivery.n,
  project: delivery.project,
  buildId: delivery.buildId,
  status: delivery.word,
  state: delivery.state,
  attempts: delivery.attempts.length,
  answer: answerOf(delivery.attempts.at(-1)),
  isTaken: isTaken(delivery),
})

const answerOf = (attempt: SendAttempt | undefined): number | string | null => {
  if (attempt === undefined) return null
  return attempt.kind === 'answered' ? attempt.statusCode : attempt.errorCode
}
