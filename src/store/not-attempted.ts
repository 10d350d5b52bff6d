import type { Tx } from './store.ts'

/**
 * A request that failed before CI was called: nothing was done, and it can be made again. Its `cause` is the failure,
 * for the log.
 */
export class NotAttempted extends Error {
  readonly code = 'undone'

  constructor(why: string, cause?: unknown) {
    super(`nothing was asked of CI: ${why}`, { cause })
  }
}

/**
 * Whether the requester was told that nothing was done, because another process took this one for dead or it was told
 * to stop. If so, nothing may be done any more.
 */
export const isGivenUp = async (tx: Tx, interactionKey: string): Promise<boolean> =>
  (await tx.interactionsOf(interactionKey)).some(({ state }) => state !== 'owed')
