import {
  queuesOf,
  newestOf as newestMessageOf,
  settleDead,
  type Queue,
  type Queues,
  type StoredMessage,
  postedAttemptShown,
  planDigest,
  planNotice,
  planStory,
  replacedCard,
  type PlannedStep,
} from '../../domain/cards/plan.ts'
import { backoffMs, together } from '../../lib/async.ts'
import type { Card, CardDecision, CardKey } from '../../store/records.ts'
import type { Reads, Tx } from '../../store/store.ts'
import type { ReconcileDeps } from '../deps.ts'
import { reminderHolds } from '../../domain/builds/reminder.ts'
import type { StreakChange } from '../../domain/builds/streak.ts'
import { type Author, claimable } from '../../domain/handle.ts'
import { mergeDetails, type BuildEvent } from '../../domain/builds/build-event.ts'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import { DIGEST_LATE_MAX_MS } from '../../domain/rules/digest.ts'
import { noticeView, NOTICE_BUILDS_MAX } from '../../domain/cards/view.ts'
import { foldAttempts, attemptKey, type Attempt } from '../../domain/builds/attempt.ts'
import { parseSubject, revisionSubject } from '../../domain/builds/revision.ts'
import { noteSlot, postedAttemptOf, storyFor, type Story, type StoryContext } from '../../domain/cards/story.ts'
import { judgementsOf } from '../../domain/builds/history.ts'
import { readCapabilities, readRevision, ownershipOn } from '../../store/revision.ts'
import { readOnce } from '../../store/read-once.ts'
import { failuresOf } from '../../store/failures.ts'

/**
 * Reads one card and plans its remaining steps. Null if there is no such card.
 * @param underWay whether this process has a call for the card in flight
 */
export async function readCard(
  reads: Reads,
  deps: ReconcileDeps,
  key: CardKey,
  underWay: boolean,
): Promise<({ card: Card; messages: StoredMessage[] } & CardPlan) | null> {
  const known = readOnce(reads, PREFETCHED)
  // The card first: PostgreSQL runs these in order, so that the rest is read under the card's lock.
  const [card, stored] = await together([reads.card(key), reads.messagesOf(key), prefetch(known, key)])
  if (!card) return null
  const now = deps.clock.now()
  const messages = settleDead(stored, (message) => isDead(deps, message, underWay))
  return { card, messages, ...(await planCard(known, card, messages, { ...deps, now })) }
}

const PREFETCHED = ['requestsOf', 'eventsOfCard', 'decisionsOf', 'judgements'] as const

/** Reads what nearly every card needs, all at once, because each wait for PostgreSQL delays the message. */
async function prefetch(reads: Reads, { subject: name, channel }: CardKey): Promise<void> {
  const subject = parseSubject(name)
  if (subject.kind !== 'revision') return
  const { revisionKey, cardNumber } = subject
  await together([
    reads.requestsOf(revisionKey),
    reads.eventsOfCard(revisionKey, cardNumber),
    reads.decisionsOf({ subject: name, channel }),
    reads.judgements(revisionKey, cardNumber),
  ])
}

/**
 * Replans one card, and stores in its queues when its next steps are due.
 * @param failed the queue of a failed step, and when that may be retried (ms)
 */
export async function requeue(
  tx: Tx,
  deps: ReconcileDeps,
  key: CardKey,
  { underWay, failed = null }: { underWay: boolean; failed?: { queue: Queue; againAt: number } | null },
): Promise<void> {
  const read = await readCard(tx, deps, key, underWay)
  if (!read) return
  const planned = queuesOf(read.steps)
  // A failed edit or look must not delay a reply that people wait for, and a failed post must not delay the edit. A
  // failed post does delay the look, which may be for the message that it posted.
  const held = (queue: Queue): Due =>
    failed && (queue === failed.queue || (queue === 'look' && failed.queue === 'post'))
      ? delay(planned[queue], failed.againAt)
      : planned[queue]
  const look = earlier(held('look'), safetyNet(read.messages))
  await tx.setQueues(key, { post: held('post'), edit: held('edit'), look })
}

/** Queues a card's other steps while one is claimed. The look queue keeps the card due, in case this process dies. */
export async function queueRest(
  tx: Tx,
  key: CardKey,
  { steps, claimedAt }: { steps: readonly PlannedStep[]; claimedAt: number },
): Promise<void> {
  const { post, edit, look } = queuesOf(steps)
  await tx.setQueues(key, { post, edit, look: earlier(look, { at: claimedAt, priority: 0 }) })
}

/** Postpones a card with backoff. Reads only its row, because the rest may be unreadable. */
export async function postponeCard(tx: Tx, { clock, random }: ReconcileDeps, key: CardKey): Promise<void> {
  const card = await tx.card(key)
  if (!card) return
  const at = clock.now() + backoffMs(card.tries, random(), { baseMs: REPLAN_AGAIN_MS, maxMs: REPLAN_AGAIN_MAX_MS })
  const { post, edit, look } = card.queues
  await tx.setQueues(key, { post: delay(post, at), edit: delay(edit, at), look: delay(look, at) })
  await tx.setRetryState(key, { ...card, tries: card.tries + 1 })
}

