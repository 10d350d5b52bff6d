import type { ProjectNames } from '../domain/subscription.ts'
import type { DeliveredProject } from '../store/records.ts'
import type { Reads } from '../store/store.ts'

// Projects as builds name them.

/** The names that a project's builds use: those that decide which channels follow it. */
export const namesOf = ({ projectId, projectUuid, name, fullName }: DeliveredProject): ProjectNames => ({
  projectId,
  projectUuid,
  names: [name, fullName],
})

/** The most projects with one name that are told apart. */
export const NAMESAKES_MAX = 1_000

/** Projects by their ids, as builds name them. */
export async function deliveredById(
  reads: Pick<Reads, 'deliveredAs'>,
  ids: readonly string[],
): Promise<Map<string, DeliveredProject>> {
  const delivered = ids.length === 0 ? [] : await reads.deliveredAs(ids, ids.length + NAMESAKES_MAX)
  return new Map(delivered.map((project) => [project.projectId, project]))
}
