import type { Clock } from '../lib/clock.ts'
import { createClient, type ClientOptions } from '../slack/api/client.ts'
import type { PendingInteractionsDeps } from './pending-interactions.ts'

/** Tells people that their request was interrupted. Loads the code for it on first use, since few starts need it. */
export function createInterruptedSender({
  clock,
  ...options
}: ClientOptions & { clock: Clock }): PendingInteractionsDeps['tell'] {
  let client: ReturnType<typeof createClient> | null = null
  return async (left) => {
    const { showInterrupted } = await import('./interrupted.ts')
    client ??= createClient(options)
    return showInterrupted({ client, clock }, left)
  }
}
