import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { KnownProject } from '../../store/records.ts'
import type { Reads, Store } from '../../store/store.ts'
import type { ListQuery, ProjectRef, BuildSummary, CiFailure } from '../../projects/outcomes.ts'
import { untilIngested } from '../../ci-sync/ci-lookup.ts'
import { RED_COUNTED_MAX } from '../../projects/streaks.ts'
import { newestSummary, summariesOf } from '../../projects/find-build.ts'
import { redBranches } from '../../store/streaks.ts'
import { ofListed, projectsAs } from '../../projects/projects.ts'
import type { Refreshed } from '../../ci-sync/reading.ts'
import { WHOLE_READING } from '../../projects/projects.ts'
import type { Configured } from '../../domain/cards/capabilities.ts'

export type ListOutcome =
  | {
      kind: 'projects'
      query: ListQuery
      /** `build`: of a red branch, else the newest; null: none is known. `red`: how many branches are red */
      projects: readonly { project: ProjectRef; build: BuildSummary | null; red: number }[]
      page: number
      pages: number
      total: number
      /** which interface the list is from */
      from: 'v2' | 'legacy' | null
      /** set if CI could not be read now: when the list was read (ms), and why CI could not */
      stale: { readAt: number; failure: CiFailure } | null
      /** false: CI gave only a part of the list, or nothing, so projects may be missing */
      isWhole: boolean
    }
  | { kind: 'no-ci' }
  | CiFailure

export const PAGE_SIZE = 10

/** A list that is younger than this is not read again, so turning pages calls CI only once. */
export const FRESH_MS = 60_000

export interface ListDeps {
  store: Store
  clock: Clock
  configured: Configured
  /** reads all projects from CI again; concurrent callers share one reading */
  refresh: () => Promise<Refreshed>
}

/**
 * CI's projects with their last known state, ten a page, from the v2 interface or, if only that is configured, the
 * legacy one. If CI cannot be reached now: the list that was read last, and how old it is.
 */
export async function listProjects(deps: ListDeps, query: ListQuery): Promise<ListOutcome> {
  const { store, configured, clock } = deps
  if (!Object.values(configured).includes(true)) return { kind: 'no-ci' }
  const refreshed = clock.now() - (await lastWholeAt(deps)) < FRESH_MS ? null : await deps.refresh()
  if (refreshed && refreshed.builds > 0) await untilIngested(deps)
  const failure = refreshed?.failure ?? null
  // A project that the last complete list lacks is gone from CI. A partial list proves nothing about the projects that
  // it lacks, and CI's list never has the projects of GitHub and GitLab.
  const readSince = await lastWholeAt(deps)
  const whole = failure && (await store.read.countListed({ text: null, type: null, readSince }))
  if (failure && whole?.total === 0) return failure
  const { projects, ...place } = await readPage(store.read, query, readSince)
  return {
    kind: 'projects',
    query,
    projects: await Promise.all(projects.map(async (project) => ({ project, ...(await stateOf(deps, project)) }))),
    ...place,
    from: configured.v2 ? 'v2' : configured.legacy ? 'legacy' : null,
    stale: failure && { readAt: whole?.oldestReadAt ?? clock.now(), failure },
    isWhole: refreshed?.isWhole ?? true,
  }
}

/** What matters of a project: a red branch, and how many there are, else its newest build. */
async function stateOf(deps: ListDeps, project: ProjectRef) {
  const { projectId } = project
  if (projectId === null) return { build: null, red: 0 }
  const red = await redBranches(deps.store.read, { only: [projectId] }, RED_COUNTED_MAX)
  const [build = await newestSummary(deps, project)] = await summariesOf(deps, red.slice(0, 1))
  return { build, red: red.length }
}

const lastWholeAt = async ({ store }: Pick<ListDeps, 'store'>): Promise<number> =>
  (await store.read.lastDoneAt(WHOLE_READING)) ?? 0

/** A search shows all matches, not only the best one. */
async function readPage(reads: Reads, { text, type, page: wanted }: ListQuery, readSince: number) {
  const query = { text, type, readSince }
  const { total } = await reads.countListed(query)
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE))
  const page = Math.min(Math.max(1, wanted), pages)
  // Each reads much of the table, so other work gets its turn in between.
  await nextTurn()
  const listed = await reads.listedProjects(query, { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE })
  return { projects: await withIds(reads, listed), page, pages, total }
}

/** Adds the integer ids under which builds are stored. For Pro projects, only deliveries contain them. */
async function withIds(reads: Reads, listed: readonly KnownProject[]): Promise<ProjectRef[]> {
  const joined = await projectsAs(
    reads,
    listed.map(({ uuid }) => uuid),
  )
  const byUuid = new Map(joined.map((project) => [project.uuid, project]))
  return listed.map((project) => byUuid.get(project.uuid) ?? ofListed(project))
}
