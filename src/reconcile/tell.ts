import { LANDING_MAX_MS, type Lane, type Step, type StoredMessage } from '../domain/plan.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Failure, Found, Sent } from '../notify/notifier.ts'
import type { Card, CardKey, Tx } from '../store/store.ts'
import type { ReconcileDeps } from './deps.ts'
import { readCard, relane } from './lanes.ts'

/** A message that Slack refuses even as plain text is a defect: tried again seldom, and told in the log. */
const REFUSED_AGAIN_MS = 60 * 60_000

/** A closed channel is tried again so often: somebody may have invited the bot or unarchived it. */
export const CHANNEL_AGAIN_MS = 10 * 60_000

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
  report(deps, claimed, outcome)
  if (outcome.kind === 'sent' && isNews(claimed.step))
    deps.count({ what: 'lag', ms: deps.clock.now() - claimed.heardAt, priority: claimed.priority })
  return { kind: 'done', step: claimed.step, sentAt, outcome }
}

// What is said once more, to be sure, is no news and has no lag.
const isNews = (step: Step): boolean =>
  step.lane === 'post'
    ? step.again === null
    : step.lane === 'edit' && step.message.digest !== null && step.message.digest !== step.digest

interface Claimed {
  card: Card
  step: Step
  priority: number
  /** when it was claimed (ms): what the call saw or changed is not older */
  at: number
  /** when the newest fact that it tells was received (ms) */
  heardAt: number
  messageKey: string
  /** for a reply whose card turns out to be gone */
  cardMessage: StoredMessage | undefined
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
  return { card: read.card, step, priority, at: now, heardAt: read.heardAt, messageKey, cardMessage }
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
  const found = await notifier.find({ channel, thread, key: message.key, sinceMs })
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

async function recordEnd(
  tx: Tx,
  deps: ReconcileDeps,
  claimed: Claimed,
  outcome: Sent | Found | Failure,
): Promise<void> {
  const { card, step } = claimed
  const now = deps.clock.now()
  const isFailure = outcome.kind !== 'sent' && outcome.kind !== 'found'
  if (!isFailure) await recordSuccess(tx, claimed, outcome, now)
  else await recordFailure(tx, deps, claimed, outcome)
  const attempts = isFailure && outcome.kind !== 'rate-limited' ? card.attempts + 1 : 0
  const plain = card.plain || outcome.kind === 'refused'
  const problem = isFailure ? outcome.code : null
  if (attempts !== card.attempts || plain !== card.plain || problem !== card.problem)
    await tx.setTrouble(card, { attempts, plain, problem })
  const failed = isFailure ? { lane: step.lane, againAt: now + waitMs(deps, card, outcome) } : null
  await relane(tx, deps, card, { underWay: false, failed })
  if (!isFailure && step.lane !== 'look') await tx.reopenChannel(card.channel)
}

async function recordSuccess(
  tx: Tx,
  { step, messageKey, at }: Claimed,
  outcome: Sent | Found,
  now: number,
): Promise<void> {
  switch (step.lane) {
    case 'post': {
      if (outcome.kind !== 'sent') return
      const doubtAt = step.again ? now + LANDING_MAX_MS : null
      return tx.updateMessage(messageKey, { state: 'posted', ts: outcome.ts, writtenAt: now, doubtAt })
    }
    case 'edit': {
      const { recheckAt } = step.message
      const rechecked = recheckAt !== null && recheckAt <= at ? null : recheckAt
      return tx.updateMessage(messageKey, { sending: null, digest: step.digest, recheckAt: rechecked, writtenAt: now })
    }
    case 'look': {
      const ts = outcome.kind === 'found' ? (outcome.ts[0] ?? null) : null
      if (step.message.state === 'posted') return tx.updateMessage(messageKey, { doubtAt: null })
      // Of two that arrived the older one stays, and it may say what was so when it was first posted.
      const digest = outcome.kind === 'found' && outcome.ts.length > 1 ? null : step.message.digest
      // The claim may be a dead process's: from here on it is ours to look after.
      return tx.updateMessage(
        messageKey,
        ts ? { state: 'posted', ts, writtenAt: now, lookedAt: at, digest } : { state: 'unclear', lookedAt: at },
      )
    }
  }
}

async function recordFailure(tx: Tx, deps: ReconcileDeps, claimed: Claimed, failure: Failure): Promise<void> {
  const { step, messageKey, card, cardMessage } = claimed
  const now = deps.clock.now()
  if (failure.kind === 'channel-closed')
    await tx.closeChannel({ channel: card.channel, code: failure.code, at: now, retryAt: now + CHANNEL_AGAIN_MS })
  if (step.lane === 'edit') return recordEditFailure(tx, messageKey, failure, now)
  if (step.lane === 'look') return recordLookFailure(tx, claimed, failure)
  if (failure.kind === 'unclear') return tx.updateMessage(messageKey, { state: 'unclear', lookedAt: null })
  // Nothing arrived: the claim is void. One that was unclear before stays findable under its key.
  if (step.again) await tx.updateMessage(messageKey, { state: 'unclear', lookedAt: now + LANDING_MAX_MS })
  else await tx.deleteMessage(messageKey)
  if (failure.kind === 'message-gone' && cardMessage) await tx.updateMessage(cardMessage.key, { state: 'gone' })
}

// The thread is gone, and what stood in it: whether a reply ever arrived there matters no more.
async function recordLookFailure(tx: Tx, { step, messageKey, cardMessage }: Claimed, failure: Failure): Promise<void> {
  if (failure.kind !== 'message-gone' || step.lane !== 'look' || step.thread === null) return
  if (step.message.state === 'posted') await tx.updateMessage(messageKey, { doubtAt: null })
  else await tx.deleteMessage(messageKey)
  if (cardMessage) await tx.updateMessage(cardMessage.key, { state: 'gone' })
}

async function recordEditFailure(tx: Tx, key: string, failure: Failure, now: number): Promise<void> {
  if (failure.kind === 'unclear')
    return tx.updateMessage(key, { sending: null, digest: null, recheckAt: now + LANDING_MAX_MS })
  if (failure.kind === 'message-gone') return tx.updateMessage(key, { sending: null, state: 'gone' })
  return tx.updateMessage(key, { sending: null })
}

function waitMs({ random }: ReconcileDeps, card: Card, failure: Failure): number {
  if (failure.kind === 'rate-limited') return failure.retryAfterMs
  if (failure.kind === 'message-gone') return 0
  if (failure.kind === 'refused') return card.plain ? REFUSED_AGAIN_MS : 0
  // A closed channel or workspace holds its cards by itself; the card must be ready when it opens.
  if (failure.kind === 'channel-closed' || failure.kind === 'workspace-closed') return 0
  return backoffMs(card.attempts, random())
}

function report(
  { log, count }: ReconcileDeps,
  { card, step, messageKey }: Claimed,
  outcome: Sent | Found | Failure,
): void {
  count({ what: 'call', lane: step.lane, outcome: outcome.kind })
  if (outcome.kind === 'found') count({ what: 'look', found: outcome.ts.length > 0 })
  const slot = step.lane === 'post' ? step.slot : step.message.slot
  const fields = {
    subject: card.subject,
    channel: card.channel,
    lane: step.lane,
    slot,
    message: messageKey,
    outcome: outcome.kind,
  }
  if (outcome.kind === 'sent' || outcome.kind === 'found') return log.info({ ...fields, ts: outcome.ts }, 'told')
  const { code } = outcome
  if (outcome.kind === 'refused' || outcome.kind === 'channel-closed' || outcome.kind === 'workspace-closed')
    log.error({ ...fields, code }, 'Slack refuses; a person has to change something')
  else log.warn({ ...fields, code }, 'not told yet; it will be tried again')
}
