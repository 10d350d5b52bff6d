import { assertNever } from '../../lib/assert.ts'
import { outside } from '../../slack/messages/build.ts'
import { WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { closedWords, followedHow, followedProject } from '../../slack/messages/subscription.ts'
import type { NotFound, Refused } from '../../catalog/outcomes.ts'
import type { Announced, ShownSubscription, SubscribeOutcome, UnsubscribeOutcome } from './outcomes.ts'
import {
  answerOf,
  answerTrouble,
  line,
  nextStep,
  type Answer,
  type AskedWith,
  type Part,
} from '../../slack/messages/answer.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'
import type { HowTyped } from '../slips.ts'
import { removeButton } from './buttons.ts'
import { typed } from '../../slack/messages/typed.ts'

/** What this channel follows from now on, or why nothing has changed. */
export function answerSubscribe(outcome: SubscribeOutcome, asked: AskedWith): Answer {
  if (isUnchanged(outcome)) return unchanged(outcome, asked)
  switch (outcome.kind) {
    case 'subscribed':
      return subscribed(outcome)
    case 'same':
      return answerOf([line(`:bell: *So it is already*: this channel follows ${followed(outcome.shown)}.`)])
    case 'too-many':
      return answerTrouble(tooMany(outcome.max), asked.reference)
    case 'not-in-channel':
      return answerTrouble(notIn(outcome.channel), asked.reference)
    case 'faults':
      return answerTrouble(faulty(outcome.faults), asked.reference)
    default:
      return assertNever(outcome)
  }
}

/** What this channel follows no more, or the choice there is. */
export function answerUnsubscribe(outcome: UnsubscribeOutcome, asked: AskedWith): Answer {
  if (isUnchanged(outcome)) return unchanged(outcome, asked)
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

/** Why nothing was changed, whatever was wanted. */
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

function unchanged(outcome: Unchanged, asked: AskedWith): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, asked)
  switch (outcome.kind) {
    case 'kept-by-file':
      return keptByFile(outcome.shown, asked)
    case 'no-channel':
      return answerTrouble(NO_CHANNEL, asked.reference)
    case 'forbidden':
      return answerNotAllowed(outcome.permit, { action: 'subscribe', reference: asked.reference })
    case 'unknown-person':
      return answerNotAllowed(outcome, { action: 'subscribe', reference: asked.reference })
    default:
      return assertNever(outcome)
  }
}

const followed = ({ subscription }: ShownSubscription): string =>
  `*${followedProject(subscription)}*: ${followedHow(subscription)}`

function subscribed({ shown, was, announced, silent }: Extract<SubscribeOutcome, { kind: 'subscribed' }>): Answer {
  return answerOf([
    line(`:bell: *Kept*: this channel now follows ${followed(shown)}.`),
    ...(was ? [line(`Was: ${followedHow(was.subscription)}.`)] : []),
    ...(silent ? [line(silentWords(silent))] : []),
    ...announcedParts(announced),
  ])
}

const silentWords = (channel: string): string =>
  `<#${channel}> is the default channel, which hears only of what no other channel follows: of this it hears nothing any more.`

function unsubscribed({ removed, announced }: Extract<UnsubscribeOutcome, { kind: 'unsubscribed' }>): Answer {
  return answerOf([
    ...removed.slice(0, SHOWN_MAX).map((one) => line(`:no_bell: *Removed*: ${followed(one)}.`)),
    ...andMore(removed.length - SHOWN_MAX),
    ...announcedParts(announced),
  ])
}

/** Subscriptions that one answer names; `/ci rules` shows all. */
export const SHOWN_MAX = 10

const andMore = (left: number): Part[] =>
  left > 0 ? [line(`… and ${left} more. Type ${typed('/ci rules')} to see them all.`)] : []

/** Nothing where the channel was told: everybody sees it. */
function announcedParts(announced: Announced): Part[] {
  if (announced.kind === 'told') return []
  const { code, isClosed } = announced
  if (!isClosed)
    return [
      line(`:warning: The channel may not have been told of it (Slack's code: ${outside(code, WORD_CHARS_MAX)}).`),
    ]
  const { what, next } = closedWords(code)
  return [line(`:mute: *Paused*: nothing can be said in this channel: ${what}.`), line(nextStep(next))]
}

function keptByFile(shown: ShownSubscription, { reference }: AskedWith): Answer {
  return answerTrouble(
    {
      what: `:lock: *Nothing changed*: the file of subscriptions keeps ${followed(shown)}.`,
      why: 'What stands in that file is changed there, and not from Slack.',
      next: 'Ask whoever runs Buildline to change the file, or name another branch.',
    },
    reference,
  )
}

const tooMany = (max: number) => ({
  what: `:no_entry: *Nothing changed*: this channel has ${max} subscriptions, and more it cannot have.`,
  why: null,
  next: `Type ${typed('/ci rules')} and remove one, or let a pattern such as ${typed('release/*')} stand for several.`,
})

const NO_CHANNEL = {
  what: ':mag: *No channel here*: subscriptions belong to channels, and this is none.',
  why: null,
  next: `Type the same in the channel that should follow.`,
}

const notIn = (channel: string) => ({
  what: `:no_entry: *Nothing changed*: Slack does not say that you are in <#${channel}>.`,
  why: 'Whoever says what a channel is told is in it.',
  next: `Type ${typed('/ci subscribe')} in that channel; join it first, if you have not.`,
})

const faulty = (faults: readonly { field: string; reason: string }[]) => ({
  what: ':mag: *Nothing changed*: that cannot be kept.',
  why: faults
    .slice(0, SHOWN_MAX)
    .map(({ field, reason }) => `${outside(field, WORD_CHARS_MAX)} ${outside(reason, 150)}.`),
  next: `Type it as in ${typed('/ci subscribe acme/web failed recovered release/*')}.`,
})

function notSubscribed({ text, here }: Extract<UnsubscribeOutcome, { kind: 'not-subscribed' }>): Answer {
  const what = text === null ? 'follows nothing that could be removed' : `does not follow ${typed(text)}`
  return answerOf([
    line(`:mag: *Nothing changed*: this channel ${what}.`),
    ...listOf(here),
    line(nextStep(`Type ${typed('/ci rules')} to see what it follows.`)),
  ])
}

const which = (here: readonly ShownSubscription[]): Answer =>
  answerOf([line(':no_bell: *Which one?* This channel follows:'), ...listOf(here)])

const listOf = (here: readonly ShownSubscription[]): Part[] => [
  ...here.slice(0, SHOWN_MAX).flatMap((one): Part[] => {
    const [button] = removeButton(one)
    return [{ kind: 'line', text: `• ${followed(one)}`, ...(button && { button }) }]
  }),
  ...andMore(here.length - SHOWN_MAX),
]

/** Nearly a word that means something: it could be a branch as well, and nothing is kept on a guess. */
export const answerNear = ({ typed: text, meant, usage }: { typed: string; meant: string } & HowTyped): Answer =>
  answerOf([
    line(`:mag: *Not understood*: ${typed(text)} is nearly ${typed(meant)}, or a branch; nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep(`Type ${typed(meant)}, or ${typed(`@${text}`)} for the branch of that name.`)),
  ])

/** Two words that say the opposite of each other. */
export const answerContradiction = ({ one, other, usage }: { one: string; other: string } & HowTyped): Answer =>
  answerOf([
    line(`:mag: *Not understood*: ${typed(one)} and ${typed(other)} do not go together; nothing was done.`),
    line(`Usage: ${typed(usage)}`),
    line(nextStep('Type one of them.')),
  ])
