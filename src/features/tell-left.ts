import type { Clock } from '../lib/clock.ts'
import { createClient, type ClientOptions } from '../slack/api/client.ts'
import type { UnansweredDeps } from './unanswered.ts'

/** Tells people that their ask was interrupted. The words are loaded with the first of them: hardly a start needs them. */
export function createTeller({ clock, ...options }: ClientOptions & { clock: Clock }): UnansweredDeps['tell'] {
  let client: ReturnType<typeof createClient> | null = null
  return async (left) => {
    const { showLeft } = await import('./show-left.ts')
    client ??= createClient(options)
    return showLeft({ client, clock }, left)
  }
}
