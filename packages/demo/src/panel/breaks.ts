import { assertNever } from '../../../../src/lib/assert.ts'
import type { SandboxCi } from '../../../sandbox-ci/src/server.ts'
import type { StateSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import type { CiBreak, SlackBreak } from '../../../sandbox-slack/src/panel-state.ts'

type Slack = Pick<SandboxSlack, 'faults'>
type Ci = Pick<SandboxCi, 'faults' | 'addFault' | 'clearFaults' | 'forgetKey' | 'rememberKey'>

/** How long Slack asks everybody to wait, and how late a slow CI answers. */
const RETRY_AFTER_S = 5
const SLOW_MS = 6_000

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

/** The same for CI. */
export function breakCi(ci: Ci, how: CiBreak): void {
  ci.clearFaults()
  if (how === 'forgets') return ci.forgetKey()
  ci.rememberKey()
  if (how === 'slow') ci.addFault({ kind: 'slow', ms: SLOW_MS })
  else if (how === 'down') ci.addFault({ kind: 'down' })
}

export function ciBreakOf(ci: Ci, { tokens }: Pick<StateSnapshot, 'tokens'>): CiBreak | 'other' {
  const [first] = ci.faults()
  if (first === undefined) return tokens.length === 0 ? 'forgets' : 'none'
  return first.kind === 'slow' || first.kind === 'down' ? first.kind : 'other'
}
