import { DAY_MS } from '../../domain/digest.ts'
import type { ChannelId, ProjectId } from '../../domain/ids.ts'
import type { DigestView } from '../../domain/view.ts'
import type { Clock } from '../../lib/clock.ts'
import { withinRetention, nameLookup, worstFlaky, type FigureDeps } from '../../catalog/figures.ts'
import type { ProjectNotFound } from '../../catalog/outcomes.ts'
import { findProject, followedBy } from '../../catalog/projects.ts'
import { readFlakyTests } from '../../store/flaky-tests.ts'
import { collectFigures } from '../../store/figures.ts'

/** The most branches, and the most tests, in one answer. */
export const FLAKY_LINES_MAX = 10

export const FLAKY_DAYS_MAX = 90

export interface FlakyQuery {
  /** as people name it; null: the channel's projects */
  project: string | null
  days: number
  channel: ChannelId | null
}

export type FlakyOutcome =
  | {
      kind: 'flaky'
      /** null: the channel's projects */
      project: string | null
      days: number
      /** builds are stored from this time on (ms), if that is later than the period's begin; else null */
      since: number | null
      branches: DigestView['flaky']
      tests: { shown: readonly { project: string; name: string; commits: number }[]; more: number }
    }
  | ProjectNotFound

/** Branches with commits that failed and passed on a later attempt, and tests that did so; the worst first. */
export async function flakyBranches(
  deps: FigureDeps & { clock: Clock },
  { project: text, days, channel }: FlakyQuery,
): Promise<FlakyOutcome> {
  const named = text === null ? null : await findProject(deps.store.read, text)
  if (named && named.kind !== 'project') return named
  const delivered = named ? await deps.store.read.deliveredProjects() : (await followedBy(deps, channel)).projects
  const projects = named ? delivered.filter(({ projectId }) => projectId === named.project.projectId) : delivered
  const now = deps.clock.now()
  const from = now - days * DAY_MS
  // `to` is exclusive: + 1 includes what came in this millisecond.
  const requested = { period: { from, to: now + 1 }, before: { from, to: from }, days: [] }
  const { query, since } = withinRetention(requested, now - deps.retentionDays * DAY_MS)
  const ids: ProjectId[] = projects.map(({ projectId }) => projectId)
  const figures = await collectFigures(deps.store.read, ids, query)
  const name = nameLookup(projects)
  const branches = worstFlaky(figures, FLAKY_LINES_MAX, name)
  const found = await readFlakyTests(deps.store.read, ids, query.period.from)
  const shown = found.slice(0, FLAKY_LINES_MAX).map((test) => ({ ...test, project: name(test.projectId) }))
  const tests = { shown, more: found.length - shown.length }
  return { kind: 'flaky', project: named ? named.project.name : null, days, since, branches, tests }
}
