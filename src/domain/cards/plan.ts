import { hash } from 'node:crypto'
import type { Details } from '../builds/failure.ts'
import { changesAt } from '../builds/streak.ts'
import type { ChannelId, MessageTs } from '../ids.ts'
import type { Story } from './story.ts'
import type { CardView, DigestView, NoticeView, ReplyView, Shown, View } from './view.ts'

// Plans the steps from what Slack shows to what it should show. Pure: takes no step itself.

/**
 * A call with an unclear outcome can still arrive, and Slack's history shows a message late. So the bot looks for the
 * message at once, but posts it again only if a look that was made this long after the claim found nothing.
 */
export const LANDING_MAX_MS = 20_000

/** How long an unsuccessful look counts. History may show the message later, and no later look goes that far back. */
const LOOK_COUNTS_MS = 60_000

/** A deleted card is posted again once. If that one is deleted too, people want it gone. */
export const GENERATIONS_MAX = 2

/** The least time between two edits of a notice, so that one edit shows several builds. */
export const NOTICE_GAP_MS = 5_000

/** Slack limits posts per channel, and edits and look-ups per workspace, so there are three queues. */
export type Queue = 'post' | 'edit' | 'look'
export const QUEUES: readonly Queue[] = ['post', 'edit', 'look']

/** When a card's next step in each queue is due (ms), and how urgent it is (0 first); null: there is no step. */
export type Queues = Record<Queue, { at: number; priority: number } | null>

export const NO_QUEUES: Queues = { post: null, edit: null, look: null }

export interface CardState {
  subject: string
  channel: ChannelId
  quiet: boolean
  mention: boolean
  /** left out: `lines` */
  details?: Details
}

/**
 * One message of the bot, as recorded. `claimed`: a post is in flight. `unclear`: it may or may not have arrived.
 * `posted`: it is at `ts` and shows `digest` (null: not known what). `gone`: deleted, or no longer editable.
 */
export interface StoredMessage {
  key: string
  slot: string
  generation: number
  state: 'claimed' | 'unclear' | 'posted' | 'gone'
  claimedAt: number
  claimedBy: string
  lookedAt: number | null
  ts: MessageTs | null
  digest: string | null
  sending: string | null
  sendingAt: number | null
  /** edit again at this time: until then, an earlier call with an unclear outcome can still overwrite the message */
  recheckAt: number | null
  /** it was posted again after an unclear outcome: at this time, check whether both arrived */
  doubtAt: number | null
  writtenAt: number | null
  postedAttempt: string | null
}

/**
 * Settles the messages of dead processes: a call that was in flight has an unclear outcome.
 * @param isDead whether the process that claimed this message can no longer record the outcome
 */
export const settleDead = (
  messages: readonly StoredMessage[],
  isDead: (message: StoredMessage) => boolean,
): StoredMessage[] =>
  messages.map((message) => {
    if (message.state === 'claimed') return isDead(message) ? { ...message, state: 'unclear' } : message
    if (message.sending === null || !isDead(message)) return message
    return { ...message, sending: null, digest: null, recheckAt: (message.sendingAt ?? 0) + LANDING_MAX_MS }
  })

export type Step =
  | {
      queue: 'post'
      slot: string
      generation: number
      view: View
      digest: string
      thread: MessageTs | null
      again: StoredMessage | null
    }
  | { queue: 'edit'; message: StoredMessage; view: View; digest: string }
  | { queue: 'look'; message: StoredMessage; thread: MessageTs | null }

export interface PlannedStep {
  step: Step
  at: number
  priority: number
}

/** The steps for a card and its thread; empty if Slack already shows everything. */
export function planStory(story: Story, messages: readonly StoredMessage[], now: number): PlannedStep[] {
  const card = newestOf('card', messages)
  const cardSteps = planMessage(
    { slot: 'card', view: story.card, thread: null, urgency: cardUrgency(story.card) },
    card,
    now,
  )
  if (card?.state !== 'posted' || card.ts === null) return cardSteps
  const { ts } = card
  const inThread = [
    ...earlierReplies(story),
    ...requestsOf(story),
    ...newestReplies(story),
    ...failuresOf(story),
    ...notesOf(story),
  ].flatMap((desired) => {
    const message = newestOf(desired.slot, messages)
    return planMessage({ ...desired, thread: ts, searchedThread: threadOf(message, messages) ?? ts }, message, now)
  })
  return [...cardSteps, ...inThread]
}

