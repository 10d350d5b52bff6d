import type { Project, ProjectList } from '../../domain/project.ts'
import { CiError } from './errors.ts'

type Listing = (query: { name?: string }) => Promise<ProjectList>

/** The project of that uuid, see `ClientV2.getProject`. Its name alone proves nothing: another may have taken it since. */
export async function findProject(
  list: Listing,
  { name, uuid }: Pick<Project, 'name' | 'uuid'>,
): Promise<Project | null> {
  const isIt = (project: Project) => project.uuid === uuid
  const named = (await listNamed(list, name)).find(isIt)
  if (named) return named
  const { projects, truncated } = await list({})
  const found = projects.find(isIt) ?? null
  // What was not read may be it: "there is none" would be a guess.
  if (found === null && truncated) throw new CiError({ kind: 'too-large', purpose: 'get a project' })
  return found
}

async function listNamed(list: Listing, name: string): Promise<readonly Project[]> {
  try {
    return (await list({ name })).projects
  } catch (error) {
    // Some services answer 404 when no project has the name.
    if (error instanceof CiError && error.kind === 'not-found') return []
    throw error
  }
}
