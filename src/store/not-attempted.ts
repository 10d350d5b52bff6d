import type { Tx } from './store.ts'

/**
 * A request that failed before anything was asked of CI: nothing was done, and it may be asked again. Its `cause` is what
 * failed, for the log.
 */
export class NotAttempted extends Error {
  readonly code = 'undone'

  constructor(why: string, cause?: unknown) {
    super(`nothing was asked of CI: ${why}`, { cause })
  }
}

/**
 * Whether the requester was told that nothing was done: somebody took us for dead, or we were told to stop. What they know by
 * now stays so.
 */
export const isGivenUp = async (tx: Tx, interactionKey: string): Promise<boolean> =>
  (await tx.interactionsOf(interactionKey)).some(({ state }) => state !== 'owed')
