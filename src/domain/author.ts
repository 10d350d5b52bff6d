import { claimable } from './handle.ts'

/** By what the author of a commit may be found among people; of the two at least one. */
export interface Author {
  /** in lower case */
  email: string | null
  /** what the source calls its account, in lower case */
  login: string | null
}

/** Null where nothing of it is one person's: of bots, and of addresses that many people commit with. */
export function authorOf({ name, email, login }: Record<'name' | 'email' | 'login', string | null>): Author | null {
  if ([name, email, login].some((said) => said !== null && BOT.test(said))) return null
  const own = { email: ownOf(email), login: ownOf(login) }
  const author = { ...own, email: own.email !== null && ADDRESS.test(own.email) ? own.email : null }
  return author.email === null && author.login === null ? null : author
}

const BOT = /\[bot\]|(?:^|@)dependabot\b/i
const ADDRESS = /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/

function ownOf(said: string | null): string | null {
  const read = claimable(said ?? '')
  return read.kind === 'ok' ? read.handle : null
}
