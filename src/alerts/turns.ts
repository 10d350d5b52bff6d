import type { ChannelId } from '../domain/ids.ts'
import type { Lane } from '../domain/plan.ts'
import type { SlotTaken, Tx } from '../store/store.ts'
import { CALL_MAX_MS } from './lanes.ts'
import { CALLS_PER_WINDOW, POST_GAP_MS, WINDOW_MS } from './pace.ts'

// Slack counts the calls of all processes together: whose turn it is, is taken in the transaction that claims.

/** The clocks of several machines agree by less: as much longer each limit is kept. */
export const CLOCKS_AGREE_MS = 100

/**
 * A call has arrived when it was answered, or so long after it was sent. A process by itself reckons with less, and learns
 * by a 429; here another one would meet it.
 */
export const ARRIVAL_MAX_MS = 5_000

/** Where another process has a call under way, it is looked again so soon whether it has ended. */
const UNDER_WAY_AGAIN_MS = 150

/** A lane that is full may be free sooner than it seems: calls under way are counted late. */
const FULL_AGAIN_MS = 1_000

/** Takes the turn for one call. Null: it is this process's; else in how many ms to try again. */
export async function takeTurn(
  tx: Tx,
  { lane, channel, call, now }: { lane: Lane; channel: ChannelId; call: string; now: number },
): Promise<number | null> {
  const until = now + CALL_MAX_MS
  const taken =
    lane === 'post'
      ? await tx.takePostSlot(channel, call, { now, until })
      : await tx.takeWindowSlot(lane, channel, call, {
          now,
          until,
          windowMs: WINDOW_MS + CLOCKS_AGREE_MS,
          max: CALLS_PER_WINDOW,
        })
  return taken && waitFor(taken, now)
}

const waitFor = ({ freeAt, isUnderWay }: SlotTaken, now: number): number =>
  Math.max(1, Math.min(freeAt - now, isUnderWay ? UNDER_WAY_AGAIN_MS : FULL_AGAIN_MS))

/** The call that was under way has ended: sent and arrived at Slack by then (ms), or never made (null). */
export const leaveTurn = (tx: Tx, call: string, arrivedAt: number | null, now: number): Promise<void> =>
  arrivedAt === null
    ? tx.dropSlot(call, now)
    : tx.leaveSlot(call, { arrivedAt, postGapMs: POST_GAP_MS + CLOCKS_AGREE_MS })