/**
 * A card that cannot be planned is a bug in Buildline. It is retried with growing delays and does not hold up others.
 */
const REPLAN_AGAIN_MS = 5_000
const REPLAN_AGAIN_MAX_MS = 10 * 60_000

type Due = Queues[keyof Queues]

const delay = (queue: Due, notBefore: number): Due => queue && { ...queue, at: Math.max(queue.at, notBefore) }

const earlier = (a: Due, b: Due): Due =>
  a && b ? { at: Math.min(a.at, b.at), priority: Math.min(a.priority, b.priority) } : (a ?? b)

// If the process dies with a call in flight, the next one finds the card by this entry in the look queue.
function safetyNet(messages: readonly StoredMessage[]): Due {
  const underWay = messages.filter(({ state, sending }) => state === 'claimed' || sending !== null)
  if (underWay.length === 0) return null
  const since = Math.max(...underWay.map(({ claimedAt, sendingAt }) => Math.max(claimedAt, sendingAt ?? 0)))
  return { at: since, priority: 0 }
}

// One process sends at a time, so claims of other terms are orphaned.
const isDead = ({ term }: ReconcileDeps, { claimedBy }: StoredMessage, underWay: boolean): boolean =>
  claimedBy !== term.id || !underWay

interface CardPlan {
  steps: PlannedStep[]
  /** the attempt whose end a card would show if posted now */
  postedAttempt: string | null
  /** when the newest build event or report was received (ms), to measure the lag of the next message */
  receivedAt: number
  /** `seq` of the newest build event: in the log, it links a message to its delivery */
  buildEvent: number
}

/** Reads everything about one card and plans its steps; none if Slack already shows everything. */
async function planCard(
  reads: Reads,
  card: Card,
  messages: readonly StoredMessage[],
  { now, configured, addresses }: Pick<ReconcileDeps, 'configured' | 'addresses'> & { now: number },
): Promise<CardPlan> {
  const subject = parseSubject(card.subject)
  if (subject.kind === 'notice') return planDay(reads, subject.day, card.channel, messages, now)
  if (subject.kind === 'digest') return planPeriod(reads, subject.period, card.channel, messages, now)
  const [{ buildEvents, attempts, requests }, decisions] = await together([
    readRevision(reads, subject.revisionKey, subject.cardNumber),
    reads.decisionsOf({ subject: card.subject, channel: card.channel }),
  ])
  if (attempts.length === 0) return NOTHING
  const newest = attempts.at(-1)!
  // Also if a later event corrected that: the branch may be red since then.
  const hasFailed = buildEvents.some(({ status }) => status === 'failed')
  const postedAttempt = postedAttemptShown(messages)
  // All at once, because each wait for PostgreSQL delays the message.
  const [all, { failures, reportedAt }, judgements, people, before, capabilities, ownership] = await together([
    hasFailed ? reads.streakChangesOf(card.subject) : [],
    failuresOf(reads, attempts, card.details),
    judgementsOf(reads, attempts),
    card.mention ? committers(reads, attempts, addresses) : NOBODY,
    cardBefore(reads, subject, card.channel),
    readCapabilities(reads, newest, { attempts, requests }, configured),
    // A CI machine error needs no owner.
    newest.status === 'failed' ? ownershipOn(reads, newest, card, now) : null,
  ])
  const changes = all.filter(({ channel }) => channel === null || channel === card.channel)
  const story = storyFor({
    attempts,
    judgements,
    failures,
    isAnnounced: announcedBy(decisions.filter(({ verdict }) => verdict === 'post')),
    isLoud: announcedBy(decisions.filter(({ loud }) => loud)),
    postedAttempt: postedAttempt === undefined ? postedAttemptOf(attempts) : postedAttempt,
    quiet: card.quiet,
    ...people,
    replaces: replacedCard(messages) ?? before,
    requests,
    capabilities,
    ownership,
    changes,
    reminders: await remindersOf(reads, changes, { channel: card.channel, messages, now }),
  })
  return {
    steps: planStory(withoutSecondMention(story, attempts, messages), messages, now),
    postedAttempt: postedAttemptOf(attempts),
    ...newestOf(buildEvents, reportedAt),
  }
}

/** The channel's reminders that are posted or still true. One that was overtaken while it waited is not posted. */
async function remindersOf(
  reads: Reads,
  changes: readonly StreakChange[],
  { channel, messages, now }: { channel: ChannelId; messages: readonly StoredMessage[]; now: number },
): Promise<StoryContext['reminders']> {
  const reminders = new Map<string, { forMs: number; builds: number }>()
  for (const change of changes.filter((one) => one.kind === 'reminded' && one.channel === channel)) {
    const streak = await reads.streak(change.streakId)
    const message = newestMessageOf(noteSlot(change), messages)
    if (!streak || (message?.state !== 'posted' && !reminderHolds(change, streak))) continue
    const at = message?.claimedAt ?? now
    reminders.set(change.id, { forMs: Math.max(0, at - streak.beganAt), builds: streak.builds })
  }
  return reminders
}

