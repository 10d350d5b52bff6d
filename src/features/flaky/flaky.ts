import { DAY_MS } from '../../domain/rules/digest.ts'
import type { FlakyTest } from '../../domain/builds/flaky-tests.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { DigestView } from '../../domain/cards/view.ts'
import type { Clock } from '../../lib/clock.ts'
import { withinRetention, nameLookup, worstFlaky, type FigureDeps } from '../../projects/figures.ts'
import type { ProjectNotFound } from '../../projects/outcomes.ts'
import { deliveredById, detailsShown } from '../../projects/followers.ts'
import { findProject, followedBy, onlyOf } from '../../projects/projects.ts'
import { readFlakyTests } from '../../store/failures.ts'
import { buildsSince, figuresOfBuilt, firstOf } from '../../store/figures.ts'

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

export type FlakyDeps = FigureDeps & { clock: Clock }

/** Branches with commits that failed and passed on a later attempt, and tests that did so; the worst first. */
export async function flakyBranches(
  deps: FlakyDeps,
  { project: text, days, channel }: FlakyQuery,
): Promise<FlakyOutcome> {
  const named = text === null ? null : await findProject(deps.store.read, text)
  if (named && named.kind !== 'project') return named
  const projects = named ? onlyOf(named.project) : (await followedBy(deps, channel)).projects
  const now = deps.clock.now()
  const from = now - days * DAY_MS
  // `to` is exclusive: + 1 includes what came in this millisecond.
  const requested = { period: { from, to: now + 1 }, before: { from, to: from }, days: [] }
  const { query, since } = withinRetention(requested, now - deps.retentionDays * DAY_MS)
  const { read } = deps.store
  const built = await buildsSince(read, projects, firstOf(query))
  const { figures } = await figuresOfBuilt(read, built, query)
  const tests = await shownTests(deps, await readFlakyTests(read, [...built.keys()], query.period.from), channel)
  const name = nameLookup(
    await deliveredById(
      read,
      [...figures.flaky, ...tests].map(({ projectId }) => projectId),
    ),
  )
  const branches = worstFlaky(figures, FLAKY_LINES_MAX, name)
  const shown = tests.slice(0, FLAKY_LINES_MAX).map((test) => ({ ...test, project: name(test.projectId) }))
  const listed = { shown, more: tests.length - shown.length }
  return { kind: 'flaky', project: named ? named.project.name : null, days, since, branches, tests: listed }
}

/** Leaves out the tests of projects whose failures may not be shown where the answer goes (`details none`). */
async function shownTests(
  { store, subscriptions }: FlakyDeps,
  tests: readonly FlakyTest[],
  channel: ChannelId | null,
): Promise<FlakyTest[]> {
  const all = tests.length > 0 ? await subscriptions() : []
  const hidden = new Set<string>()
  for (const id of new Set(tests.map(({ projectId }) => projectId)))
    if ((await detailsShown(store.read, all, id, { channel })) === 'none') hidden.add(id)
  return tests.filter(({ projectId }) => !hidden.has(projectId))
}
