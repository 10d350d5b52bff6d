import { sourceOf } from '../../domain/ids.ts'
import { matchProjects } from '../../domain/project-names.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Store } from '../../store/store.ts'
import type { ListOutcome, ListQuery, ProjectRef } from '../../catalog/outcomes.ts'
import { untilIngested } from '../../catalog/ci-lookup.ts'
import { newestSummary } from '../../catalog/find-build.ts'
import { allProjects, ofListed } from '../../catalog/projects.ts'
import { WHOLE_READING, type Refreshed } from '../../catalog/reading.ts'
import type { Interfaces } from '../../domain/offer.ts'

export const PAGE_SIZE = 10

/** A list that is younger than this is not read again, so turning pages calls CI only once. */
export const FRESH_MS = 60_000

export interface ListProjects {
  store: Store
  clock: Clock
  interfaces: Interfaces
  /** reads all projects from CI again; concurrent callers share one reading */
  refresh: () => Promise<Refreshed>
}

/**
 * CI's projects with their last known state, ten a page, from the v2 interface or, if only that is configured, the
 * legacy one. If CI cannot be reached now: the list that was read last, and how old it is.
 */
export async function listProjects(deps: ListProjects, query: ListQuery): Promise<ListOutcome> {
  const { store, interfaces, clock } = deps
  if (!Object.values(interfaces).includes(true)) return { kind: 'no-ci' }
  const refreshed = clock.now() - (await lastWholeAt(deps)) < FRESH_MS ? null : await deps.refresh()
  if (refreshed && refreshed.builds > 0) await untilIngested(deps)
  const failure = refreshed?.failure ?? null
  const all = await store.read.projects()
  if (failure && all.length === 0) return failure
  // A project that the last complete list lacks is gone from CI. A partial list proves nothing about the projects that
  // it lacks, and CI's list never has the projects of GitHub and GitLab.
  const wholeAt = await lastWholeAt(deps)
  const listed = all.filter(({ legacyId, readAt }) => sourceOf(legacyId) !== 'ci' || readAt >= wholeAt)
  const projects = select(await withIds(deps, listed.map(ofListed)), query)
  const pages = Math.max(1, Math.ceil(projects.length / PAGE_SIZE))
  const page = Math.min(Math.max(1, query.page), pages)
  const shown = projects.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  return {
    kind: 'projects',
    query,
    projects: await Promise.all(shown.map(async (project) => ({ project, build: await newestSummary(deps, project) }))),
    page,
    pages,
    total: projects.length,
    from: interfaces.v2 ? 'v2' : interfaces.legacy ? 'legacy' : null,
    stale: failure && { readAt: listed.reduce((oldest, { readAt }) => Math.min(oldest, readAt), clock.now()), failure },
    isWhole: refreshed?.isWhole ?? true,
  }
}

const lastWholeAt = async ({ store }: ListProjects): Promise<number> =>
  (await store.read.lastDoneAt(WHOLE_READING)) ?? Number.NEGATIVE_INFINITY

function select(listed: readonly ProjectRef[], { text, type }: ListQuery): ProjectRef[] {
  const ofType = type === null ? [...listed] : listed.filter((project) => project.type === type)
  if (text === null) return ofType
  // A search shows all matches, not only the best one.
  const searched = text.toLowerCase()
  const named = ofType.filter(({ name }) => name.toLowerCase().includes(searched))
  return named.length > 0 ? named : matchProjects(ofType, text)
}

/** Adds the integer ids under which builds are stored. For Pro projects, only deliveries contain them. */
async function withIds({ store }: ListProjects, projects: readonly ProjectRef[]): Promise<ProjectRef[]> {
  const joined = new Map((await allProjects(store.read)).map((project) => [project.uuid, project]))
  return projects.map((project) => ({
    ...project,
    projectId: joined.get(project.uuid)?.projectId ?? project.projectId,
  }))
}
