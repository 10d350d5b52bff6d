import type { StreakExtent, Ownership } from '../../domain/builds/streak.ts'
import type { NoteView, ReminderView } from '../../domain/cards/view.ts'
import { plain, type ActionButton } from './blocks.ts'
import { branchName, buildCount, joined, onBranch, projectLabel, somebody } from './build.ts'
import { codeSpan } from '../../lib/escape.ts'
import { STREAK_ACTION_ID } from './ids.ts'
import { dayTime, durationWords, timeIn } from './times.ts'

// Texts about red branches and the people on them. Markup.

/**
 * `@Ada is on it until 15:00`, and until when reminders are snoozed; empty if neither.
 * @param postedAt when the message was posted (ms); null: since somebody is on it
 */
export function ownershipWords({ owner, snoozedUntil }: Ownership, postedAt: number | null = null): string {
  const onIt = owner && onItWords(somebody(owner.user), { ...owner, ...(postedAt !== null && { since: postedAt }) })
  return joined([onIt, snoozedUntil === null ? null : `reminders snoozed${laterWords(snoozedUntil)}`])
}

export const onItWords = (who: string, { since, until }: { since: number; until: number }): string =>
  `${who} is on it${untilWords(until, since)}`

/** `since May 3 09:30 (3 builds)`; with `or longer` if the streak began before the stored history. */
export function sinceWords({ at, builds, atLeast }: StreakExtent): string {
  const time = dayTime(at)
  const start = time === null ? '' : `since ${time}${atLeast ? ' or longer' : ''} `
  return `${start}(${atLeast ? 'at least ' : ''}${buildCount(builds)})`
}

/** The line in the thread: `:raising_hand: @Ada is on it until 15:00`. */
export function noteLine({ what, by, to, until, at, from, branch = null }: NoteView): string {
  switch (what) {
    case 'taken':
      return from === undefined
        ? `:raising_hand: ${somebody(by)} is on it${untilWords(until, at)}`
        : `:raising_hand: ${somebody(by)} took it over from ${somebody(from)}${untilWords(until, at)}`
    case 'handed':
      return `:raising_hand: ${somebody(by)} handed it to ${somebody(to)}${untilWords(until, at)}`
    case 'snoozed':
      return `:zzz: ${somebody(by)} snoozed reminders${laterWords(until)}`
    case 'let-go':
      return `:wave: ${somebody(by)} let it go`
    case 'left':
      return `:wave: ${somebody(by)} has left the workspace: nobody is on it now`
    case 'deleted':
    case 'renamed':
    case 'merged':
    case 'closed':
      return `:broom: ${branch === null ? 'The branch' : branchName(branch)} was ${what}, so it is no longer red`
  }
}

/** The reply in the thread: ``:bell: acme/web `main` has been red for 2 h (3 builds) and nobody is on it`` */
export function reminderLine({ forMs, builds, ...about }: ReminderView): string {
  return `:bell: ${projectLabel(about)}${onBranch(about)} has been red for ${durationWords(forMs)} (${buildCount(builds)}) and nobody is on it`
}

/** Sent to the person who was on the branch, in a direct message, when their time is up. */
export const lapsedLine = (about: Pick<ReminderView, 'project' | 'branch'>): string =>
  `:hourglass: ${projectLabel(about)}${onBranch(about)} is still red, and your time on it is up. Press *I'm on it* to go on, or type ${codeSpan('/ci red')}.`

/** Opens the form in which a person takes the branch, hands it over, or lets it go. */
export const streakButton = (id: string, isOwned = false): ActionButton => ({
  type: 'button',
  action_id: STREAK_ACTION_ID,
  text: plain(isOwned ? 'Change…' : "I'm on it"),
  value: id,
})

/** ` until 15:00`, with the date if it may be another day. */
export function untilWords(until: number | null, since: number): string {
  const time = until === null ? null : timeIn(until, since)
  return time === null ? '' : ` until ${time}`
}

/** ` until May 4 15:00` */
export const laterWords = (until: number | null): string =>
  until === null ? '' : ` until ${dayTime(until) ?? 'later'}`
