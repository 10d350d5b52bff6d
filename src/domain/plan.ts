import { createHash } from 'node:crypto'
import { changesAt } from './breakage.ts'
import type { ChannelId, MessageTs } from './ids.ts'
import type { Story } from './story.ts'
import type { CardView, DigestView, NoticeView, ReplyView, Shown, View } from './view.ts'

// The steps between what is said and what should be said. Pure: no step is taken here.

/**
 * After an unclear end a call can still land, and history shows a message late. So the claim is looked for at once, and
 * posted again only when it is this old and a look that was made after that age found nothing.
 */
export const LANDING_MAX_MS = 20_000

/** A look that found nothing counts for so long: history may since show what it hid, and nobody looks so far back later. */
const LOOK_COUNTS_MS = 60_000

/** A message that is gone is posted anew once; a person who deletes that one too means it. */
export const GENERATIONS_MAX = 2

/** A notice gathers what comes in during this time before it is edited again. */
export const NOTICE_GAP_MS = 5_000

/** Slack limits posts by channel, edits and look-ups by workspace: three queues. */
export type Queue = 'post' | 'edit' | 'look'
export const QUEUES: readonly Queue[] = ['post', 'edit', 'look']

/** What waits in each queue of a card, from when (ms) and how urgent (0 first); null: nothing. */
export type Queues = Record<Queue, { at: number; priority: number } | null>

export const NO_QUEUES: Queues = { post: null, edit: null, look: null }

export interface CardState {
  subject: string
  channel: ChannelId
  quiet: boolean
  mention: boolean
}

/**
 * One message of ours, as recorded. `claimed`: a post is under way. `unclear`: it may or may not have arrived.
 * `posted`: it stands at `ts`, saying `digest` (null: unsure what). `gone`: deleted, or closed for edits.
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
  /** say it again at this time: an earlier call of unclear end could still land before it */
  recheckAt: number | null
  /** it was posted again after an unclear end: look at this time whether both arrived */
  doubtAt: number | null
  writtenAt: number | null
  postedAttempt: string | null
}

/**
 * The messages as they are once the processes that were writing them are dead: what was under way has an unclear end.
 * @param isDead whether the process that made this claim can no longer end it
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

/** The steps for a card and its thread; empty when Slack already agrees. */
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
    ...asksOf(story),
    ...newestReplies(story),
    ...testsOf(story),
    ...notesOf(story),
  ].flatMap((said) => {
    const message = newestOf(said.slot, messages)
    return planMessage({ ...said, thread: ts, lookIn: threadOf(message, messages) ?? ts }, message, now)
  })
  return [...cardSteps, ...inThread]
}

/** Where a reply would have arrived that was claimed before the card was posted anew: under the one that stood then. */
const threadOf = (reply: StoredMessage | undefined, messages: readonly StoredMessage[]): MessageTs | null =>
  messages
    .filter(({ slot, ts, claimedAt }) => slot === 'card' && ts !== null && reply && claimedAt <= reply.claimedAt)
    .sort((a, b) => a.generation - b.generation)
    .at(-1)?.ts ?? null

// A thread is read downwards: what was restarted, who asked for it, what came of it. A person who pressed a button is
// watching; where nobody asked, an earlier attempt's reply has time.
const earlierReplies = ({ replies, asks }: Story) =>
  replies
    .filter(({ newest }) => !newest)
    .map(({ slot, view }) => ({ slot, view, urgency: asks.length > 0 ? ASKED : LEAST }))

const asksOf = ({ asks }: Story) => asks.map(({ slot, view }) => ({ slot, view, urgency: ASKED }))

const notesOf = ({ notes }: Story) => notes.map(({ slot, view }) => ({ slot, view, urgency: ASKED }))

const newestReplies = ({ replies }: Story) =>
  replies.filter(({ newest }) => newest).map(({ slot, view }) => ({ slot, view, urgency: replyUrgency(view) }))

// After the reply that says that the build failed.
const testsOf = ({ tests, card }: Story) =>
  tests.map(({ slot, view, newest }) => ({ slot, view, urgency: newest ? cardUrgency(card) + 1 : LEAST }))

export function planNotice(view: NoticeView, messages: readonly StoredMessage[], now: number): PlannedStep[] {
  const steps = planMessage({ slot: 'card', view, thread: null, urgency: 2 }, newestOf('card', messages), now)
  return steps.map((planned) =>
    planned.step.queue === 'edit'
      ? { ...planned, priority: LEAST, at: Math.max(planned.at, (planned.step.message.writtenAt ?? 0) + NOTICE_GAP_MS) }
      : planned,
  )
}

/** A digest says what it said when it was planned. */
export const planDigest = (view: DigestView, messages: readonly StoredMessage[], now: number): PlannedStep[] =>
  planMessage({ slot: 'card', view, thread: null, urgency: LEAST }, newestOf('card', messages), now)

