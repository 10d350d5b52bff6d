import type { Asker, Refused } from '../../catalog/outcomes.ts'
import type { ProjectDeps } from './deps.ts'

/** Why this person may not create, edit or reset; null: may. */
export async function refusalOf(
  { permits }: Pick<ProjectDeps, 'permits'>,
  { user, team }: Pick<Asker, 'user' | 'team'>,
): Promise<Refused | null> {
  const permit = await permits('administer', { user, team })
  if (permit.kind === 'yes') return null
  return permit.kind === 'no' ? { kind: 'forbidden', action: 'administer', permit } : permit
}
