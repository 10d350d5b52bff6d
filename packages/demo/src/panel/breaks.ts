import { assertNever } from '../../../../src/lib/assert.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import type { SlackBreak } from '../../../sandbox-slack/src/panel-state.ts'

type Slack = Pick<SandboxSlack, 'faults'>

/** How long Slack asks everybody to wait. */
const RETRY_AFTER_S = 5

/** Breaks Slack in one way at a time, or mends it; what else was wrong with it is over. */
export function breakSlack({ faults }: Slack, how: SlackBreak): void {
  faults.clear()
  switch (how) {
    case 'none':
      return
    case 'ratelimited':
      return void faults.add({ kind: 'ratelimited', retryAfterS: RETRY_AFTER_S })
    case 'down':
      return void faults.add({ kind: 'down' })
    case 'accept-then-drop':
      return void faults.add({ kind: 'accept-then-drop', method: 'chat.postMessage' })
    default:
      return assertNever(how)
  }
}

export function slackBreakOf({ faults }: Slack): SlackBreak | 'other' {
  const [first] = faults.list()
  if (first === undefined) return 'none'
  return first.kind === 'ratelimited' || first.kind === 'down' || first.kind === 'accept-then-drop'
    ? first.kind
    : 'other'
}
