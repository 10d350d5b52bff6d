import type { Deed, Outcome } from './deeds.ts'

/** Performs an action. Returns the HTTP status (0: no answer) and the outcome. */
export async function perform(deed: Deed): Promise<{ status: number; outcome: Outcome }> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(deed) }
  try {
    const response = await fetch('/sandbox/people', request)
    const outcome: Outcome = await response.json()
    return { status: response.status, outcome }
  } catch {
    return { status: 0, outcome: { ok: false, error: 'the sandbox does not answer' } }
  }
}
