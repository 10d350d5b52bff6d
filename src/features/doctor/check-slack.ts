import type { Found } from './asked.ts'
import type { Examination } from './readings.ts'

/** Does Slack take the token? */
export async function checkToken({ identity }: Examination): Promise<Found[]> {
  const who = await identity()
  return who.kind === 'known' ? [{ kind: 'fine', count: null }] : [{ kind: `slack-${who.kind}`, code: who.code }]
}

/** Has the app been installed with everything that its manifest asks for? */
export async function checkScopes({ identity, scopesNeeded }: Examination): Promise<Found[]> {
  const who = await identity()
  if (who.kind !== 'known') return [{ kind: 'not-checked', why: 'slack-away' }]
  const { scopes } = who
  if (scopes === null) return [{ kind: 'not-checked', why: 'not-said' }]
  const missing = scopesNeeded.filter((scope) => !scopes.includes(scope))
  return missing.length > 0
    ? [{ kind: 'scopes-missing', scopes: missing }]
    : [{ kind: 'fine', count: scopesNeeded.length }]
}

/** In Socket Mode: would Slack let a connection be opened, over which it delivers everything? None is. */
export async function checkSocket({ slack, signal }: Examination): Promise<Found[]> {
  if (!slack.socket) return [{ kind: 'over-http' }]
  const opening = await slack.socket(signal)
  if (opening.kind === 'open') return [{ kind: 'fine', count: null }]
  return [
    opening.kind === 'refuses'
      ? { kind: 'slack-refuses', code: opening.code }
      : { kind: 'not-checked', why: 'slack-away' },
  ]
}

/** Slack calls what was signed more than five minutes ago a replay, and so do we: this is a good while before. */
export const CLOCK_OFF_MS_MAX = 30_000

/** Is our clock Slack's? The `Date` of its answer tells, to the second. */
export async function checkClock({ identity }: Examination): Promise<Found[]> {
  const who = await identity()
  if (who.kind !== 'known') return [{ kind: 'not-checked', why: 'slack-away' }]
  if (who.aheadMs === null) return [{ kind: 'not-checked', why: 'not-said' }]
  return Math.abs(who.aheadMs) > CLOCK_OFF_MS_MAX
    ? [{ kind: 'clock-off', ms: who.aheadMs }]
    : [{ kind: 'fine', count: null }]
}
