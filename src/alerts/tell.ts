import { LANDING_MAX_MS, type Lane, type Step } from '../domain/plan.ts'
import type { Failure, Found, Sent } from '../slack/notifier.ts'
import type { Card, CardKey } from '../store/kept.ts'
import { claimStep } from './claim.ts'
import type { ReconcileDeps } from './deps.ts'
import { recordEnd, recordLate, reportEnd, type Claimed } from './outcome.ts'

/** The history is searched from a little before the claim, for clocks that differ. */
const CLOCKS_DIFFER_MS = 60_000

/** How one step ended; `nothing`: there was none left to take. `lost`: not made, since this process no longer sends. */
export type Told =
  | { kind: 'nothing' | 'lost' }
  | { kind: 'done'; step: Step; sentAt: number; outcome: Sent | Found | Failure }

/**
 * Takes at most one step for a card in one lane: plans afresh, records the claim, makes the call, records its end.
 * Whatever dies on the way leaves a card that is found and planned again.
 */
export async function tellNext(deps: ReconcileDeps, key: CardKey, lane: Lane): Promise<Told> {
  const { store, clock, term } = deps
  const claimed = await store.write(async (tx) => ((await term.holds(tx)) ? claimStep(tx, deps, key, lane) : 'lost'))
  if (claimed === 'lost') return { kind: 'lost' }
  if (!claimed) return { kind: 'nothing' }
  const sentAt = clock.now()
  // The last thing before the call: the process may have slept since the claim.
  const isLost = !term.isValid()
  const outcome = isLost ? LOST : await take(deps, claimed)
  await store.write(async (tx) =>
    (await term.holds(tx)) ? recordEnd(tx, deps, claimed, outcome) : recordLate(tx, deps, claimed, outcome),
  )
  if (isLost) return { kind: 'lost' }
  reportEnd(deps, claimed, outcome)
  return { kind: 'done', step: claimed.step, sentAt, outcome }
}

const LOST = { kind: 'unsent', code: 'lease_lost' } as const

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
