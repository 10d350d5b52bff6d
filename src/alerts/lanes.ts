import { lanesOf, settleDead, type Lane, type Lanes, type StoredMessage } from '../domain/plan.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Card, CardKey } from '../store/kept.ts'
import type { Reads, Tx } from '../store/store.ts'
import type { ReconcileDeps } from './deps.ts'
import { planCard, type CardPlan } from './story.ts'

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
  const messages = settleDead(await reads.messagesOf(key), (message) => isDead(deps, message, underWay))
  return { card, messages, ...(await planCard(reads, card, messages, { now, interfaces: deps.interfaces })) }
}

/**
 * Plans one card afresh and puts what is left to do in its lanes.
 * @param failed the lane of a step that failed and may be tried again at that time (ms)
 */
export async function relane(
  tx: Tx,
  deps: ReconcileDeps,
  key: CardKey,
  { underWay, failed = null }: { underWay: boolean; failed?: { lane: Lane; againAt: number } | null },
): Promise<void> {
  const read = await readCard(tx, deps, key, underWay)
  if (!read) return
  const planned = lanesOf(read.steps)
  // An edit that is refused or limited must not hold back the reply that people wait for, nor the other way round.
  const held = (lane: Lane): Due =>
    failed && (lane === 'edit') === (failed.lane === 'edit') ? delay(planned[lane], failed.againAt) : planned[lane]
  const look = earlier(held('look'), safetyNet(read.messages))
  await tx.setLanes(key, { post: held('post'), edit: held('edit'), look })
}

/** Leaves a card for later as it is: nothing else of it has to be readable. */
export async function postponeCard(tx: Tx, { clock, random }: ReconcileDeps, key: CardKey): Promise<void> {
  const card = await tx.card(key)
  if (!card) return
  const at =
    clock.now() + backoffMs(card.attempts, random(), { baseMs: STUMBLED_AGAIN_MS, maxMs: STUMBLED_AGAIN_MAX_MS })
  const { post, edit, look } = card.lanes
  await tx.setLanes(key, { post: delay(post, at), edit: delay(edit, at), look: delay(look, at) })
  await tx.setTrouble(key, { ...card, attempts: card.attempts + 1 })
}

/** A card that fails on our side is a defect: it is tried again ever more seldom, and takes little from the others. */
const STUMBLED_AGAIN_MS = 5_000
const STUMBLED_AGAIN_MAX_MS = 10 * 60_000

type Due = Lanes[keyof Lanes]

const delay = (lane: Due, notBefore: number): Due => lane && { ...lane, at: Math.max(lane.at, notBefore) }

const earlier = (a: Due, b: Due): Due =>
  a && b ? { at: Math.min(a.at, b.at), priority: Math.min(a.priority, b.priority) } : (a ?? b)

// Whoever has a call under way may die before it records the end: then this lane is where the card is found again.
function safetyNet(messages: readonly StoredMessage[]): Due {
  const underWay = messages.filter(({ state, sending }) => state === 'claimed' || sending !== null)
  if (underWay.length === 0) return null
  const since = Math.max(...underWay.map(({ claimedAt, sendingAt }) => Math.max(claimedAt, sendingAt ?? 0)))
  return { at: since, priority: 0 }
}

// One process sends at a time: a claim of another term died with it.
const isDead = ({ term }: ReconcileDeps, { claimedBy }: StoredMessage, underWay: boolean): boolean =>
  claimedBy !== term.id || !underWay
