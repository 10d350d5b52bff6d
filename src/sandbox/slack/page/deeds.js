// What a person does by hand: read from what they typed, told to the sandbox, and what came of it in words.

/** Slack's clients send these three characters so, and the commands' texts too. */
const ESCAPED = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** What a typed text means at this place: `{ deed }`, or `{ trouble }` for what Slack does not do; null for nothing. */
export function readTyped(typed, { user, channel, threadTs }, botName) {
  if (typed.trim() === '') return null
  const text = typed.trimEnd().replaceAll(/[&<>]/g, (one) => ESCAPED[one])
  const [, command, rest] = /^(\/\S+)\s*([\s\S]*)$/.exec(text) ?? []
  if (!command) return { deed: { kind: 'say', user, channel, text, ...(threadTs ? { threadTs } : {}) } }
  if (threadTs) return { trouble: `Slack runs no commands in threads. Write @${botName} and what it should do.` }
  return { deed: { kind: 'command', user, channel, command, text: rest } }
}

/** Does it; answers the HTTP status (0: no answer) and the outcome. */
export async function perform(deed) {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(deed) }
  try {
    const response = await fetch('/sandbox/people', request)
    return { status: response.status, outcome: await response.json() }
  } catch {
    return { status: 0, outcome: { ok: false, error: 'the sandbox does not answer' } }
  }
}

/** What went wrong, in a sentence; null when nothing did. */
export function troubleOf(outcome, botName) {
  const { kind, what, status, refusal } = outcome
  if (outcome.ok === false) return `That did not work: ${outcome.error}.`
  if (kind === 'late') return `${botName} did not answer in time (${what}).`
  if (kind === 'unreachable') return `${botName} cannot be reached (${what}).`
  if (refusal) return `Slack refuses what ${botName} answered: ${refusal} (${what}).`
  return kind === 'answered' && status !== 200 ? `${botName} answered with an error, ${status} (${what}).` : null
}

/** Whether the words are in the channel although it went wrong, so that they need not be typed again. */
export const isSaid = (deed, status) => deed.kind === 'say' && (status === 200 || status === 503)
