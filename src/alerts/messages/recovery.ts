import type { Recovery } from '../../domain/recovered.ts'
import { dayTime } from '../../slack/messages/times.ts'

/** `was red since <time> · 3 builds`; null where nothing recovered. Markup. */
export function redSince(recovery: Recovery | null): string | null {
  if (recovery === null) return null
  const since = dayTime(recovery.sinceAt)
  const count = `${recovery.builds} ${recovery.builds === 1 ? 'build' : 'builds'}`
  if (!recovery.atLeast) return since ? `was red since ${since} · ${count}` : `was red for ${count}`
  // The history that was read ends before the streak does.
  return since ? `was red since ${since} or longer · at least ${count}` : `was red for at least ${count}`
}
