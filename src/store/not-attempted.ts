import type { Tx } from './store.ts'

/**
 * A request that failed before anything was done, so that it can be made again. Its `cause` is the failure,
 * for the log.
 */
export class NotAttempted extends Error {
  readonly code = 'undone'

  constructor(why: string, cause?: unknown) {
    super(`nothing was done: ${why}`, { cause })
  }
}

/** The requester already knows, and needs no further answer. */
export class GivenUp extends NotAttempted {}

/**
 * Throws GivenUp if the requester was told that the interaction was interrupted, because another process took this one
 * for dead or it was stopping. The person may have tried again since, so nothing may be done any more.
 */
export async function refuseGivenUp(tx: Tx, interactionKey: string): Promise<void> {
  const isGivenUp = (await tx.interactionsOf(interactionKey)).some(
    ({ state }) => state === 'given-up' || state === 'told',
  )
  if (isGivenUp) throw new GivenUp('the requester was told that it was interrupted')
}
