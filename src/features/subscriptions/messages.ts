import { assertNever } from '../../lib/assert.ts'
import { joined, outside } from '../../slack/messages/build.ts'
import { PROJECT_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import {
  closedWords,
  detailsWords,
  followedHow,
  followedProject,
  remindsWhen,
} from '../../slack/messages/subscription.ts'
import type { ShownSubscription } from '../../projects/subscriptions.ts'
import {
  answerOf,
  answerError,
  line,
  nextStep,
  small,
  type Answer,
  type AnswerContext,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { answerNotFound } from '../kit/not-found.ts'
import { reminderFault } from './remind.ts'
import { pausedParts, removeButton, rulesWords } from './rules-messages.ts'
import type { Misread } from './subscribe-input.ts'
import type { Announced, CannotPost } from './channel.ts'
import type { SubscribeOutcome, Unmatched, UnsubscribeOutcome } from './subscribe.ts'

/** The channel's new subscription, or why nothing has changed. */
export function answerSubscribe(outcome: SubscribeOutcome, context: AnswerContext): Answer {
  if (outcome.kind === 'subscribed') return subscribed(outcome)
  if (outcome.kind === 'same') return answerOf([line(`:bell: *Already subscribed* to ${followed(outcome.shown)}.`)])
  if (outcome.kind === 'too-many') return answerError(tooMany(outcome.max))
  if (outcome.kind === 'cannot-post') return answerError(cannotPost(outcome, context))
  if (outcome.kind === 'faults') return answerError(faulty(outcome.faults))
  if (outcome.kind === 'set-elsewhere') return setElsewhere(outcome.shown, ', or choose another branch')
  return unchanged(outcome, context)
}

/** The removed subscriptions, or those to choose from. */
export function answerUnsubscribe(outcome: UnsubscribeOutcome, context: AnswerContext): Answer {
  if (outcome.kind === 'unsubscribed') return unsubscribed(outcome)
  if (outcome.kind === 'not-subscribed') return notSubscribed(outcome)
  if (outcome.kind === 'which') return which(outcome.here)
  if (outcome.kind === 'set-elsewhere') return setElsewhere(outcome.shown, '')
  return unchanged(outcome, context)
}

/** The outcomes that both requests can have: nothing was changed. */
function unchanged(
  outcome: Exclude<Extract<SubscribeOutcome, UnsubscribeOutcome>, { kind: 'set-elsewhere' }>,
  context: AnswerContext,
): Answer {
  switch (outcome.kind) {
    case 'no-channel':
      return answerError(NO_CHANNEL)
    case 'no-project':
    case 'several-projects':
      return answerNotFound(outcome, context)
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, context.reference)
    default:
      return assertNever(outcome)
  }
}

export const followed = ({ subscription }: ShownSubscription): string =>
  `*${followedProject(subscription)}*: ${followedHow(subscription)}`

/** Repeats everything that was understood, so that a mistake shows. */
function subscribed({
  shown,
  was,
  announced,
  silent,
  unmatched,
}: Extract<SubscribeOutcome, { kind: 'subscribed' }>): Answer {
  const { quiet, mention, details, remind } = shown.subscription
  return answerOf([
    line(`:bell: *Subscribed* to *${followedProject(shown.subscription)}*: ${rulesWords(shown)}.`),
    small(
      joined([
        mention === 'nobody' ? 'Mentions nobody' : 'Mentions the committer, where that name is claimed',
        quiet ? 'quiet (replies stay in threads)' : null,
        detailsWords(details),
        remind ? remindsWhen(remind) : 'no reminders',
      ]),
    ),
    ...(was && announced.kind !== 'told' ? [line(`Before: ${followedHow(was.subscription)}.`)] : []),
    ...(unmatched ? [line(unmatchedWords(unmatched))] : []),
    ...(silent ? [line(silentWords(silent))] : []),
    ...announcedParts(announced),
  ])
}

function unmatchedWords({ branch, project, nearest }: Unmatched): string {
  const of = project === null ? 'any project' : outside(project, PROJECT_CHARS_MAX) || '(no name)'
  const meant = nearest === null ? '' : ` Did you mean ${typed(nearest)}?`
  return `:warning: No branch of ${of} matches ${typed(branch)} yet.${meant} ${typed('/ci rules')} changes or removes it.`
}

export const silentWords = (channel: string): string =>
  `<#${channel}> is the default channel and only gets projects that no other channel follows, so it no longer gets these builds.`

function unsubscribed({ removed, announced }: Extract<UnsubscribeOutcome, { kind: 'unsubscribed' }>): Answer {
  const what = (one: ShownSubscription) =>
    announced.kind === 'told' ? `*${followedProject(one.subscription)}*` : followed(one)
  return answerOf([
    ...removed.slice(0, SHOWN_MAX).map((one) => line(`:no_bell: *Unsubscribed* from ${what(one)}.`)),
    ...andMore(removed.length - SHOWN_MAX),
    ...announcedParts(announced),
  ])
}

/** The most subscriptions that one answer names; `/ci rules` shows all. */
export const SHOWN_MAX = 10

export const andMore = (left: number): Part[] =>
  left > 0 ? [line(`… and ${left} more. Type ${typed('/ci rules')} to see them all.`)] : []

/** Empty if the change was announced in the channel. */
export function announcedParts(announced: Announced, command = '/ci subscribe'): Part[] {
  if (announced.kind === 'told') return []
  const { code, isClosed } = announced
  if (!isClosed)
    return [line(`:warning: The channel may not have been notified (Slack's code: ${outside(code, WORD_CHARS_MAX)}).`)]
  return pausedParts(code, { command })
}

/** @param otherwise another way, after a comma */
const setElsewhere = (shown: ShownSubscription, otherwise: string): Answer =>
  answerError({
    what: `:lock: *Nothing changed*: ${settingOf(shown)} sets ${followed(shown)}.`,
    why: 'What is set there cannot be changed from Slack.',
    next: `Ask the person who runs Buildline to change it${otherwise}.`,
  })

const settingOf = ({ subscription: { source } }: ShownSubscription): string =>
  source === 'default-channel' ? typed('DEFAULT_CHANNEL') : 'the subscriptions file'

const tooMany = (max: number) => ({
  what: `:no_entry: *Nothing changed*: this channel already has ${max} subscriptions, which is the limit.`,
  why: null,
  next: `Type ${typed('/ci rules')} and remove one, or use a pattern such as ${typed('release/*')} for several branches.`,
})

const NO_CHANNEL = {
  what: ':mag: *Not a channel*: only channels can have subscriptions.',
  why: null,
  next: `Type the same in the channel that should get the builds.`,
}

function cannotPost({ channel, code }: CannotPost, { command }: AnswerContext) {
  const { what, next } = closedWords(code, { command: `/ci ${command}` })
  return {
    what: `:no_entry: *Nothing changed*: Buildline cannot post in <#${channel}>: ${what}.`,
    why: null,
    next,
  }
}

const faulty = (faults: readonly { field: string; reason: string }[]) => ({
  what: ':mag: *Nothing changed*:',
  why: faults
    .slice(0, SHOWN_MAX)
    .map(({ field, reason }) => `${outside(field, WORD_CHARS_MAX)} ${outside(reason, 150)}.`),
  next: `For example: ${typed('/ci subscribe acme/web changes release/*')}`,
})

function notSubscribed({ text, here }: Extract<UnsubscribeOutcome, { kind: 'not-subscribed' }>): Answer {
  const none = here.length === 0 ? 'has no subscriptions' : 'has no such subscription any more'
  return answerOf([
    line(`:mag: *Nothing changed*: this channel ${text === null ? none : `is not subscribed to ${typed(text)}`}.`),
    ...listOf(here),
    line(nextStep(`Type ${typed('/ci rules')} to see its subscriptions.`)),
  ])
}

const which = (here: readonly ShownSubscription[]): Answer =>
  answerOf([line(':no_bell: *Which one?* This channel is subscribed to:'), ...listOf(here)])

const listOf = (here: readonly ShownSubscription[]): Part[] => [
  ...here.slice(0, SHOWN_MAX).flatMap((one): Part[] => {
    const [button] = removeButton(one)
    return [{ kind: 'line', text: `• ${followed(one)}`, ...(button && { button }) }]
  }),
  ...andMore(here.length - SHOWN_MAX),
]

/** Why the words after `subscribe` were not understood. Buildline does not guess. */
export function answerMisread(reading: Misread, usage: string): Answer {
  const { what, next } = misreadWords(reading)
  return answerOf([
    line(`:mag: *Not understood*: ${what} nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep(next)),
  ])
}

function misreadWords(reading: Misread): { what: string; next: string } {
  switch (reading.kind) {
    case 'near': {
      const [word, meant] = [typed(reading.typed), typed(reading.meant)]
      const asBranch = typed(`@${reading.typed}`)
      return {
        what: `${word} could be ${meant} or a branch, so`,
        next: `Type ${meant}, or ${asBranch} for the branch with that name.`,
      }
    }
    case 'no-branch':
      return {
        what: `Git does not allow a branch name like ${typed(reading.typed)}, so`,
        next: `Type a name, a pattern such as ${typed('release/*')}, or a regular expression such as ${typed(reading.regex ?? '^v[0-9]+$')}.`,
      }
    case 'no-reminder':
      return {
        what: `${reminderFault(reading, typed)};`,
        next: `For example: ${typed('/ci subscribe acme/web changes remind 2h 8-20 daily Europe/Berlin')}`,
      }
    case 'no-details':
      return {
        what:
          reading.typed === null
            ? `After ${typed('details')} comes how much, so`
            : `${typed(reading.typed)} is not how much, so`,
        next: `Type ${typed('details none')}, ${typed('details names')} or ${typed('details lines')}.`,
      }
    case 'contradiction':
      return {
        what: `${typed(reading.one)} and ${typed(reading.other)} contradict each other, so`,
        next: 'Type one of them.',
      }
    default:
      return assertNever(reading)
  }
}
