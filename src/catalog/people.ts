import type { Reads } from '../store/store.ts'

/** What a person has set for mentions. */
export interface Me {
  user: string
  /** the committer names that mean this person, oldest claim first; `at` in ms */
  handles: readonly { handle: string; at: number }[]
  mentions: boolean
}

/** What a person has set for mentions, as it is now. */
export async function readMe(reads: Reads, user: string): Promise<Me> {
  const [handles, mentions] = await Promise.all([reads.handlesOf(user), reads.mentionsOf(user)])
  return { user, handles, mentions }
}
