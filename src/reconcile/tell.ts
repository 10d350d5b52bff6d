import { LANDING_MAX_MS, type Lane, type Step } from '../domain/plan.ts'
import type { Failure, Found, Sent } from '../notify/notifier.ts'
import type { Card, CardKey } from '../store/kept.ts'
import type { Tx } from '../store/store.ts'
import type { ReconcileDeps } from './deps.ts'
import { readCard, relane } from './lanes.ts'
import { recordEnd, reportEnd, type Claimed } from './outcome.ts'

/** The history is searched from a little before the claim, for clocks that differ. */
const CLOCKS_DIFFER_MS = 60_000

/** How one step ended; `nothing`: there was none left to take. */
export type Told = { kind: 'nothing' } | { kind: 'done'; step: Step; sentAt: number; outcome: Sent | Found | Failure }

/**
 * Takes at most one step for a card in one lane: plans afresh, records the claim, makes the call, records its end.
 * Whatever dies on the way leaves a card that is found and planned again.
 */
export async function tellNext(deps: ReconcileDeps, key: CardKey, lane: Lane): Promise<Told> {
  const claimed = await deps.store.write((tx) => claimStep(tx, deps, key, lane))
  if (!claimed) return { kind: 'nothing' }
  const sentAt = deps.clock.now()
  const outcome = await take(deps, claimed)
  await deps.store.write((tx) => recordEnd(tx, deps, claimed, outcome))
  reportEnd(deps, claimed, outcome)
  return { kind: 'done', step: claimed.step, sentAt, outcome }
}

async function claimStep(tx: Tx, deps: ReconcileDeps, key: CardKey, lane: Lane): Promise<Claimed | null> {
  // One call per card at a time, and this is it: whatever else looks under way has ended without a record.
  const read = await readCard(tx, deps, key, false)
  if (!read) return null
  const now = deps.clock.now()
  const due = read.steps.filter(({ step, at }) => step.lane === lane && at <= now)
  const first = due.sort((a, b) => a.priority - b.priority)[0]
  if (!first) {
    await relane(tx, deps, key, { underWay: false })
    return null
  }
  const { step, priority } = first
  const messageKey = await claim(tx, deps, key, step, read.bornRun)
  await tx.insertCall({ lane, channel: key.channel, at: now })
  await relane(tx, deps, key, { underWay: true })
  const cardMessage = read.messages.findLast(({ slot, state }) => slot === 'card' && state === 'posted')
  return { card: read.card, step, priority, at: now, heardAt: read.heardAt, fact: read.fact, messageKey, cardMessage }
}

async function claim(tx: Tx, deps: ReconcileDeps, key: CardKey, step: Step, bornRun: string | null): Promise<string> {
  const now = deps.clock.now()
  switch (step.lane) {
    case 'look':
      return step.message.key
    case 'edit': {
      // The digest and the recheck as planned: of a dead process's edit they say more than what it left behind.
      const { digest, recheckAt } = step.message
      await tx.updateMessage(step.message.key, {
        sending: step.digest,
        sendingAt: now,
        claimedBy: deps.processId,
        digest,
        recheckAt,
      })
      return step.message.key
    }
    case 'post': {
      const claimed = {
        state: 'claimed',
        claimedAt: now,
        claimedBy: deps.processId,
        lookedAt: null,
        digest: step.digest,
      } as const
      const born = step.slot === 'card' ? bornRun : null
      if (step.again) {
        await tx.updateMessage(step.again.key, { ...claimed, bornRun: born })
        return step.again.key
      }
      const message = { key: deps.newKey(), slot: step.slot, generation: step.generation, ...claimed, bornRun: born }
      await tx.insertMessage({ ...key, ...UNSAID, ...message })
      return message.key
    }
  }
}

const UNSAID = { ts: null, sending: null, sendingAt: null, recheckAt: null, doubtAt: null, writtenAt: null }

async function take({ notifier }: ReconcileDeps, { card, step, messageKey }: Claimed): Promise<Sent | Found | Failure> {
  const { channel, plain } = card
  switch (step.lane) {
    case 'post':
      return notifier.post({ channel, view: step.view, key: messageKey, thread: step.thread, plain })
    case 'edit':
      return notifier.edit({ channel, ts: step.message.ts!, view: step.view, key: messageKey, plain })
    case 'look':
      return look(notifier, card, step)
  }
}

// Where a message of ours turns up twice, the one that stands stays and comes first; the other is taken back.
async function look(
  notifier: ReconcileDeps['notifier'],
  { channel }: Card,
  { message, thread }: Extract<Step, { lane: 'look' }>,
): Promise<Found | Failure> {
  const sinceMs = message.claimedAt - CLOCKS_DIFFER_MS - (message.doubtAt === null ? 0 : LANDING_MAX_MS * 3)
  const untilMs = (message.doubtAt ?? message.claimedAt) + LANDING_MAX_MS + CLOCKS_DIFFER_MS
  const found = await notifier.find({ channel, thread, key: message.key, sinceMs, untilMs })
  if (found.kind !== 'found') return found
  const kept = found.ts.find((ts) => ts === message.ts) ?? found.ts[0]
  const others = found.ts.filter((ts) => ts !== kept)
  for (const ts of others) {
    const removed = await notifier.remove({ channel, ts })
    // What cannot be taken back stays: to ask again would not help.
    if (removed.kind !== 'sent' && removed.kind !== 'message-gone') return removed
  }
  return { kind: 'found', ts: kept === undefined ? [] : [kept, ...others] }
}
