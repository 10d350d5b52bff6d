import { GENERATIONS_MAX, LANDING_MAX_MS, type Step, type StoredMessage } from '../../domain/cards/plan.ts'
import { backoffMs } from '../../lib/async.ts'
import type { Copy, Failure, SearchResult, Sent } from '../../slack/notifier.ts'
import type { Card } from '../../store/records.ts'
import type { Tx } from '../../store/store.ts'
import type { ReconcileDeps } from '../deps.ts'
import { requeue } from '../plan-card/planner.ts'

/** Retry interval in a channel without threads: somebody may allow them at any time. */
const THREAD_AGAIN_MS = 60 * 60_000

/** Retry interval for a look without the scope: somebody may grant it at any time. Until then the card may be stale. */
const LOOK_REFUSED_AGAIN = { baseMs: 5_000, maxMs: 4 * 60_000 }

/** Retry interval for a closed channel: somebody may have invited the bot or unarchived the channel. */
export const CHANNEL_AGAIN_MS = 10 * 60_000

/** A claimed step, with the data to record its outcome. */
export interface ClaimedStep {
  card: Card
  step: Step
  priority: number
  /** when it was claimed (ms): the call came after this */
  at: number
  /** when the newest build event that it shows was received (ms) */
  receivedAt: number
  /** the newest build event that it shows */
  buildEvent: number
  messageKey: string
  /** the attempt whose end the message showed when posted, or shows if this step posts it; stored in the message too */
  postedAttempt: string | null
  /** the posted card, in case a reply finds that it is gone */
  cardMessage: StoredMessage | undefined
}

/** Records how a step ended and replans the card. A failure delays its own queue; a failed post also the look. */
export async function recordEnd(
  tx: Tx,
  deps: ReconcileDeps,
  claimed: ClaimedStep,
  outcome: Sent | SearchResult | Failure,
): Promise<void> {
  const { card, step } = claimed
  const now = deps.clock.now()
  const isFailure = outcome.kind !== 'sent' && outcome.kind !== 'found'
  if (!isFailure) await recordSuccess(tx, claimed, outcome, now)
  else await recordFailure(tx, deps, claimed, outcome)
  const tries = triesAfter(card, outcome)
  const plain = isRefusedAgain(card, step, outcome) ? !card.plain : card.plain
  const problem = isFailure ? outcome.code : null
  if (tries !== card.tries || plain !== card.plain || problem !== card.problem)
    await tx.setRetryState(card, { tries, plain, problem })
  const failed = isFailure ? { queue: step.queue, againAt: now + waitMs(deps, card, step, outcome) } : null
  await requeue(tx, deps, card, { underWay: false, failed })
  if (!isFailure && step.queue !== 'look') await tx.reopenChannel(card.channel)
}

// Plain text has no buttons, so it is used only if Slack refuses the blocks twice with the same code: a single refusal
// may come from a proxy in between. If Slack refuses the text too, the blocks are not the reason.
const isRefusedAgain = (card: Card, step: Step, outcome: Sent | SearchResult | Failure): boolean =>
  outcome.kind === 'refused' && step.queue !== 'look' && outcome.code === card.problem && !mayShowPicture(card, step)

/** Slack refuses a message with a picture until the upload is processed. After these tries, about 30 s, text is sent. */
const PICTURE_TRIES_MAX = 6

const mayShowPicture = ({ tries }: Card, step: Step): boolean =>
  step.queue !== 'look' && step.view.kind === 'digest' && !!step.view.picture && tries < PICTURE_TRIES_MAX

// A look that finds nothing does not reset the count: a post that fails after each look must still back off.
function triesAfter({ tries }: Card, outcome: Sent | SearchResult | Failure): number {
  if (outcome.kind === 'found' && outcome.copies.length === 0) return tries
  const isTrouble = outcome.kind !== 'sent' && outcome.kind !== 'found' && outcome.kind !== 'rate-limited'
  return isTrouble ? tries + 1 : 0
}