/** The thread in which a reply would have arrived: that of the card that existed when the reply was claimed. */
const threadOf = (reply: StoredMessage | undefined, messages: readonly StoredMessage[]): MessageTs | null =>
  messages
    .filter(({ slot, ts, claimedAt }) => slot === 'card' && ts !== null && reply && claimedAt <= reply.claimedAt)
    .sort((a, b) => a.generation - b.generation)
    .at(-1)?.ts ?? null

// A thread is in order: the earlier attempt, the request to restart it, the result. A person who pressed a button is
// waiting for these. Without a request, an earlier attempt's reply can wait.
const earlierReplies = ({ replies, requests }: Story) =>
  replies
    .filter(({ newest }) => !newest)
    .map(({ slot, view }) => ({ slot, view, urgency: requests.length > 0 ? REQUEST_URGENCY : LEAST_URGENCY }))

const requestsOf = ({ requests }: Story) => requests.map(({ slot, view }) => ({ slot, view, urgency: REQUEST_URGENCY }))

const notesOf = ({ notes }: Story) => notes.map(({ slot, view }) => ({ slot, view, urgency: REQUEST_URGENCY }))

const newestReplies = ({ replies }: Story) =>
  replies.filter(({ newest }) => newest).map(({ slot, view }) => ({ slot, view, urgency: replyUrgency(view) }))

// Less urgent than the reply that says that the build failed, so that it comes after it.
const failuresOf = ({ failures, card }: Story) =>
  failures.map(({ slot, view, newest }) => ({ slot, view, urgency: newest ? cardUrgency(card) + 1 : LEAST_URGENCY }))

export function planNotice(view: NoticeView, messages: readonly StoredMessage[], now: number): PlannedStep[] {
  const steps = planMessage({ slot: 'card', view, thread: null, urgency: 2 }, newestOf('card', messages), now)
  return steps.map((planned) =>
    planned.step.queue === 'edit'
      ? {
          ...planned,
          priority: LEAST_URGENCY,
          at: Math.max(planned.at, (planned.step.message.writtenAt ?? 0) + NOTICE_GAP_MS),
        }
      : planned,
  )
}

/** The steps for a digest, whose content was fixed when it was planned. */
export const planDigest = (view: DigestView, messages: readonly StoredMessage[], now: number): PlannedStep[] =>
  planMessage({ slot: 'card', view, thread: null, urgency: LEAST_URGENCY }, newestOf('card', messages), now)

/** The earliest time and the highest urgency of each queue. */
export function queuesOf(steps: readonly PlannedStep[]): Queues {
  const queues: Queues = { ...NO_QUEUES }
  for (const { step, at, priority } of steps) {
    const queue = queues[step.queue]
    queues[step.queue] = queue
      ? { at: Math.min(queue.at, at), priority: Math.min(queue.priority, priority) }
      : { at, priority }
  }
  return queues
}

/** The newest message of a slot: its highest generation. */
export const newestOf = (slot: string, messages: readonly StoredMessage[]): StoredMessage | undefined =>
  messages
    .filter((message) => message.slot === slot)
    .sort((a, b) => a.generation - b.generation)
    .at(-1)

/** The newest card that is gone: the next or current card replaces it. */
export const replacedCard = (messages: readonly StoredMessage[]): MessageTs | null =>
  messages.filter(({ slot, state }) => slot === 'card' && state === 'gone').at(-1)?.ts ?? null

/**
 * The attempt whose end the current card showed when it was posted; null: it showed none. Undefined if there is no card
 * now: the next one, a new or a repeated post, will show the newest state.
 */
export function postedAttemptShown(messages: readonly StoredMessage[]): string | null | undefined {
  const card = newestOf('card', messages)
  return card?.state === 'claimed' || card?.state === 'posted' ? card.postedAttempt : undefined
}

/**
 * A short hash of a view's content, for comparison. Some parts of a reply or reminder are decided when it is posted and
 * never cause an edit: whom it mentions or proposes, whether it is broadcast or late, how long the branch was red. For a
 * card, this is only whom it proposes. Digests are stored, so `ownership` keeps the name that it had: another name would
 * edit every red card.
 */
