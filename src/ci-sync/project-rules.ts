import type { CiRules } from '../domain/rules/decide.ts'
import { slackRules } from '../domain/rules/rule.ts'
import type { ProjectNames } from '../domain/rules/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'
import { refreshProjects, type Refreshed, type RefreshProjects } from './reading.ts'

/** If CI did not list a project, its list is read again only after this time, so that CI is not flooded. */
const ASK_AGAIN_MS = 30_000

export interface ProjectRules {
  /** The project's rules for Slack, as last read. Null: not known. `wait`: CI is being read now; ask again soon. */
  rulesOf(project: ProjectNames): Promise<CiRules | 'wait'>
  /** Reads all projects again. Concurrent callers share one reading. */
  refresh(): Promise<Refreshed>
}

/** The cache of CI's own rules. Callers never wait for CI, even if it is slow or down. */
export function createProjectRules(deps: RefreshProjects & { store: Store; clock: Clock }): ProjectRules {
  const isConfigured = deps.v2 !== null
  let reading: Promise<Refreshed> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let isAway = false

  function refresh(): Promise<Refreshed> {
    reading ??= refreshProjects(deps)
      .then((refreshed) => {
        isAway = refreshed.failure !== null
        return refreshed
      })
      .finally(() => {
        reading = null
        readAt = deps.clock.now()
      })
    return reading
  }

  return {
    refresh,
    async rulesOf({ projectId, projectUuid, names }) {
      const known = await deps.store.read.project({
        uuid: projectUuid,
        legacyId: projectId,
        names: names.filter((name) => name !== null),
      })
      if (known?.rules) return slackRules(known.rules)
      if (!isConfigured) return null
      if (!reading && deps.clock.now() - readAt > ASK_AGAIN_MS) void refresh().catch(() => {})
      // If the last reading failed, the next one may fail too, and an alert must not wait for it.
      return reading && !isAway ? 'wait' : null
    },
  }
}
