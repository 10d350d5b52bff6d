import { assertNever } from '../../lib/assert.ts'
import { outside } from '../../slack/messages/build.ts'
import { WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { closedWords, followedHow, followedProject } from '../../slack/messages/subscription.ts'
import type { NotFound, Refused } from '../../catalog/outcomes.ts'
import type { Announced, SubscribeOutcome, UnsubscribeOutcome } from './outcomes.ts'
import type { ShownSubscription } from '../../catalog/subscriptions.ts'
import {
  answerOf,
  answerTrouble,
  line,
  nextStep,
  type Answer,
  type AnswerContext,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'
import type { HowTyped } from '../slips.ts'
import { reminderFault, type ReminderFault } from './remind.ts'
import { removeButton } from './rules-messages.ts'

/** What this channel is subscribed to now, or why nothing has changed. */
export function answerSubscribe(outcome: SubscribeOutcome, context: AnswerContext): Answer {
  if (isUnchanged(outcome)) return unchanged(outcome, context)
  switch (outcome.kind) {
    case 'subscribed':
      return subscribed(outcome)
    case 'same':
      return answerOf([line(`:bell: *Already subscribed* to ${followed(outcome.shown)}.`)])
    case 'too-many':
      return answerTrouble(tooMany(outcome.max))
    case 'not-in-channel':
      return answerTrouble(notIn(outcome.channel))
    case 'faults':
      return answerTrouble(faulty(outcome.faults))
    default:
      return assertNever(outcome)
  }
}

/** What this channel was unsubscribed from, or what there is to choose from. */
export function answerUnsubscribe(outcome: UnsubscribeOutcome, context: AnswerContext): Answer {
  if (isUnchanged(outcome)) return unchanged(outcome, context)
  switch (outcome.kind) {
    case 'unsubscribed':
      return unsubscribed(outcome)
    case 'not-subscribed':
      return notSubscribed(outcome)
    case 'which':
      return which(outcome.here)
    default:
      return assertNever(outcome)
  }
}

/** Outcomes of any request in which nothing was changed. */
type Unchanged = Extract<
  UnsubscribeOutcome,
  { kind: NotFound['kind'] | Refused['kind'] | 'kept-by-file' | 'no-channel' }
>

const UNCHANGED: readonly string[] = ['kept-by-file', 'no-channel', 'forbidden', 'unknown-person'] satisfies Exclude<
  Unchanged['kind'],
  NotFound['kind']
>[]

const isUnchanged = (outcome: SubscribeOutcome | UnsubscribeOutcome): outcome is Unchanged =>
  isNotFound(outcome) || UNCHANGED.includes(outcome.kind)

function unchanged(outcome: Unchanged, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'kept-by-file':
      return keptByFile(outcome.shown)
    case 'no-channel':
      return answerTrouble(NO_CHANNEL)
    case 'forbidden':
      return answerNotAllowed(outcome.permit, { action: 'subscribe', reference: context.reference })
    case 'unknown-person':
      return answerNotAllowed(outcome, { action: 'subscribe', reference: context.reference })
    default:
      return assertNever(outcome)
  }
}

export const followed = ({ subscription }: ShownSubscription): string =>
  `*${followedProject(subscription)}*: ${followedHow(subscription)}`

function subscribed({ shown, was, announced, silent }: Extract<SubscribeOutcome, { kind: 'subscribed' }>): Answer {
  return answerOf([
    line(`:bell: *Subscribed* to ${followed(shown)}.`),
    ...(was ? [line(`Before: ${followedHow(was.subscription)}.`)] : []),
    ...(silent ? [line(silentWords(silent))] : []),
    ...announcedParts(announced),
  ])
}

export const silentWords = (channel: string, what = 'this one'): string =>
  `<#${channel}> is the default channel and only gets projects that no other channel follows, so it gets nothing about ${what} any more.`

function unsubscribed({ removed, announced }: Extract<UnsubscribeOutcome, { kind: 'unsubscribed' }>): Answer {
  return answerOf([
    ...removed.slice(0, SHOWN_MAX).map((one) => line(`:no_bell: *Unsubscribed* from ${followed(one)}.`)),
    ...andMore(removed.length - SHOWN_MAX),
    ...announcedParts(announced),
  ])
}

/** The most subscriptions that one answer names; `/ci rules` shows all. */
export const SHOWN_MAX = 10

export const andMore = (left: number): Part[] =>
  left > 0 ? [line(`… and ${left} more. Type ${typed('/ci rules')} to see them all.`)] : []

/** Empty if the channel was told, since everybody sees that. */
export function announcedParts(announced: Announced): Part[] {
  if (announced.kind === 'told') return []
  const { code, isClosed } = announced
  if (!isClosed)
    return [line(`:warning: The channel may not have been notified (Slack's code: ${outside(code, WORD_CHARS_MAX)}).`)]
  const { what, next } = closedWords(code)
  return [line(`:mute: *Paused*: Buildline cannot post in this channel: ${what}.`), line(nextStep(next))]
}

const keptByFile = (shown: ShownSubscription): Answer =>
  answerTrouble({
    what: `:lock: *Nothing changed*: the subscriptions file sets ${followed(shown)}.`,
    why: 'What is set in that file cannot be changed from Slack.',
    next: 'Ask the person who runs Buildline to change the file, or choose another branch.',
  })

const tooMany = (max: number) => ({
  what: `:no_entry: *Nothing changed*: this channel has ${max} subscriptions already, which is the limit.`,
  why: null,
  next: `Type ${typed('/ci rules')} and remove one, or use a pattern such as ${typed('release/*')} for several branches.`,
})

const NO_CHANNEL = {
  what: ':mag: *Not a channel*: only channels can have subscriptions.',
  why: null,
  next: `Type the same in the channel that should get the builds.`,
}

const notIn = (channel: string) => ({
  what: `:no_entry: *Nothing changed*: you are not a member of <#${channel}>, as far as Slack says.`,
  why: 'Only members of a channel can change its subscriptions.',
  next: `Type ${typed('/ci subscribe')} in that channel, after joining it.`,
})

const faulty = (faults: readonly { field: string; reason: string }[]) => ({
  what: ':mag: *Nothing changed*:',
  why: faults
    .slice(0, SHOWN_MAX)
    .map(({ field, reason }) => `${outside(field, WORD_CHARS_MAX)} ${outside(reason, 150)}.`),
  next: `For example: ${typed('/ci subscribe acme/web changes release/*')}`,
})

function notSubscribed({ text, here }: Extract<UnsubscribeOutcome, { kind: 'not-subscribed' }>): Answer {
  const what = text === null ? 'has no subscriptions' : `is not subscribed to ${typed(text)}`
  return answerOf([
    line(`:mag: *Nothing changed*: this channel ${what}.`),
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

/** The word is close to a keyword, but it could also be a branch. Buildline does not guess. */
export const answerNear = ({ typed: text, meant, usage }: { typed: string; meant: string } & HowTyped): Answer =>
  answerOf([
    line(`:mag: *Not understood*: ${typed(text)} could be ${typed(meant)} or a branch, so nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep(`Type ${typed(meant)}, or ${typed(`@${text}`)} for the branch with that name.`)),
  ])

/** No branch can match, so the channel would never get a build. */
export const answerNoBranch = ({
  typed: text,
  regex,
  usage,
}: {
  typed: string
  regex: string | null
} & HowTyped): Answer =>
  answerOf([
    line(`:mag: *Not understood*: Git allows no branch like ${typed(text)}, so nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(
      nextStep(
        `Type a name, a pattern such as ${typed('release/*')}, or a regular expression such as ${typed(regex ?? '^v[0-9]+$')}.`,
      ),
    ),
  ])

/** A word after `remind` is not a time, hours or a time zone. */
export const answerNoReminder = ({ fault, usage }: { fault: ReminderFault } & HowTyped): Answer =>
  answerOf([
    line(`:mag: *Not understood*: ${reminderFault(fault, typed)}; nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep(`For example: ${typed('/ci subscribe acme/web changes remind 2h 8-20 daily Europe/Berlin')}`)),
  ])

/** Two words contradict each other. */
export const answerContradiction = ({ one, other, usage }: { one: string; other: string } & HowTyped): Answer =>
  answerOf([
    line(`:mag: *Not understood*: ${typed(one)} and ${typed(other)} contradict each other, so nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep('Type one of them.')),
  ])
