import { createHash } from 'node:crypto'
import type { Stage } from '../alerts/stage.ts'
import { inBrief } from '../support/fake-notifier.ts'

/** Every call to Slack, every log line and all final messages, as one short text. */
export function traceOf({ slack, log }: Stage): string {
  const calls = slack.calls.map(({ view, ...call }) => ({ ...call, view: view && inBrief(view) }))
  const lines = log.map(({ level, text }) => `${level} ${text}`)
  return createHash('sha256')
    .update(JSON.stringify([calls, lines, slack.messages]))
    .digest('hex')
}