async function recordSuccess(
  tx: Tx,
  { step, messageKey, at }: ClaimedStep,
  outcome: Sent | SearchResult,
  now: number,
): Promise<void> {
  switch (step.queue) {
    case 'post': {
      if (outcome.kind !== 'sent') return
      const { digest, again } = step
      const doubtAt = again ? now + LANDING_MAX_MS : null
      return tx.updateMessage(messageKey, { state: 'posted', ts: outcome.ts, writtenAt: now, digest, doubtAt })
    }
    case 'edit': {
      const { recheckAt } = step.message
      const rechecked = recheckAt !== null && recheckAt <= at ? null : recheckAt
      return tx.updateMessage(messageKey, { sending: null, digest: step.digest, recheckAt: rechecked, writtenAt: now })
    }
    case 'look': {
      const copy = outcome.kind === 'found' ? outcome.copies[0] : undefined
      if (step.message.state === 'posted') return tx.updateMessage(messageKey, afterDoubt(step.message, copy, at))
      // A dead process may have left it as `claimed`, so the state is stored even if nothing was found.
      return tx.updateMessage(
        messageKey,
        copy
          ? { state: 'posted', writtenAt: now, lookedAt: at, ...shownBy(step.message, copy) }
          : { state: 'unclear', lookedAt: at },
      )
    }
  }
}

/**
 * Records a call that ended after its term. The next holder may have looked for it before it arrived. So a late message
 * must not stay as a duplicate, and a late edit must not leave an older state over a newer one.
 */
export async function recordLate(
  tx: Tx,
  deps: ReconcileDeps,
  { card, step, messageKey, postedAttempt }: ClaimedStep,
  outcome: Sent | SearchResult | Failure,
): Promise<void> {
  const { clock, log } = deps
  const { subject, channel } = card
  log.warn({ subject, channel, queue: step.queue, outcome: outcome.kind }, 'a call ended after the lease was lost')
  // Locks the card.
  await tx.card(card)
  const message = (await tx.messagesOf(card)).find(({ key }) => key === messageKey)
  const mayHaveArrived = outcome.kind === 'sent' || outcome.kind === 'unclear'
  if (!message || !mayHaveArrived || step.queue === 'look') return
  // Slack's history may not show it yet.
  const doubtAt = clock.now() + LANDING_MAX_MS
  if (step.queue === 'edit') await tx.updateMessage(messageKey, { digest: null })
  else if (message.state === 'posted') await tx.updateMessage(messageKey, { doubtAt })
  else if (message.state === 'unclear' && outcome.kind === 'sent')
    await tx.updateMessage(messageKey, { state: 'posted', ts: outcome.ts, postedAttempt, doubtAt })
  await requeue(tx, deps, card, { underWay: false })
}

type MessageChange = Parameters<Tx['updateMessage']>[1]

function afterDoubt(message: StoredMessage, copy: Copy | undefined, at: number): MessageChange {
  if (!copy || copy.ts === message.ts) return { doubtAt: null }
  // Only another copy was found. History may not show the recorded one yet.
  if (at < message.claimedAt + 2 * LANDING_MAX_MS) return { doubtAt: at + LANDING_MAX_MS }
  return { doubtAt: null, ...shownBy(message, copy) }
}

// A message that was posted more than once may show the state of any of these posts, so its digest is unknown. The copy
// itself tells which attempt it showed when posted.
const shownBy = (message: StoredMessage, { ts, postedAttempt = message.postedAttempt }: Copy): MessageChange => ({
  ts,
  postedAttempt,
  digest: message.doubtAt === null ? message.digest : null,
})

async function recordFailure(tx: Tx, deps: ReconcileDeps, claimed: ClaimedStep, failure: Failure): Promise<void> {
  const { step, messageKey, card, cardMessage } = claimed
  const now = deps.clock.now()
  if (failure.kind === 'channel-closed')
    await tx.closeChannel({ channel: card.channel, code: failure.code, at: now, retryAt: now + CHANNEL_AGAIN_MS })
  if (step.queue === 'edit') return recordEditFailure(tx, step, failure, now)
  if (step.queue === 'look') return recordLookUpFailure(tx, claimed, failure)
  if (failure.kind === 'unclear') return tx.updateMessage(messageKey, { state: 'unclear', lookedAt: null })
  // Nothing arrived, so the claim is undone. A message that was unclear before becomes unclear again.
  if (step.again) await tx.updateMessage(messageKey, beforeClaim(step.again))
  else await tx.deleteMessage(messageKey)
  if (failure.kind === 'message-gone' && cardMessage) await tx.updateMessage(cardMessage.key, { state: 'gone' })
}

const beforeClaim = ({ claimedAt, lookedAt, digest, doubtAt, postedAttempt }: StoredMessage): MessageChange => ({
  state: 'unclear',
  claimedAt,
  lookedAt,
  digest,
  doubtAt,
  postedAttempt,
})

