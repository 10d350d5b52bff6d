import type { CiRules } from '../domain/decide.ts'
import { slackRules } from '../domain/rule.ts'
import type { ProjectNames } from '../domain/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'
import { refreshProjects, type Refreshed, type RefreshProjects } from './refresh-projects.ts'

/** A project that CI did not list is asked for again at most so often: an unknown name must not become a flood. */
const ASK_AGAIN_MS = 30_000

export interface ProjectRules {
  /** The project's rules for Slack as last read; null: not known; `wait`: being read for the first time right now. */
  rulesOf(project: ProjectNames): Promise<CiRules | 'wait'>
  /** Reads all projects again; one reading at a time, whoever asks. */
  refresh(): Promise<Refreshed>
}

/** The cache of what CI's own rules say. CI being slow or down is never in the way of an answer. */
export function createProjectRules(deps: RefreshProjects & { store: Store; clock: Clock }): ProjectRules {
  const isConfigured = deps.v2 !== null
  let reading: Promise<Refreshed> | null = null
  let readAt = Number.NEGATIVE_INFINITY

  function refresh(): Promise<Refreshed> {
    reading ??= refreshProjects(deps).finally(() => {
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
      return reading ? 'wait' : null
    },
  }
}
