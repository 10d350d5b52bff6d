import { joinProjects, matchProjects, type ProjectRef } from '../domain/project-names.ts'
import { nearest } from '../lib/nearest.ts'
import type { HeardProject, KnownProject } from '../store/kept.ts'
import type { Reads } from '../store/store.ts'
import { PROJECT_CHOICES_MAX, type NotFound } from './outcomes.ts'
import { WHOLE_READING } from './refresh-projects.ts'

/** Every project that CI lists or that a delivery named. */
export async function allProjects(reads: Reads): Promise<ProjectRef[]> {
  const [listed, heard] = await Promise.all([reads.projects(), reads.heardProjects()])
  return joinProjects(listed.map(ofListed), heard.map(ofHeard))
}

/** The one project that a text names: full name, unique part of it, uuid or CI's id. */
export async function findProject(
  reads: Reads,
  text: string,
): Promise<{ kind: 'project'; project: ProjectRef } | Extract<NotFound, { kind: 'no-project' | 'several-projects' }>> {
  const all = await allProjects(reads)
  const [first, ...others] = matchProjects(all, text)
  if (!first) {
    const isListRead = (await reads.lastDoneAt(WHOLE_READING)) !== null
    return { kind: 'no-project', text, nearest: nearestName(all, text), isListRead }
  }
  if (others.length === 0) return { kind: 'project', project: first }
  const projects = [first, ...others].slice(0, PROJECT_CHOICES_MAX)
  return { kind: 'several-projects', text, projects, more: others.length + 1 - projects.length }
}

/** Projects whose names begin with or contain a text, the former first; else those that it names in another way. */
export async function suggestProjects(reads: Reads, text: string): Promise<ProjectRef[]> {
  const all = await allProjects(reads)
  const wanted = text.trim().toLowerCase()
  const placeOf = ({ name }: ProjectRef) => Math.min(1, name.toLowerCase().indexOf(wanted))
  const named = all.filter((project) => placeOf(project) >= 0)
  return named.length > 0 ? named.toSorted((a, b) => placeOf(a) - placeOf(b)) : matchProjects(all, text)
}

// People type the last part of a name more often than the whole.
function nearestName(all: readonly ProjectRef[], text: string): string | null {
  const names = all.map(({ name }) => name)
  const whole = nearest(text, names)
  if (whole) return whole
  const part = nearest(
    text,
    names.map((name) => name.split('/').at(-1)!),
  )
  return names.find((name) => name.split('/').at(-1) === part) ?? null
}

/** The legacy interface lists Basic projects only, under the id that deliveries carry. */
export const ofListed = ({ uuid, name, legacyId, type }: KnownProject): ProjectRef => ({
  projectId: legacyId,
  uuid,
  name,
  type: type ?? (legacyId === null ? null : 'basic'),
})

const ofHeard = ({ projectId, name, fullName, projectUuid }: HeardProject) => ({
  projectId,
  uuid: projectUuid,
  name,
  fullName,
  type: null,
})