// The thread is gone with its replies, so it no longer matters whether a reply arrived there.
async function recordLookUpFailure(
  tx: Tx,
  { step, messageKey, cardMessage }: ClaimedStep,
  failure: Failure,
): Promise<void> {
  if (failure.kind !== 'message-gone' || step.queue !== 'look' || step.thread === null) return
  if (step.message.state === 'posted') await tx.updateMessage(messageKey, { doubtAt: null })
  else await tx.deleteMessage(messageKey)
  // Otherwise it was the thread of an earlier card that is known to be gone.
  if (cardMessage?.ts === step.thread) await tx.updateMessage(cardMessage.key, { state: 'gone' })
}

/** Slack's error codes for a message that still exists but can no longer be edited. */
const NOT_EDITABLE: ReadonlySet<string> = new Set(['edit_window_closed', 'cant_update_message'])

async function recordEditFailure(
  tx: Tx,
  { message: { key, generation }, digest }: Extract<Step, { queue: 'edit' }>,
  { kind, code }: Failure,
  now: number,
): Promise<void> {
  if (kind === 'unclear') return tx.updateMessage(key, { sending: null, digest: null, recheckAt: now + LANDING_MAX_MS })
  if (kind !== 'message-gone') return tx.updateMessage(key, { sending: null })
  // The last generation is not posted again: its message stays unchanged, and its thread continues.
  if (generation === GENERATIONS_MAX && NOT_EDITABLE.has(code))
    return tx.updateMessage(key, { sending: null, digest, recheckAt: null })
  return tx.updateMessage(key, { sending: null, state: 'gone' })
}

function waitMs({ random }: ReconcileDeps, card: Card, step: Step, failure: Failure): number {
  if (failure.kind === 'rate-limited') return failure.retryAfterMs
  if (failure.kind === 'message-gone') return 0
  if (failure.kind === 'thread-closed') return THREAD_AGAIN_MS
  if (failure.kind === 'refused' && step.queue === 'look') return backoffMs(card.tries, random(), LOOK_REFUSED_AGAIN)
  if (!card.plain && isRefusedAgain(card, step, failure)) return 0
  // The sender skips closed channels and workspaces; the card must be due as soon as one opens.
  if (failure.kind === 'channel-closed' || failure.kind === 'workspace-closed') return 0
  return backoffMs(card.tries, random())
}

export function reportEnd(
  { log, count, clock }: ReconcileDeps,
  { card, step, priority, receivedAt, buildEvent, messageKey }: ClaimedStep,
  outcome: Sent | SearchResult | Failure,
): void {
  count({ what: 'call', queue: step.queue, outcome: outcome.kind })
  if (outcome.kind === 'sent' && isNews(step)) count({ what: 'lag', ms: clock.now() - receivedAt, priority })
  const slot = step.queue === 'post' ? step.slot : step.message.slot
  const fields = {
    buildEvent,
    subject: card.subject,
    channel: card.channel,
    queue: step.queue,
    slot,
    message: messageKey,
    outcome: outcome.kind,
  }
  if (outcome.kind === 'sent') return log.info({ ...fields, ts: outcome.ts }, 'sent')
  if (outcome.kind === 'found') return log.info({ ...fields, ts: outcome.copies.map(({ ts }) => ts) }, 'looked up')
  const { code } = outcome
  // It is refused every minute until somebody fixes the cause: only the first time is logged as an error.
  const isKnown = card.problem === code
  if (!FOR_A_PERSON.has(outcome.kind) || isKnown || mayShowPicture(card, step))
    return log.warn({ ...fields, code }, 'not sent yet; it will be tried again')
  const lacksScope = step.queue === 'look' && outcome.kind === 'refused' && code === 'missing_scope'
  log.error(
    { ...fields, code },
    lacksScope ? HISTORY_UNREAD : 'Slack refuses this call; someone must fix this (see `code`)',
  )
}

const HISTORY_UNREAD =
  'Slack does not let Buildline look for a message that may have arrived: grant channels:history and groups:history'

const FOR_A_PERSON: ReadonlySet<Failure['kind']> = new Set([
  'refused',
  'thread-closed',
  'channel-closed',
  'workspace-closed',
])

// A post or edit that is only repeated to be sure is not news, and has no lag.
const isNews = (step: Step): boolean =>
  step.queue === 'post'
    ? step.again === null
    : step.queue === 'edit' && step.message.digest !== null && step.message.digest !== step.digest
