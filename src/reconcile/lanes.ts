import { lanesOf, settleDead, type Lanes, type StoredMessage } from '../domain/plan.ts'
import type { Card, CardKey, Reads, Tx } from '../store/store.ts'
import type { ReconcileDeps } from './deps.ts'
import { planCard, type CardPlan } from './story.ts'

/** No call of ours is under way for longer than this; a claim that is older and has no end belongs to the dead. */
export const CALL_MAX_MS = 15_000

/**
 * Reads one card with all it stands on, and what is left to do. Null: there is no such card.
 * @param underWay whether this process has a call for the card under way
 */
export async function readCard(
  reads: Reads,
  deps: ReconcileDeps,
  key: CardKey,
  underWay: boolean,
): Promise<({ card: Card; messages: StoredMessage[] } & CardPlan) | null> {
  const card = await reads.card(key)
  if (!card) return null
  const now = deps.clock.now()
  const messages = settleDead(await reads.messagesOf(key), (message) => isDead(deps, message, underWay, now))
  return { card, messages, ...(await planCard(reads, card, messages, now)) }
}

/** Plans one card afresh and puts what is left to do in its lanes, not before `notBefore` (ms). */
export async function relane(
  tx: Tx,
  deps: ReconcileDeps,
  key: CardKey,
  { underWay, notBefore = 0 }: { underWay: boolean; notBefore?: number },
): Promise<void> {
  const read = await readCard(tx, deps, key, underWay)
  if (!read) return
  const planned = lanesOf(read.steps)
  const look = earlier(delay(planned.look, notBefore), safetyNet(deps, read.messages))
  const lanes = { post: delay(planned.post, notBefore), edit: delay(planned.edit, notBefore), look }
  await tx.setLanes(key, lanes)
}

type Due = Lanes[keyof Lanes]

const delay = (lane: Due, notBefore: number): Due => lane && { ...lane, at: Math.max(lane.at, notBefore) }

const earlier = (a: Due, b: Due): Due =>
  a && b ? { at: Math.min(a.at, b.at), priority: Math.min(a.priority, b.priority) } : (a ?? b)

// Whoever has a call under way may die before it records the end: then this lane is where the card is found again.
function safetyNet({ store }: ReconcileDeps, messages: readonly StoredMessage[]): Due {
  const underWay = messages.filter(({ state, sending }) => state === 'claimed' || sending !== null)
  if (underWay.length === 0) return null
  const since = Math.max(...underWay.map(({ claimedAt, sendingAt }) => Math.max(claimedAt, sendingAt ?? 0)))
  return { at: store.shared ? since + CALL_MAX_MS : since, priority: 0 }
}

// On a database of our own, whatever another process had under way died with it.
function isDead({ store, processId }: ReconcileDeps, message: StoredMessage, underWay: boolean, now: number): boolean {
  if (message.claimedBy === processId) return !underWay
  const since = Math.max(message.claimedAt, message.sendingAt ?? 0)
  return !store.shared || now >= since + CALL_MAX_MS
}
