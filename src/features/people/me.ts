import type { Reads } from '../../store/store.ts'
import type { Me } from './outcomes.ts'

/** What a person has set for mentions, as it is now. */
export async function readMe(reads: Reads, user: string): Promise<Me> {
  const [handles, mentions] = await Promise.all([reads.handlesOf(user), reads.mentionsOf(user)])
  return { user, handles, mentions }
}
