import { sourceOf, type Uuid } from './ids.ts'

/** A project by all the names it goes by. */
export interface ProjectRef {
  /** CI's integer id, where a delivery or the legacy interface named it */
  projectId: string | null
  uuid: Uuid | null
  name: string
  /** `basic`, `pro`, CI's own word; null where it is not known */
  type: string | null
}

/** A project as the cache or the deliveries know it. */
export interface ProjectSource extends ProjectRef {
  fullName?: string | null
}

/**
 * One list of what CI lists and what deliveries named. What CI lists comes first and gives the name; a project that
 * deliveries named joins it by uuid, by id, or by a name that only one project has: one of the CI service's, for of other
 * sources the id is always known.
 */
export function joinProjects(listed: readonly ProjectSource[], heard: readonly ProjectSource[]): ProjectRef[] {
  const joined = listed.map(({ projectId, uuid, name, type }) => ({ projectId, uuid, name, type }))
  const byUuid = new Map(
    joined.flatMap((project) => (project.uuid ? [[project.uuid as string, project] as const] : [])),
  )
  const byId = new Map(joined.flatMap((project) => (project.projectId ? [[project.projectId, project] as const] : [])))
  const byName = Map.groupBy(joined.filter(isOfCi), ({ name }) => name.toLowerCase())
  for (const { projectId, uuid, name, fullName, type } of heard) {
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

/**
 * The projects that a text names: by uuid, by CI's id, by full name; else those with it in their name, those first whose
 * last part (`web` of `acme/web`) it is. Case does not matter.
 */
export function matchProjects(projects: readonly ProjectRef[], text: string): ProjectRef[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  const exact = [
    projects.filter(({ uuid }) => uuid === wanted),
    projects.filter(({ projectId }) => projectId === wanted),
    projects.filter(({ name }) => name.toLowerCase() === wanted),
    projects.filter(({ name }) => name.toLowerCase().split('/').at(-1) === wanted),
  ].find((found) => found.length > 0)
  return exact ?? projects.filter(({ name }) => name.toLowerCase().includes(wanted))
}
