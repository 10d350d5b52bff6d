import { boundForOneEvent, decide, type Decision, type Known } from '../../domain/rules/decide.ts'
import type { BuildEvent } from '../../domain/builds/build-event.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { effectsBySeq, revisionSubject } from '../../domain/builds/revision.ts'
import { noticeDay } from '../../domain/cards/view.ts'
import { credible, restartRequests, type Request } from '../../domain/cards/request.ts'
import { foldAttempts, type Attempt } from '../../domain/builds/attempt.ts'
import type { Change } from '../../domain/rules/rule.ts'
import { together } from '../../lib/async.ts'
import { shownInstead } from '../../projects/followers.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import { judgementsOf, prefetchHistory } from '../../domain/builds/history.ts'
import type { StoredDecision } from '../../store/records.ts'
import type { Tx } from '../../store/store.ts'

export interface CardOfRevision {
  revisionKey: string
  cardNumber: number
}

/**
 * Reads what `decideCard` and its caller will need, all at once, because each wait for PostgreSQL delays the message.
 * @param tx caches these reads
 */
export async function prefetch(
  tx: Tx,
  { revisionKey, cardNumber, known, placed }: CardOfRevision & { known: Known; placed: readonly BuildEvent[] },
): Promise<void> {
  const subject = revisionSubject(revisionKey, cardNumber)
  const channels = new Set(boundForOneEvent(known).subscriptions.map(({ channel }) => channel))
  await together([
    tx.eventsOfCard(revisionKey, cardNumber),
    tx.judgements(revisionKey, cardNumber),
    tx.cardsOf(subject),
    ...[...channels].map((channel) => tx.decisionsOf({ subject, channel })),
    ...placed
      .filter((one) => one.isOutcome && one.cardNumber === cardNumber)
      .flatMap((one) => prefetchHistory(tx, one)),
  ])
}

/** Decides for each event and channel what to send, and again if what the event did to its branch is judged otherwise. */
export async function decideCard(
  tx: Tx,
  {
    revisionKey,
    cardNumber,
    known,
    requests,
    now,
  }: CardOfRevision & { known: Known; requests: readonly Request[]; now: number },
): Promise<{ attempts: Attempt[]; decisions: StoredDecision[] }> {
  const buildEvents = credible(await tx.eventsOfCard(revisionKey, cardNumber), requests)
  const restarts = restartRequests(requests)
  const attempts = foldAttempts(buildEvents, restarts)
  const effects = effectsBySeq(buildEvents, restarts)
  const subject = revisionSubject(revisionKey, cardNumber)
  const made: StoredDecision[] = []
  const bound = boundForOneEvent(known)
  const followers = [...byChannel(bound.subscriptions)]
  const [judgements, storedOf, shownOf] = await together([
    judgementsOf(tx, attempts, (seq, judgement) => tx.saveJudgement(seq, judgement)),
    together(followers.map(([channel]) => tx.decisionsOf({ subject, channel }))),
    together(followers.map(([, subscriptions]) => shownInstead(tx, subject, subscriptions, buildEvents))),
  ])
  for (const [i, [channel, subscriptions]] of followers.entries()) {
    const stored = new Map(storedOf[i]!.map((decision) => [decision.eventSeq, decision]))
    let hasCard = [...stored.values()].some(opensCard)
    for (const buildEvent of buildEvents) {
      const change = judgements.get(buildEvent.seq)?.change ?? null
      const before = stored.get(buildEvent.seq)
      if (before ? before.change === change : shownOf[i]!.has(buildEvent.seq)) continue
      const effect = buildEvent.origin === 'history' ? buildEvent.origin : effects.get(buildEvent.seq)!
      const question = { branch: buildEvent.branch, status: buildEvent.status, effect, change, hasCard }
      const decision = decide(question, subscriptions, bound.rules)
      const day = decision.reason === 'account-notice' ? noticeDay(buildEvent.at) : null
      made.push(toStored(decision, { buildEvent, channel, subject, change, day, now }))
      hasCard ||= opensCard(made.at(-1)!)
    }
  }
  for (const decision of made) await tx.saveDecision(decision)
  return { attempts, decisions: made }
}

interface DecisionContext {
  buildEvent: BuildEvent
  channel: ChannelId
  subject: string
  change: Change | null
  day: string | null
  now: number
}

const toStored = (
  decision: Decision,
  { buildEvent, channel, subject, change, day, now }: DecisionContext,
): StoredDecision => ({
  ...decision,
  eventSeq: buildEvent.seq,
  channel,
  subject,
  change,
  noticeDay: day,
  decidedAt: now,
})

/** Account problems have their own notice: they never open a card, only update an existing one. */
export const opensCard = ({ verdict, reason }: Pick<Decision, 'verdict' | 'reason'>): boolean =>
  verdict === 'post' && reason !== 'account-notice'

const byChannel = (subscriptions: readonly Subscription[]) => Map.groupBy(subscriptions, ({ channel }) => channel)
