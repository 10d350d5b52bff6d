import { LANDING_MAX_MS, type Queue, type Step } from '../../domain/cards/plan.ts'
import { together } from '../../lib/async.ts'
import type { Failure, SearchResult, Sent } from '../../slack/notifier.ts'
import type { Card, CardKey } from '../../store/records.ts'
import type { ReconcileDeps } from '../deps.ts'
import { recordEnd, recordLate, reportEnd, type ClaimedStep } from './outcome.ts'
import type { Tx } from '../../store/store.ts'
import { WINDOW_MS } from './pace.ts'
import { queueRest, readCard, requeue } from '../plan-card/planner.ts'

/** The history is searched from this long before the claim, because clocks differ. */
const CLOCKS_DIFFER_MS = 60_000

/** How one step ended. `nothing`: no step was due. `lost`: not made, because this process no longer sends. */
export type StepResult =
  | { kind: 'nothing' | 'lost' }
  | { kind: 'done'; step: Step; sentAt: number; outcome: Sent | SearchResult | Failure }

/**
 * Makes at most one call for a card in one queue: replans, records the claim, makes the call, records the outcome. If
 * the process dies in between, the card is found and planned again.
 */
export async function sendNext(deps: ReconcileDeps, key: CardKey, queue: Queue): Promise<StepResult> {
  const { store, clock, term } = deps
  const claimed = await store.write((tx) => claimStep(tx, deps, key, queue))
  if (claimed === 'lost') return { kind: 'lost' }
  if (!claimed) return { kind: 'nothing' }
  const sentAt = clock.now()
  // Checked right before the call: the process may have been paused since the claim.
  const isLost = !term.isValid()
  const outcome = isLost ? LOST : await callSlack(deps, claimed)
  await store.write(async (tx) =>
    (await term.holds(tx)) ? recordEnd(tx, deps, claimed, outcome) : recordLate(tx, deps, claimed, outcome),
  )
  if (isLost) return { kind: 'lost' }
  reportEnd(deps, claimed, outcome)
  return { kind: 'done', step: claimed.step, sentAt, outcome }
}

const LOST = { kind: 'unsent', code: 'lease_lost' } as const

async function callSlack(
  { notifier }: ReconcileDeps,
  { card, step, messageKey, postedAttempt }: ClaimedStep,
): Promise<Sent | SearchResult | Failure> {
  const { channel, plain } = card
  switch (step.queue) {
    case 'post':
      return notifier.post({ channel, view: step.view, key: messageKey, postedAttempt, thread: step.thread, plain })
    case 'edit':
      return notifier.edit({ channel, ts: step.message.ts!, view: step.view, key: messageKey, postedAttempt, plain })
    case 'look':
      return lookUp(notifier, card, step)
  }
}

// If a message is found more than once, the recorded copy is kept and comes first; the others are deleted. If no copy
// is recorded yet, the newest is kept: it has mentioned the right people.
async function lookUp(
  notifier: ReconcileDeps['notifier'],
  { channel }: Card,
  { message, thread }: Extract<Step, { queue: 'look' }>,
): Promise<SearchResult | Failure> {
  const sinceMs = message.claimedAt - CLOCKS_DIFFER_MS - (message.doubtAt === null ? 0 : LANDING_MAX_MS * 3)
  const untilMs = (message.doubtAt ?? message.claimedAt) + LANDING_MAX_MS + CLOCKS_DIFFER_MS
  const found = await notifier.find({ channel, thread, key: message.key, sinceMs, untilMs })
  if (found.kind !== 'found') return found
  const kept = found.copies.find(({ ts }) => ts === message.ts) ?? found.copies.at(-1)
  const others = found.copies.filter((copy) => copy !== kept)
  for (const { ts } of others) {
    const removed = await notifier.remove({ channel, ts })
    // A copy that cannot be deleted (`message-gone`) stays: a retry would not help.
    if (removed.kind !== 'sent' && removed.kind !== 'message-gone') return removed
  }
  return { kind: 'found', copies: kept === undefined ? [] : [kept, ...others] }
}

/** Replans a card and claims its most urgent due step in a queue; null if none is due. `lost`: this process no longer sends. */
async function claimStep(
  tx: Tx,
  deps: ReconcileDeps,
  key: CardKey,
  queue: Queue,
): Promise<ClaimedStep | 'lost' | null> {
  // Only one call per card runs at a time: this one. Any other call marked as in flight ended without being recorded.
  const [isHeld, read] = await together([deps.term.holds(tx), readCard(tx, deps, key, false)])
  if (!isHeld) return 'lost'
  if (!read) return null
  const now = deps.clock.now()
  const due = read.steps.filter(({ step, at }) => step.queue === queue && at <= now)
  const first = due.sort((a, b) => a.priority - b.priority)[0]
  if (!first) {
    await requeue(tx, deps, key, { underWay: false })
    return null
  }
  const { step, priority } = first
  const postedAttempt = postedAttemptBy(step, read.postedAttempt)
  const messageKey = await claim(tx, deps, key, step, postedAttempt)
  await tx.insertCall({ queue, channel: key.channel, at: now })
  await tx.forgetCalls(now - WINDOW_MS * 2)
  await queueRest(tx, key, { steps: read.steps.filter((planned) => planned !== first), claimedAt: now })
  const cardMessage = read.messages.findLast(({ slot, state }) => slot === 'card' && state === 'posted')
  return {
    card: read.card,
    step,
    priority,
    at: now,
    receivedAt: read.receivedAt,
    buildEvent: read.buildEvent,
    messageKey,
    postedAttempt,
    cardMessage,
  }
}

/** The attempt whose end the step's message showed when posted, or shows if it is posted now. */
function postedAttemptBy(step: Step, newestEnd: string | null): string | null {
  if (step.queue !== 'post') return step.message.postedAttempt
  return step.slot === 'card' ? newestEnd : null
}

async function claim(
  tx: Tx,
  deps: ReconcileDeps,
  key: CardKey,
  step: Step,
  postedAttempt: string | null,
): Promise<string> {
  const now = deps.clock.now()
  switch (step.queue) {
    case 'look':
      return step.message.key
    case 'edit': {
      // Store the digest and the recheck as planned: the plan has settled a dead process's edit, but the row has not.
      const { digest, recheckAt } = step.message
      await tx.updateMessage(step.message.key, {
        sending: step.digest,
        sendingAt: now,
        claimedBy: deps.term.id,
        digest,
        recheckAt,
      })
      return step.message.key
    }
    case 'post': {
      const claimed = {
        state: 'claimed',
        claimedAt: now,
        claimedBy: deps.term.id,
        lookedAt: null,
        digest: step.digest,
        postedAttempt,
      } as const
      if (step.again) {
        // From now on Slack may show this message twice, even if this call fails.
        await tx.updateMessage(step.again.key, { ...claimed, doubtAt: now + LANDING_MAX_MS })
        return step.again.key
      }
      const message = { key: deps.newKey(), slot: step.slot, generation: step.generation, ...claimed }
      await tx.insertMessage({ ...key, ...UNSENT, ...message })
      return message.key
    }
  }
}

const UNSENT = { ts: null, sending: null, sendingAt: null, recheckAt: null, doubtAt: null, writtenAt: null }