/** The first time and the highest urgency of each queue. */
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

/** The card that stood before, when the newest one replaces it. */
export const replacedCard = (messages: readonly StoredMessage[]): MessageTs | null =>
  messages.filter(({ slot, state }) => slot === 'card' && state === 'gone').at(-1)?.ts ?? null

/**
 * The attempt that the standing card told when it was posted, null if it told none; undefined while none stands: the one
 * that is posted next, be it anew or again, tells what is so by then.
 */
export function postedAttemptSaid(messages: readonly StoredMessage[]): string | null | undefined {
  const card = newestOf('card', messages)
  return card?.state === 'claimed' || card?.state === 'posted' ? card.postedAttempt : undefined
}

/**
 * What a view says, as a short text to compare. Some things about a reply are decided when it is posted and never
 * make it worth an edit: who it mentions or asks for their name, whether it went to the channel too or came late, since when it was red. Nor
 * does it make a card worth one whom it asks.
 */
export function digestOf(view: View): string {
  const said =
    view.kind === 'reply'
      ? { ...view, mention: null, claim: undefined, proposed: undefined, broadcast: false, isLate: undefined }
      : view.kind === 'reminder'
        ? { ...view, forMs: 0, builds: 0, broadcast: false }
        : { ...view, proposed: undefined }
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 24)
}

interface Wanted {
  slot: string
  view: View
  thread: MessageTs | null
  /** where it is looked for; left out: in that thread */
  lookIn?: MessageTs
  urgency: number
}

function planMessage(wanted: Wanted, message: StoredMessage | undefined, now: number): PlannedStep[] {
  if (!message) return [post(wanted, 1, null, now)]
  switch (message.state) {
    case 'claimed':
      return []
    case 'unclear':
      return [lookOrPost(wanted, message, now)]
    case 'gone':
      return message.generation < GENERATIONS_MAX && wanted.slot === 'card'
        ? [post(wanted, message.generation + 1, null, now)]
        : []
    case 'posted':
      return planEdit(wanted, message, now)
  }
}

function lookOrPost(wanted: Wanted, message: StoredMessage, now: number): PlannedStep {
  const { claimedAt, lookedAt } = message
  const landedBy = claimedAt + LANDING_MAX_MS
  if (lookedAt !== null && lookedAt >= landedBy && now < lookedAt + LOOK_COUNTS_MS)
    return post(wanted, message.generation, message, now)
  const at = lookedAt === null ? now : landedBy
  return { step: look(wanted, message), at, priority: wanted.urgency }
}

function planEdit(wanted: Wanted, message: StoredMessage, now: number): PlannedStep[] {
  const digest = digestOf(wanted.view)
  const edit = (at: number): PlannedStep => ({
    step: { queue: 'edit', message, view: wanted.view, digest },
    at,
    priority: wanted.urgency,
  })
  if (message.sending !== null) return []
  if (message.digest !== digest) return [edit(now)]
  if (message.doubtAt !== null) return [{ step: look(wanted, message), at: message.doubtAt, priority: LEAST }]
  const againAt = message.recheckAt ?? changesBySelfAt(wanted.view)
  return againAt === null ? [] : [edit(againAt)]
}

/** When a view says something else without any news (ms). */
const changesBySelfAt = (view: View): number | null =>
  view.kind === 'card' && view.breakage ? changesAt(view.breakage) : null

const look = ({ thread, lookIn }: Wanted, message: StoredMessage): Step => ({
  queue: 'look',
  message,
  thread: lookIn ?? thread,
})

function post(wanted: Wanted, generation: number, again: StoredMessage | null, now: number): PlannedStep {
  const { slot, view, thread, urgency } = wanted
  return {
    step: { queue: 'post', slot, generation, view, digest: digestOf(view), thread, again },
    at: now,
    priority: urgency,
  }
}

/** What people wait for who pressed a button. */
const ASKED = 1

/** Failures first; what is still running last: by the time its turn comes, it may have ended, and one message tells it. */
const LEAST = 4

function urgencyOf(shown: Shown): number {
  if (shown === 'failed' || shown === 'infrastructure_failure') return 0
  if (shown === 'fixed' || shown === 'flaky' || shown === 'waiting') return 1
  return shown === 'started' || shown === 'unknown' ? 3 : 2
}

/** What is told late comes after all that is not, in the same order. */
const LATE = LEAST + 1

const cardUrgency = ({ shown, history }: CardView): number =>
  urgencyOf(shown) + (history.some(({ what }) => what === 'late') ? LATE : 0)

const replyUrgency = ({ shown, lateEnd }: ReplyView): number =>
  (urgencyOf(shown) <= 1 ? urgencyOf(shown) : LEAST) + (lateEnd === undefined ? 0 : LATE)
