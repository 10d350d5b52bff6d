import { sourceOf, type Uuid } from '../ids.ts'

export interface ProjectRef {
  /** the project's id, if a delivery or CI's list named it */
  projectId: string | null
  uuid: Uuid | null
  name: string
  /** `basic`, `pro`, or CI's own word; null if it is not known */
  type: string | null
}

/** A unique key of one project: its uuid or id; its name if CI gave neither. */
export const projectKey = ({ uuid, projectId, name }: Partial<ProjectRef> & Pick<ProjectRef, 'name'>): string =>
  uuid ?? projectId ?? name

/** The repository or project in the name of one: `acme/web` of `acme/web CI`, a workflow. Neither has a blank. */
export const repositoryIn = (name: string): string => name.split(' ')[0]!

/** A project as CI listed it or as deliveries named it. */
export interface ProjectSource extends ProjectRef {
  fullName?: string | null
}

/**
 * Joins CI's list with the projects that deliveries named. CI's list comes first and gives the names. A project from
 * deliveries is matched by uuid, by id, or by a name that only one project on CI's list has. Names are compared for the
 * CI service only: the other sources always give ids.
 */
export function joinProjects(listed: readonly ProjectSource[], delivered: readonly ProjectSource[]): ProjectRef[] {
  const joined = listed.map(({ projectId, uuid, name, type }) => ({ projectId, uuid, name, type }))
  const byUuid = new Map(
    joined.flatMap((project) => (project.uuid ? [[project.uuid as string, project] as const] : [])),
  )
  const byId = new Map(joined.flatMap((project) => (project.projectId ? [[project.projectId, project] as const] : [])))
  const byName = Map.groupBy(joined.filter(isOfCi), ({ name }) => name.toLowerCase())
  for (const { projectId, uuid, name, fullName, type } of delivered) {
    const names = isOfCi({ projectId }) ? [fullName, name] : []
    const named = names.flatMap((one) => (one ? [byName.get(one.toLowerCase())] : [])).find(Boolean)
    const same = byUuid.get(uuid ?? '') ?? byId.get(projectId ?? '')
    const namesake = named?.length === 1 && named[0]!.projectId === null ? named[0] : undefined
    const known = same ?? namesake
    if (known) known.projectId ??= projectId
    else joined.push({ projectId, uuid, name: fullName ?? name, type })
  }
  return joined
}

const isOfCi = ({ projectId }: Pick<ProjectRef, 'projectId'>): boolean => sourceOf(projectId) === 'ci'

/** The projects that a text names exactly: by uuid, else by id, else by full name. Case does not matter. */
export function namedExactly(projects: readonly ProjectRef[], text: string): ProjectRef[] {
  const searched = text.trim().toLowerCase()
  const named = [
    projects.filter(({ uuid }) => uuid === searched),
    projects.filter(({ projectId }) => projectId === searched),
    projects.filter(({ name }) => name.toLowerCase() === searched),
  ]
  return named.find((found) => found.length > 0) ?? []
}
