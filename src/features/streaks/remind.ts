import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Streak, StreakChange } from '../../domain/builds/streak.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { coversBranch, matchBranch } from '../../domain/rules/pattern.ts'
import { REQUEST_URGENCY, newestOf } from '../../domain/cards/plan.ts'
import {
  isDue,
  nextReminder,
  reminderHolds,
  type NextReminder,
  type ReminderRule,
} from '../../domain/builds/reminder.ts'
import { noteSlot } from '../../domain/cards/story.ts'
import { following, type Subscription } from '../../domain/rules/subscription.ts'
import type { EndGone } from '../../projects/streaks.ts'
import { deliveredById, namesOf } from '../../projects/followers.ts'
import { followedIn } from '../../projects/projects.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { SendText } from '../../slack/api/send-text.ts'
import { streakButton, lapsedLine } from '../../slack/messages/streak.ts'
import { streakLock } from '../../store/streaks.ts'
import type { DeliveredProject } from '../../store/records.ts'
import type { Store, Tx } from '../../store/store.ts'

/** The most red branches that one run checks, the newest first. */
const REMINDED_BRANCHES_MAX = 1_000

/** Red branches that are checked without a pause. */
const AT_ONCE_MAX = 20

export interface RemindDeps {
  store: Store
  clock: Clock
  log: Log
  subscriptions: () => Promise<readonly Subscription[]>
  sendText: SendText
  newId: () => string
  endGone: EndGone
}

/** Stores each reminder that is due; the reconciler posts it. A reminder that fails does not stop the others. */
export async function remind(deps: RemindDeps, signal: AbortSignal): Promise<'done' | 'again'> {
  const { read } = deps.store
  const all = await deps.subscriptions()
  const reminding = new Set(all.filter(isReminding).map(({ channel }) => channel))
  const those = all.filter((one) => isReminding(one) || !reminding.has(one.channel))
  const followed = await followedIn(read, those, (channel) => reminding.has(channel))
  if (reminding.size === 0 || !followed) return 'done'
  const open = await read.openStreaks(followed, REMINDED_BRANCHES_MAX)
  const projects = await deliveredById(
    read,
    open.map(({ projectId }) => projectId),
  )
  const changes = Map.groupBy(await read.streakChanges(open.map(({ id }) => id)), ({ streakId }) => streakId)
  let end: 'done' | 'again' = 'done'
  for (const [at, streak] of open.entries()) {
    // Finding a project's channels takes long, so other work gets its turn in between.
    if (at > 0 && at % AT_ONCE_MAX === 0) await nextTurn()
    const project = projects.get(streak.projectId)
    if (!project) continue
    for (const subscription of following(all, namesOf(project)).filter(isReminding)) {
      if (signal.aborted) return 'again'
      const { channel, remind: rule } = subscription
      try {
        const next = nextReminder(rule, streak, changes.get(streak.id) ?? [], channel)
        if (next && isDue(next, deps.clock.now()) && covers(subscription, streak.branch))
          await storeReminder(deps, { streak, project, channel, rule })
      } catch (error) {
        end = 'again'
        deps.log.error({ err: error, channel, streak: streak.id }, 'a reminder failed; it will be tried again')
      }
    }
  }
  return end
}

type Reminding = Subscription & { remind: ReminderRule }

const isReminding = (one: Subscription): one is Reminding => one.remind !== undefined

/** The project's own rules cover every branch here, since a reminder needs a card in the channel anyway. */
const covers = ({ rules }: Subscription, branch: string): boolean =>
  rules === null || rules.some((rule) => coversBranch(matchBranch(rule.branch, rule.branchMatch, branch)))

interface Due {
  streak: Streak
  project: DeliveredProject
  channel: ChannelId
  rule: ReminderRule
}

async function storeReminder(deps: RemindDeps, due: Due): Promise<void> {
  const { store, log } = deps
  const { streak, project, channel } = due
  // Without a card of the streak in this channel, there is no thread to post in.
  const subject = (await store.read.streakCards(streak, channel))[0]?.subject
  if (subject === undefined) return
  // The reminder is recorded only if the branch is still red afterwards.
  await deps.endGone([streak])
  const id = deps.newId()
  const change = await store.write((tx) => record(tx, deps, due, { id, subject }))
  if (!change) return
  if (change.kind === 'lapsed') return notifyOwner(deps, due, change)
  const { number } = change
  log.info({ channel, project: project.projectId, streak: streak.id, number }, 'a reminder is due')
}

/** Stores the reminder, or that the owner's time is up. Null: not due any more, or not yet. */
async function record(
  tx: Tx,
  { clock }: RemindDeps,
  { streak: { id: streakId, branchKey }, channel, rule }: Due,
  { id, subject }: Pick<StreakChange, 'id' | 'subject'>,
): Promise<StreakChange | null> {
  await tx.lockName(streakLock(branchKey))
  const streak = await tx.streak(streakId)
  const changes = streak && (await withPostTime(tx, streak, await tx.streakChanges([streakId]), channel))
  const next = changes && nextReminder(rule, streak, changes, channel)
  const at = clock.now()
  if (!next || !isDue(next, at)) return null
  const change = { id, streakId, subject, interactionKey: null, to: null, at, ...changeOf(next, streak, channel) }
  await tx.insertStreakChange(change)
  if (change.kind === 'reminded') await tx.touchCards(subject, at, REQUEST_URGENCY)
  return change
}

const changeOf = (next: NextReminder, { owner, ownerUntil }: Streak, channel: ChannelId) =>
  next.kind === 'channel'
    ? ({ kind: 'reminded', by: '', until: null, channel, number: next.number } as const)
    : ({ kind: 'lapsed', by: owner ?? '', until: ownerUntil, channel: null, number: null } as const)

/** Sets the newest reminder's time to when it was posted. Null: it still waits to be posted, so no other is due. */
async function withPostTime(
  tx: Tx,
  streak: Streak,
  changes: readonly StreakChange[],
  channel: ChannelId,
): Promise<readonly StreakChange[] | null> {
  const last = changes.findLast((change) => change.kind === 'reminded' && change.channel === channel)
  if (!last) return changes
  const message = newestOf(noteSlot(last), await tx.messagesOf({ subject: last.subject, channel }))
  const isPosted = message?.state === 'posted' || message?.state === 'gone'
  if (!isPosted) return reminderHolds(last, streak) ? null : changes
  return changes.map((change) => (change === last ? { ...last, at: Math.max(last.at, message.claimedAt) } : change))
}

/** Sends at most once: if the process dies before, the owner gets no message, and the channel's reminder follows. */
async function notifyOwner(
  { store, sendText, log }: RemindDeps,
  { streak, project }: Due,
  { id, by }: StreakChange,
): Promise<void> {
  const about = { project: project.fullName ?? project.name, branch: streak.branch }
  const outcome = await sendText(by, lapsedLine(about), streakButton(streak.id))
  if (outcome.kind === 'sent')
    return log.info({ streak: streak.id, user: by }, 'an owner was notified that their time is up')
  const { code } = outcome
  log.warn({ streak: streak.id, user: by, code }, 'an owner could not be notified that their time is up')
  if (RETRYABLE.has(outcome.kind)) await store.write((tx) => tx.removeStreakChange(id))
}

const RETRYABLE: ReadonlySet<string> = new Set(['rate-limited', 'unsent', 'workspace-closed'])
