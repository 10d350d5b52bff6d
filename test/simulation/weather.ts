import type { ChannelId, MessageTs } from '../../src/domain/ids.ts'
import type { Failure } from '../../src/slack/notifier.ts'
import { failureOfCode } from '../../src/slack/api/errors.ts'
import { SECOND } from '../support/build-events.ts'
import {
  limited,
  SMOOTH,
  unclearButLands,
  UNCLEAR_LOST,
  UNSENT,
  type Call,
  type Fate,
  type FakeNotifier,
} from '../support/fake-notifier.ts'
import type { Random } from './random.ts'

// How Slack behaves. Its error codes are Slack's own, and mean what the product takes them to mean.

/** Every way in which Slack can fail. The seed decides what happens in a run. */
export interface Weather {
  /** the probability that a call fails temporarily */
  trouble: number
  /** how long a good answer may take (ms) */
  slowMs: number
  /** history may be far behind */
  lags: boolean
  /** the probability that a message with blocks is refused */
  refusals: number
  /** a channel is closed, with this error code */
  closed: Closing | null
  /** the whole workspace is closed, with this error code */
  revoked: { code: string; fromMs: number; toMs: number } | null
}

export interface Closing {
  channel: ChannelId
  code: string
  fromMs: number
  /** infinite: it is never open again */
  toMs: number
}

/** A call that takes effect does so within this time, whatever its caller was told. */
const LANDS_BY_MS = 12 * SECOND
const LISTED_BY_MS = 4 * SECOND
/** Sometimes history is so far behind that a message is posted again before it shows the first one. */
const LISTED_LATE_MS = 25 * SECOND
const TIMEOUT_MS = 10 * SECOND

export const CLOSED_CODES = [
  'is_archived',
  'not_in_channel',
  'channel_not_found',
  'restricted_action_read_only_channel',
]
export const REVOKED_CODES = ['token_revoked', 'account_inactive', 'missing_scope']
const FROZEN_CODES = ['edit_window_closed', 'cant_update_message']
const REFUSED_CODES = ['msg_too_long', 'invalid_blocks', 'too_many_attachments']
const UNCLEAR_CODES = ['internal_error', 'request_timeout', 'service_unavailable']

const failing = (code: string): Failure => {
  const kind = failureOfCode(code)
  return kind === 'rate-limited' ? { kind, code, retryAfterMs: SECOND } : { kind, code }
}

/** @param frozen messages that can no longer be edited */
export function createFate(
  random: Random,
  { trouble, slowMs, lags, refusals, revoked }: Weather,
  { frozen, since }: { frozen: ReadonlySet<MessageTs>; since: () => number },
) {
  const lagMs = lags ? LISTED_LATE_MS : LISTED_BY_MS
  return (call: Call): Partial<Fate> => {
    const smooth: Fate = {
      ...SMOOTH,
      landsAfterMs: random.between(1, Math.max(300, random.chance(0.2) ? slowMs : 0)),
      listedAfterMs: random.between(0, random.chance(0.1) ? lagMs : LISTED_BY_MS),
    }
    if (revoked && since() >= revoked.fromMs && since() < revoked.toMs) return refusedBy(revoked.code)
    if (call.name === 'edit' && call.ts !== null && frozen.has(call.ts)) return refusedBy(random.pick(FROZEN_CODES))
    if (random.chance(trouble)) return { ...smooth, ...inPassing(random, call) }
    const hasBlocks = (call.name === 'post' || call.name === 'edit') && !call.plain
    if (hasBlocks && random.chance(refusals)) return refusedBy(random.pick(REFUSED_CODES))
    return smooth
  }
}

const refusedBy = (code: string): Partial<Fate> => ({ landsAfterMs: null, answersAfterMs: 50, failure: failing(code) })

/** Temporary faults: not sent, refused, accepted without an answer, answered too late. The next try is not affected. */
function inPassing(random: Random, { name }: Call): Partial<Fate> {
  const answersAfterMs = random.pick([random.between(1, 500), TIMEOUT_MS])
  const failures: Partial<Fate>[] = [
    { ...limited(random.between(1, 5) * SECOND), answersAfterMs },
    { ...UNSENT, answersAfterMs },
    { ...UNCLEAR_LOST, answersAfterMs },
    { ...unclearButLands(random.between(1, 500)), answersAfterMs },
    { ...unclearButLands(random.between(0, LANDS_BY_MS)), answersAfterMs },
    {
      ...unclearButLands(random.between(0, LANDS_BY_MS)),
      failure: failing(random.pick(UNCLEAR_CODES)),
      answersAfterMs,
    },
  ]
  return random.pick(name === 'ping' ? failures.slice(0, 3) : failures)
}

export function openOrClose(slack: FakeNotifier, closed: Closing | null, since: number): void {
  if (!closed) return
  if (since >= closed.fromMs && since < closed.toMs) slack.close(closed.channel, closed.code)
  else slack.open(closed.channel)
}
