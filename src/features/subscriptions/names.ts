import type { ProjectRef } from '../../domain/project-names.ts'
import { following, type ProjectNames, type Subscription } from '../../domain/subscription.ts'
import type { HeardProject } from '../../store/kept.ts'
import type { Reads } from '../../store/store.ts'
import { allProjects } from '../../catalog/projects.ts'

/** All projects, each with the names under which the facts of its builds come in. */
export interface Named {
  project: ProjectRef
  names: ProjectNames
}

export async function namedProjects(reads: Reads): Promise<Named[]> {
  const [all, heard] = await Promise.all([allProjects(reads), reads.heardProjects()])
  const byId = new Map(heard.map((one) => [one.projectId as string, one]))
  return all.map((project) => ({ project, names: namesOf(project, byId.get(project.projectId ?? '')) }))
}

// What deliveries say counts, as it does for the decisions; of a project that none has named, what CI lists.
const namesOf = ({ projectId, uuid, name }: ProjectRef, heard: HeardProject | undefined): ProjectNames =>
  heard
    ? { projectId: heard.projectId, projectUuid: heard.projectUuid, names: [heard.name, heard.fullName] }
    : { projectId: projectId ?? '', projectUuid: uuid, names: [name] }

/** Does this subscription name the project, and not all of them? By its ids as CI lists them, too. */
export function isAbout(subscription: Subscription, { project, names }: Named): boolean {
  if (subscription.follows.what !== 'project') return false
  const listed = {
    projectId: project.projectId ?? '',
    projectUuid: project.uuid,
    names: [...names.names, project.name],
  }
  return following([subscription], listed).length > 0
}
