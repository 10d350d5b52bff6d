import { LANDING_MAX_MS, type Lane, type Step } from '../domain/plan.ts'
import type { Failure, Found, Sent } from '../slack/notifier.ts'
import type { Card, CardKey } from '../store/kept.ts'
import { claimStep, type Busy } from './claim.ts'
import type { ReconcileDeps } from './deps.ts'
import { recordEnd, reportEnd, type Claimed } from './outcome.ts'
import type { Pass } from './presence.ts'
import { AGAIN_MS, claimShared, endShared, type Turn } from './shared.ts'

/** The history is searched from a little before the claim, for clocks that differ. */
const CLOCKS_DIFFER_MS = 60_000

/**
 * How one step ended; `nothing`: there was none left to take. `busy`: it is another process's turn, for about so long.
 * `overtaken`: claimed, and not made, since others may have taken it over by then.
 */
export type Told =
  | { kind: 'nothing' | 'overtaken' }
  | Busy
  | { kind: 'done'; step: Step; sentAt: number; outcome: Sent | Found | Failure }

/**
 * Takes at most one step for a card in one lane: plans afresh, records the claim, makes the call, records its end.
 * Whatever dies on the way leaves a card that is found and planned again.
 */
export async function tellNext(deps: ReconcileDeps, key: CardKey, lane: Lane): Promise<Told> {
  const { presence, processId } = deps
  if (!presence) return tellClaimed(deps, await deps.store.write((tx) => claimStep(tx, deps, key, lane)), null)
  const pass = presence.pass()
  // Nothing would be sent: to claim and give back, over and over until the database is told again, would only keep it busy.
  if (!pass.isValid()) return { kind: 'busy', forMs: AGAIN_MS }
  const turn = { call: deps.newKey(), by: processId }
  return tellClaimed(deps, await deps.store.write((tx) => claimShared(tx, deps, { key, lane, turn })), { pass, turn })
}

async function tellClaimed(
  deps: ReconcileDeps,
  claimed: Claimed | Busy | null,
  shared: { pass: Pass; turn: Turn } | null,
): Promise<Told> {
  if (!claimed) return { kind: 'nothing' }
  if ('kind' in claimed) return claimed
  const sentAt = deps.clock.now()
  // The last thing before the call: whoever slept since the claim may not know that others have gone on.
  const isOvertaken = shared !== null && !shared.pass.isValid()
  const outcome = isOvertaken ? OVERTAKEN : await take(deps, claimed)
  if (shared) await endShared(deps, claimed, { turn: shared.turn, outcome, sentAt: isOvertaken ? null : sentAt })
  else await deps.store.write((tx) => recordEnd(tx, deps, claimed, outcome))
  if (isOvertaken) return { kind: 'overtaken' }
  reportEnd(deps, claimed, outcome)
  return { kind: 'done', step: claimed.step, sentAt, outcome }
}

const OVERTAKEN = { kind: 'unsent', code: 'overtaken' } as const

async function take(
  { notifier }: ReconcileDeps,
  { card, step, messageKey, bornRun }: Claimed,
): Promise<Sent | Found | Failure> {
  const { channel, plain } = card
  switch (step.lane) {
    case 'post':
      return notifier.post({ channel, view: step.view, key: messageKey, bornRun, thread: step.thread, plain })
    case 'edit':
      return notifier.edit({ channel, ts: step.message.ts!, view: step.view, key: messageKey, bornRun, plain })
    case 'look':
      return look(notifier, card, step)
  }
}

// Where a message of ours turns up twice, the one that stands stays and comes first; the others are taken back. Of what
// was only claimed, the newest stays, which called whom there was to call.
async function look(
  notifier: ReconcileDeps['notifier'],
  { channel }: Card,
  { message, thread }: Extract<Step, { lane: 'look' }>,
): Promise<Found | Failure> {
  const sinceMs = message.claimedAt - CLOCKS_DIFFER_MS - (message.doubtAt === null ? 0 : LANDING_MAX_MS * 3)
  const untilMs = (message.doubtAt ?? message.claimedAt) + LANDING_MAX_MS + CLOCKS_DIFFER_MS
  const found = await notifier.find({ channel, thread, key: message.key, sinceMs, untilMs })
  if (found.kind !== 'found') return found
  const kept = found.copies.find(({ ts }) => ts === message.ts) ?? found.copies.at(-1)
  const others = found.copies.filter((copy) => copy !== kept)
  for (const { ts } of others) {
    const removed = await notifier.remove({ channel, ts })
    // What cannot be taken back stays: to ask again would not help.
    if (removed.kind !== 'sent' && removed.kind !== 'message-gone') return removed
  }
  return { kind: 'found', copies: kept === undefined ? [] : [kept, ...others] }
}
