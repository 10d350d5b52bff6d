import { LANDING_MAX_MS, type Lane, type Step } from '../domain/plan.ts'
import type { CardKey } from '../store/kept.ts'
import type { Tx } from '../store/store.ts'
import type { ReconcileDeps } from './deps.ts'
import { readCard, relane } from './lanes.ts'
import type { Claimed } from './outcome.ts'

/** Plans a card afresh and records the claim to its most urgent step in a lane; null: there is none. */
export async function claimStep(tx: Tx, deps: ReconcileDeps, key: CardKey, lane: Lane): Promise<Claimed | null> {
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
  const bornRun = bornRunBy(step, read.bornRun)
  const messageKey = await claim(tx, deps, key, step, bornRun)
  await tx.insertCall({ lane, channel: key.channel, at: now })
  await relane(tx, deps, key, { underWay: true })
  const cardMessage = read.messages.findLast(({ slot, state }) => slot === 'card' && state === 'posted')
  return {
    card: read.card,
    step,
    priority,
    at: now,
    heardAt: read.heardAt,
    fact: read.fact,
    messageKey,
    bornRun,
    cardMessage,
  }
}

/** What the message of a step told as it appeared, or tells if it is posted now. */
function bornRunBy(step: Step, bornNow: string | null): string | null {
  if (step.lane !== 'post') return step.message.bornRun
  return step.slot === 'card' ? bornNow : null
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
        bornRun,
      } as const
      if (step.again) {
        // From here on two may arrive, whatever becomes of this call.
        await tx.updateMessage(step.again.key, { ...claimed, doubtAt: now + LANDING_MAX_MS })
        return step.again.key
      }
      const message = { key: deps.newKey(), slot: step.slot, generation: step.generation, ...claimed }
      await tx.insertMessage({ ...key, ...UNSAID, ...message })
      return message.key
    }
  }
}

const UNSAID = { ts: null, sending: null, sendingAt: null, recheckAt: null, doubtAt: null, writtenAt: null }
