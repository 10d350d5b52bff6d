import { invariant } from '../../lib/assert.ts'
import type { Tx } from '../../store/store.ts'
import { HANDLES_MAX, type MeOutcome } from './outcomes.ts'
import type { PersonDeps } from './deps.ts'

type Ended = 'claimed' | Extract<MeOutcome, { kind: 'taken' | 'too-many' }>

/**
 * Makes a handle this person's unless it is another's; of several who ask at once one has it, across processes too.
 * Repeating it changes nothing.
 * @param handle in its normal form
 */
export const claim = ({ store, clock }: PersonDeps, handle: string, user: string): Promise<Ended> =>
  store.write(async (tx) => {
    await tx.lockName(`handles of ${user}`)
    // Whoever asks is here: a mark that says otherwise is of before they came back.
    await tx.setInactive(user, null)
    const before = await standing(tx, handle, user)
    if (before) return before
    if ((await tx.handlesOf(user)).length >= HANDLES_MAX) return { kind: 'too-many', user, max: HANDLES_MAX }
    if (await tx.claimHandle(handle, user, clock.now())) return 'claimed'
    const meanwhile = await standing(tx, handle, user)
    invariant(meanwhile, 'what could not be claimed is claimed')
    return meanwhile
  })

async function standing(tx: Tx, handle: string, user: string): Promise<Ended | null> {
  const known = await tx.claimOf(handle)
  if (!known) return null
  if (known.user === user) return 'claimed'
  return { kind: 'taken', handle, by: known.user, isGone: known.inactiveAt !== null }
}
