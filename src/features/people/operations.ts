import { claimable, normalHandle } from '../../domain/handle.ts'
import type { Asker, Refused } from '../../catalog/outcomes.ts'
import type { MeOutcome } from './outcomes.ts'
import { claim } from './claim.ts'
import { accountChanged } from './claimants.ts'
import type { PersonDeps } from './deps.ts'
import { give } from './give.ts'
import { readMe } from './me.ts'

/**
 * Whom a committer's name means, and whether that person wants mentions. Whoever may read may say so of themselves:
 * guests too, no outsiders, bots or deactivated accounts.
 */
export function createPersonOperations(deps: PersonDeps) {
  const { store } = deps
  return {
    me: (by: Asker) => whenPermitted(deps, by, async () => ({ kind: 'me', me: await readMe(store.read, by.user) })),
    /** It is the requester's from now on, unless it is another person's. */
    claim: (text: string, by: Asker) =>
      whenPermitted(deps, by, async () => {
        const named = claimable(text)
        if (named.kind === 'no') return { kind: 'not-claimable', handle: text, why: named.why }
        const ended = await claim(deps, named.handle, by.user)
        return ended === 'claimed'
          ? { kind: 'claimed', handle: named.handle, me: await readMe(store.read, by.user) }
          : ended
      }),
    /** An admin decides that it is this person's, whosever it was. Both are told. */
    give: (text: string, user: string, by: Asker) => give(deps, text, user, by),
    /** It is nobody's from now on, if it was the requester's. */
    release: (text: string, by: Asker) => whenPermitted(deps, by, () => release(deps, normalHandle(text), by.user)),
    setMentions: (on: boolean, by: Asker) =>
      whenPermitted(deps, by, async () => {
        await store.write((tx) => tx.setMentions(by.user, on))
        return { kind: 'mentions', me: await readMe(store.read, by.user) }
      }),
    /** Slack says that an account has changed: nobody mentions a deactivated one. */
    accountChanged: (user: string, isDeactivated: boolean) => accountChanged(deps, user, isDeactivated),
  }
}

async function whenPermitted(deps: PersonDeps, by: Asker, work: () => Promise<MeOutcome>): Promise<MeOutcome> {
  const refused = await refusalOf(deps, by)
  return refused ?? work()
}

async function refusalOf({ permits }: PersonDeps, by: Asker): Promise<Refused | null> {
  const permit = await permits('read', by)
  if (permit.kind === 'yes') return null
  return permit.kind === 'no' ? { kind: 'forbidden', action: 'claim', permit } : permit
}

async function release({ store }: PersonDeps, handle: string, user: string): Promise<MeOutcome> {
  const by = await store.write(async (tx) => {
    const claimed = await tx.claimOf(handle)
    if (claimed?.user === user) await tx.releaseHandle(handle)
    return claimed?.user ?? null
  })
  if (by !== user) return { kind: 'not-yours', handle, by }
  return { kind: 'released', handle, me: await readMe(store.read, user) }
}
