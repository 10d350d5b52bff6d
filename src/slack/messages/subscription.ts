import { isRepositoryId } from '../../domain/ids.ts'
import { patternMode } from '../../domain/rules/pattern.ts'
import type { ReminderRule } from '../../domain/builds/reminder.ts'
import { CHANGES, type ChannelRule } from '../../domain/rules/rule.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import type { Details } from '../../domain/builds/failure.ts'
import { codeSpan } from '../../lib/escape.ts'
import { branchName, firstFew, joined, outside, somebody } from './build.ts'
import { clockTime, durationWords } from './times.ts'
import { PROJECT_CHARS_MAX, WORD_CHARS_MAX } from './limits.ts'

// Texts about subscriptions. All are markup. Names, patterns and events come from outside and are escaped.

type Followed = Pick<Subscription, 'follows' | 'rules' | 'quiet' | 'mention' | 'details' | 'remind'>

/** `acme/web`, `acme/web (all workflows)`, `all projects`, `all projects that no other channel follows` */
export function followedProject({ follows }: Pick<Subscription, 'follows'>): string {
  switch (follows.what) {
    case 'project':
      return `${outside(follows.name, PROJECT_CHARS_MAX) || '(no name)'}${isRepositoryId(follows.projectId) ? ALL_WORKFLOWS : ''}`
    case 'all':
      return 'all projects'
    case 'unfollowed':
      return 'all projects that no other channel follows'
  }
}

/** After the name of a repository that is followed as a whole. */
export const ALL_WORKFLOWS = ' (all workflows)'

/** ``failed, recovered on `main`; quiet; mentions nobody`` */
export const followedHow = ({ rules, quiet, mention: who, details, remind }: Followed): string =>
  joined(
    [
      rules === null ? "the project's own rules" : rulesInWords(rules),
      quiet ? 'quiet' : null,
      who === 'nobody' ? 'mentions nobody' : null,
      detailsWords(details),
      remind ? remindsWhen(remind) : null,
    ],
    '; ',
  )

/** Null: all is shown, as usual. */
export const detailsWords = (details: Details = 'lines'): string | null =>
  ({ none: 'no details of failures', names: 'names of failures, without messages', lines: null })[details]

/** `reminds after 2 h (9–18 on weekdays, Europe/Berlin)` */
export const remindsWhen = ({ afterMs, fromHour, toHour, days, zone }: ReminderRule): string =>
  `reminds after ${durationWords(afterMs)} (${fromHour}–${toHour} ${days === 'daily' ? 'every day' : 'on weekdays'}, ${zone})`

/** How many rules are written out. */
export const RULES_SHOWN_MAX = 5

/** ``failed, recovered on `main`; every event on branches like `release/*` `` */
export function rulesInWords(rules: readonly ChannelRule[]): string {
  if (rules.length === 0) return 'every event on every branch'
  return firstFew(rules.map(ruleInWords), RULES_SHOWN_MAX, '; ')
}

const ruleInWords = ({ branch, branchMatch, events }: ChannelRule): string =>
  `${eventsInWords(events)} on ${branchesInWords(branch, branchMatch)}`

const EVENTS_SHOWN_MAX = 8

/** `failed, recovered`, `every event` */
export function eventsInWords(events: ChannelRule['events']): string {
  if (events === 'every') return 'every event'
  if (events.length === 0) return 'no event'
  if (events.length === CHANGES.length && CHANGES.every((event) => events.includes(event))) return 'changes'
  const words = events.map((event) => outside(event, WORD_CHARS_MAX) || '(no word)')
  return firstFew(words, EVENTS_SHOWN_MAX)
}

function branchesInWords(branch: string | null, branchMatch: string | null): string {
  if (branch === null || branch === '') return 'every branch'
  const name = branchName(branch)
  switch (patternMode(branch, branchMatch)) {
    case 'exact':
      return name
    case 'wildcard':
      return `branches like ${name}`
    case 'regex':
      return `branches that match ${name}`
    default:
      return `branches that match ${name} in a mode that Buildline does not know`
  }
}

