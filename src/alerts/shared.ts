import { LANDING_MAX_MS, settleDead, type Lane } from '../domain/plan.ts'
import type { Failure, Found, Sent } from '../slack/notifier.ts'
import type { CallUnderWay, CardKey } from '../store/kept.ts'
import type { Tx } from '../store/store.ts'
import { claimStep, type Busy } from './claim.ts'
import type { ReconcileDeps } from './deps.ts'
import { relane } from './lanes.ts'
import { recordEnd, type Claimed } from './outcome.ts'
import { ARRIVAL_MAX_MS, leaveTurn, takeTurn } from './turns.ts'

// Several processes share the work: one call at a time for each card, whoever makes it, and what the dead leave is taken
// over.

/** A call of this process, as the others see it. */
export interface Turn {
  call: string
  by: string
}

/** Another one has the card at this moment, or this process is not known to be alive: soon again. */
export const AGAIN_MS = 100

/** Claims a step unless another process is at the card, has the turn, or takes this one for dead. */
export async function claimShared(
  tx: Tx,
  deps: ReconcileDeps,
  { key, lane, turn }: { key: CardKey; lane: Lane; turn: Turn },
): Promise<Claimed | Busy | null> {
  const { call, by } = turn
  if (!(await tx.isPresent(by, deps.clock.now()))) return { kind: 'busy', forMs: AGAIN_MS }
  if ((await tx.callOf(key)) !== null) return { kind: 'busy', forMs: AGAIN_MS }
  return claimStep(tx, deps, key, lane, async (now) => {
    const forMs = await takeTurn(tx, { lane, channel: key.channel, call, now })
    if (forMs !== null) return { kind: 'busy', forMs }
    await tx.setCall(key, turn)
    return null
  })
}

interface Ended {
  turn: Turn
  outcome: Sent | Found | Failure
  /** null: the call was not made */
  sentAt: number | null
}

/** Records how a call ended. Where another process has taken the card over, only what it cannot know. */
export async function endShared(
  deps: ReconcileDeps,
  claimed: Claimed,
  { turn, outcome, sentAt }: Ended,
): Promise<void> {
  const { store, clock } = deps
  const { card, step } = claimed
  const now = clock.now()
  const arrivedAt = sentAt === null ? null : Math.min(now, sentAt + ARRIVAL_MAX_MS)
  await store.write(async (tx) => {
    // Locks the card, so that the call is still ours when the end is written.
    await tx.card(card)
    const own = await tx.callOf(card)
    if (own !== null && own !== 'elsewhere' && own.call === turn.call) {
      await tx.setCall(card, null)
      await recordEnd(tx, deps, claimed, outcome)
    } else await recordLate(tx, deps, claimed, outcome)
    await leaveTurn(tx, turn.call, arrivedAt, now)
    if (outcome.kind === 'rate-limited') await tx.blockSlot(step.lane, card.channel, now + outcome.retryAfterMs)
  })
}

/**
 * A call that ended after others had taken the card over, and looked for it: what came late all the same must not stay
 * twice, nor an older state over a newer one.
 */
async function recordLate(
  tx: Tx,
  deps: ReconcileDeps,
  { card, step, messageKey, bornRun }: Claimed,
  outcome: Sent | Found | Failure,
): Promise<void> {
  const { clock, log } = deps
  log.warn({ ...keyOf(card), lane: step.lane, outcome: outcome.kind }, 'a call ended after others had taken it over')
  const message = (await tx.messagesOf(card)).find(({ key }) => key === messageKey)
  const mayHaveArrived = outcome.kind === 'sent' || outcome.kind === 'unclear'
  if (!message || !mayHaveArrived || step.lane === 'look') return
  // History may not show it yet.
  const doubtAt = clock.now() + LANDING_MAX_MS
  if (step.lane === 'edit') await tx.updateMessage(messageKey, { digest: null })
  else if (message.state === 'posted') await tx.updateMessage(messageKey, { doubtAt })
  else if (message.state === 'unclear' && outcome.kind === 'sent')
    await tx.updateMessage(messageKey, { state: 'posted', ts: outcome.ts, bornRun, doubtAt })
  await relane(tx, deps, card, { underWay: false })
}

/** The step stumbled on our side: what is under way for the card ends here. */
export const endStumbled = async (tx: Tx, deps: ReconcileDeps, key: CardKey): Promise<void> => {
  if (!deps.presence) return
  await tx.card(key)
  const own = await tx.callOf(key)
  if (own === null || own === 'elsewhere' || own.by !== deps.processId) return
  await tx.setCall(key, null)
  await leaveTurn(tx, own.call, deps.clock.now(), deps.clock.now())
}

/** Takes over what processes that are not alive any more had under way. @returns the channels concerned */
export async function takeOver(deps: ReconcileDeps): Promise<CardKey[]> {
  const { store, clock, log, processId } = deps
  if (!deps.presence || !(await store.read.hasLapsed(clock.now()))) return []
  const { dead, calls } = await store.write(async (tx) => {
    const left = await tx.takeOver(clock.now(), processId)
    for (const call of left.calls) await takeCallOver(tx, deps, call, left.dead)
    return left
  })
  for (const id of dead) log.warn({ process: id, calls: calls.length }, 'a process is gone; its work is taken over')
  return [...calls]
}

async function takeCallOver(tx: Tx, deps: ReconcileDeps, under: CallUnderWay, dead: readonly string[]): Promise<void> {
  const now = deps.clock.now()
  const key = keyOf(under)
  await tx.setCall(key, null)
  await leaveTurn(tx, under.call, now, now)
  const before = await tx.messagesOf(key)
  const after = settleDead(before, ({ claimedBy }) => dead.includes(claimedBy))
  for (const [i, message] of after.entries()) {
    const { state, sending, digest, recheckAt } = message
    if (message !== before[i]) await tx.updateMessage(message.key, { state, sending, digest, recheckAt })
  }
  await relane(tx, deps, key, { underWay: false })
}

const keyOf = ({ subject, channel }: CardKey): CardKey => ({ subject, channel })
