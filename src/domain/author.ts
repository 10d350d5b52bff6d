import { claimable } from './handle.ts'

/** What identifies the author of a commit when looking for them in Slack. At least one field is set. */
export interface Author {
  /** in lower case */
  email: string | null
  /** the name of their account at the source, in lower case */
  login: string | null
}

/** Null for bots, and if neither the address nor the login identifies one person (such as a no-reply address). */
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