/** The revision's card before this one, if it is posted: this one links to it. */
async function cardBefore(
  reads: Reads,
  { revisionKey, cardNumber }: { revisionKey: string; cardNumber: number },
  channel: ChannelId,
): Promise<MessageTs | null> {
  if (cardNumber === 1) return null
  return reads.postedCard({ subject: revisionSubject(revisionKey, cardNumber - 1), channel })
}

// If a deleted card showed this same result when posted, it mentioned the committer: do not mention them again.
function withoutSecondMention(story: Story, attempts: readonly Attempt[], messages: readonly StoredMessage[]): Story {
  const hasMentioned = messages.some(
    ({ slot, state, postedAttempt }) =>
      slot === 'card' && state === 'gone' && postedAttempt === attemptKey(attempts.at(-1)!),
  )
  return hasMentioned ? { ...story, card: { ...story.card, mention: null, proposed: null } } : story
}

const NOTHING: CardPlan = { steps: [], postedAttempt: null, receivedAt: 0, buildEvent: 0 }

const newestOf = (buildEvents: readonly BuildEvent[], reportedAt = 0): Pick<CardPlan, 'receivedAt' | 'buildEvent'> => ({
  receivedAt: Math.max(reportedAt, ...buildEvents.map(({ at }) => at)),
  buildEvent: Math.max(...buildEvents.map(({ seq }) => seq)),
})

const announcedBy = (decisions: readonly CardDecision[]) => {
  const announced = new Set(decisions.map(({ eventSeq }) => eventSeq))
  return (attempt: Attempt): boolean => attempt.finalSeq !== null && announced.has(attempt.finalSeq)
}

type Committers = Pick<StoryContext, 'mentionOf' | 'isUnclaimed' | 'proposed'>

const NOBODY: Committers = { mentionOf: () => null, isUnclaimed: () => false, proposed: null }

async function committers(
  reads: Reads,
  attempts: readonly Attempt[],
  addresses: ReconcileDeps['addresses'],
): Promise<Committers> {
  const people = new Map<string, string>()
  const unclaimed = new Set<string>()
  // Only a failure and a warning mention anybody.
  const hasFailed = attempts.some(({ status }) => status === 'failed')
  const named = attempts.flatMap(({ details }) => [hasFailed ? details.committer : null, details.startedBy])
  for (const handle of new Set(named.filter((name) => name !== null))) {
    const person = await reads.personOf(handle)
    if (person !== null) people.set(handle, person)
    else if (claimable(handle).kind === 'ok' && !(await reads.isClaimed(handle))) unclaimed.add(handle)
  }
  for (const user of new Set(attempts.flatMap(({ details }) => details.requestedBy ?? [])))
    if (await reads.mentionsOf(user)) people.set(user, user)
  return {
    mentionOf: (person) => (person === null ? null : (people.get(person) ?? null)),
    isUnclaimed: (committer) => committer !== null && unclaimed.has(committer),
    // Attempts of one commit have one author.
    proposed: unclaimed.size === 0 ? null : await personBehind(reads, mergeDetails(attempts).author, addresses),
  }
}

/** The person with the author's address, if Slack has found one; else with the login. Null: they want no mentions. */
async function personBehind(reads: Reads, author: Author | null, addresses: ReconcileDeps['addresses']) {
  if (author === null) return null
  const user = author.email === null ? null : (addresses?.known(author.email) ?? null)
  if (user !== null) return (await reads.mentionsOf(user)) ? user : null
  return author.login === null ? null : reads.personOf(author.login)
}

async function planDay(
  reads: Reads,
  day: string,
  channel: ChannelId,
  messages: readonly StoredMessage[],
  now: number,
): Promise<CardPlan> {
  const { buildEvents, counts } = await reads.noticeEvents(day, channel, NOTICE_BUILDS_MAX)
  if (buildEvents.length === 0) return NOTHING
  const attempts = buildEvents.map((buildEvent) => foldAttempts([buildEvent])[0]!)
  return {
    steps: planNotice(noticeView(day, attempts, counts), messages, now),
    postedAttempt: null,
    ...newestOf(buildEvents),
  }
}

// A digest is not sent if it was turned off, or if its channel was closed for too long.
async function planPeriod(
  reads: Reads,
  period: string,
  channel: ChannelId,
  messages: readonly StoredMessage[],
  now: number,
): Promise<CardPlan> {
  const planned = (await reads.digest(channel))?.last
  if (planned?.period !== period) return NOTHING
  if (messages.length === 0 && now > planned.dueAt + DIGEST_LATE_MAX_MS) return NOTHING
  return { ...NOTHING, steps: planDigest(planned.view, messages, now), receivedAt: planned.plannedAt }
}