const followed = (one: Followed): string => `${followedProject(one)}: ${followedHow(one)}`

/**
 * Posted in the channel when it gets a subscription, or one is changed.
 * @param over the subscription that this one replaces for this project
 */
export const subscribedLine = (
  user: string,
  now: Followed,
  was: Followed | null,
  over: Followed | null = null,
): string =>
  joined(
    [
      `:bell: ${somebody(user)} subscribed this channel to ${followed(now)}.`,
      was && `Before: ${followedHow(was)}.`,
      over && `For ${followedProject(now)} this replaces ${followed(over)}.`,
    ],
    ' ',
  )

/** Posted in the channel when it gets several subscriptions at once. */
export const importedLine = (user: string, changes: readonly { now: Followed; was: Followed | null }[]): string =>
  `:bell: ${somebody(user)} subscribed this channel to ${listed(changes.map(changed))}.`

const changed = ({ now, was }: { now: Followed; was: Followed | null }): string =>
  `${followed(now)}${was ? ` (before: ${followedHow(was)})` : ''}`

/** How many subscriptions one line names. */
const NAMED_MAX = 5

/** Posted in the channel when a subscription is removed. */
export const unsubscribedLine = (user: string, gone: readonly Followed[]): string =>
  `:no_bell: ${somebody(user)} unsubscribed this channel from ${listed(gone.map(followed))}.`

const listed = (names: readonly string[]): string => firstFew(names, NAMED_MAX, ' · ')

/** Sent directly to the person who subscribed a channel, when nothing can be posted there any more. */
export function closedLine({
  channel,
  code,
  followed: those,
  hasDigest = false,
}: {
  channel: string
  code: string
  followed: readonly Followed[]
  hasDigest?: boolean
}): string {
  const { what, next } = closedWords(code)
  return [
    `:mute: <#${channel}> *cannot get builds any more*: ${what}.`,
    ...(those.length > 0
      ? [
          `It is subscribed to ${listed(those.map(followedProject))}. Builds are kept, and posted there when it opens again.`,
        ]
      : []),
    ...(hasDigest ? ['It gets no digest while it is closed.'] : []),
    `*Next:* ${next}`,
  ].join('\n')
}

/** Posted in the default channel when another one closes. */
export function elsewhereLine({
  channel,
  at,
  followed: those,
}: {
  channel: string
  at: number
  followed: readonly Followed[]
}): string {
  const what = [...new Set(those.map(followedProject))]
  const isOne = what.length === 1 && those[0]!.follows.what === 'project'
  const since = clockTime(at)
  const shown = `${firstFew(what, NAMED_MAX)} ${isOne ? 'is' : 'are'} shown here`
  return `:mute: <#${channel}> cannot be reached${since === null ? '' : ` since ${since}`}, so ${shown}.`
}

/** Why nothing can be posted in a channel, and what the reader can do. */
export function closedWords(
  code: string,
  { where = 'there', command = '/ci subscribe' }: { where?: 'here' | 'there'; command?: string } = {},
): { what: string; next: string } {
  const elsewhere = `${codeSpan(command)} in another channel.`
  const invite = `Type ${codeSpan('/invite @Buildline')} ${where}, or ${elsewhere}`
  switch (code) {
    case 'is_archived':
      return { what: 'it is archived', next: `Unarchive it, or type ${elsewhere}` }
    case 'is_moved':
      return {
        what: 'it was moved to another channel',
        next: `Type ${codeSpan(command)} in the new channel.`,
      }
    case 'not_in_channel':
      return { what: 'Buildline is not in it', next: invite }
    case 'channel_not_found':
      return { what: 'it is gone, or private and Buildline is not in it', next: invite }
    case 'restricted_action':
    case 'restricted_action_read_only_channel':
    case 'restricted_action_thread_only_channel':
      return { what: 'only some people may post in it', next: `Let Buildline post ${where}, or type ${elsewhere}` }
    default:
      return {
        what: `Slack refuses (${outside(code, WORD_CHARS_MAX) || 'no code'})`,
        next: `Let Buildline post ${where}, or type ${elsewhere}`,
      }
  }
}
