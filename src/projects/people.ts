import type { Reads } from '../store/store.ts'

export interface Me {
  user: string
  /** the committer names that the person has claimed, the oldest claim first; `at` in ms */
  handles: readonly { handle: string; at: number }[]
  mentions: boolean
}

export async function readMe(reads: Reads, user: string): Promise<Me> {
  const [handles, mentions] = await Promise.all([reads.handlesOf(user), reads.mentionsOf(user)])
  return { user, handles, mentions }
}