export function viewDigest(view: View): string {
  const compared =
    view.kind === 'reply'
      ? {
          ...view,
          mention: null,
          claim: view.claim ?? undefined,
          proposed: undefined,
          broadcast: false,
          isLate: undefined,
        }
      : view.kind === 'reminder'
        ? { ...view, forMs: 0, builds: 0, broadcast: false }
        : view.kind === 'card'
          ? { ...view, proposed: undefined, ownership: undefined, breakage: view.ownership }
          : view
  return hash('sha256', JSON.stringify(compared)).slice(0, 24)
}

interface DesiredMessage {
  slot: string
  view: View
  thread: MessageTs | null
  /** the thread in which it is looked for; left out: `thread` */
  searchedThread?: MessageTs
  urgency: number
}

function planMessage(desired: DesiredMessage, message: StoredMessage | undefined, now: number): PlannedStep[] {
  if (!message) return [post(desired, 1, null, now)]
  switch (message.state) {
    case 'claimed':
      return []
    case 'unclear':
      return [lookOrPost(desired, message, now)]
    case 'gone':
      return message.generation < GENERATIONS_MAX && desired.slot === 'card'
        ? [post(desired, message.generation + 1, null, now)]
        : []
    case 'posted':
      return planEdit(desired, message, now)
  }
}

function lookOrPost(desired: DesiredMessage, message: StoredMessage, now: number): PlannedStep {
  const { claimedAt, lookedAt } = message
  const landedBy = claimedAt + LANDING_MAX_MS
  if (lookedAt !== null && lookedAt >= landedBy && now < lookedAt + LOOK_COUNTS_MS)
    return post(desired, message.generation, message, now)
  const at = lookedAt === null ? now : landedBy
  return { step: look(desired, message), at, priority: desired.urgency }
}

function planEdit(desired: DesiredMessage, message: StoredMessage, now: number): PlannedStep[] {
  const digest = viewDigest(desired.view)
  const edit = (at: number): PlannedStep => ({
    step: { queue: 'edit', message, view: desired.view, digest },
    at,
    priority: desired.urgency,
  })
  if (message.sending !== null) return []
  if (message.digest !== digest) return [edit(now)]
  if (message.doubtAt !== null) return [{ step: look(desired, message), at: message.doubtAt, priority: LEAST_URGENCY }]
  const againAt = message.recheckAt ?? changesByItselfAt(desired.view)
  return againAt === null ? [] : [edit(againAt)]
}

/** When a view changes without any news (ms): when an owner's time or a snooze is up. */
const changesByItselfAt = (view: View): number | null =>
  view.kind === 'card' && view.ownership ? changesAt(view.ownership) : null

const look = ({ thread, searchedThread }: DesiredMessage, message: StoredMessage): Step => ({
  queue: 'look',
  message,
  thread: searchedThread ?? thread,
})

function post(desired: DesiredMessage, generation: number, again: StoredMessage | null, now: number): PlannedStep {
  const { slot, view, thread, urgency } = desired
  return {
    step: { queue: 'post', slot, generation, view, digest: viewDigest(view), thread, again },
    at: now,
    priority: urgency,
  }
}

/** The urgency of messages for which a person who pressed a button is waiting. */
export const REQUEST_URGENCY = 1

/** The least urgency. Failures come first, running builds late: if one ends before its turn, one message is enough. */
export const LEAST_URGENCY = 4

function urgencyOf(shown: Shown): number {
  if (shown === 'failed' || shown === 'infrastructure_failure') return 0
  if (shown === 'fixed' || shown === 'flaky' || shown === 'waiting') return 1
  return shown === 'started' || shown === 'unknown' ? 3 : 2
}

/** Added to the urgency of late news, which comes last, in the same order. */
const LATE = LEAST_URGENCY + 1

const cardUrgency = ({ shown, history }: CardView): number =>
  urgencyOf(shown) + (history.some(({ what }) => what === 'late') ? LATE : 0)

const replyUrgency = ({ shown, lateEnd }: ReplyView): number =>
  (urgencyOf(shown) <= 1 ? urgencyOf(shown) : LEAST_URGENCY) + (lateEnd === undefined ? 0 : LATE)
