import { assertNever } from '../../lib/assert.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { counted, joined, mention } from '../../slack/messages/build.ts'
import { SUBSCRIPTION_ACTION_IDS, subscriptionBlockId, SUBSCRIPTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import {
  closedWords,
  detailsWords,
  followedHow,
  followedProject,
  remindsWhen,
  rulesInWords,
} from '../../slack/messages/subscription.ts'
import { digestWords } from '../../slack/messages/digest.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { SOURCE_NAMES } from '../../slack/messages/words.ts'
import { sourceOf } from '../../domain/ids.ts'
import type { ShownSubscription } from '../../projects/subscriptions.ts'
import { answerOf, line, nextStep, row, small, type Answer, type Part, typed } from '../../slack/messages/answer.ts'
import { escapePlain, toLine } from '../../lib/escape.ts'
import { CONFIRM_CHARS_MAX, cut, PROJECT_CHARS_MAX } from '../../slack/messages/limits.ts'
import type { RulesOutcome } from './channel.ts'

/** The most subscriptions with their rules and buttons: each takes up to three of Slack's fifty blocks. */
export const RULES_SHOWN_MAX = 12
/** The most of the others that are named. */
const NAMED_MAX = 30

/** The channel's subscriptions, with their rules and where these come from. */
export function answerRules(outcome: RulesOutcome): Answer {
  if (outcome.kind === 'rules') return outcome.subscriptions.length === 0 ? nothing(outcome) : listed(outcome)
  return answerOf([
    line(':mag: *Not a channel*: only channels can have subscriptions.'),
    line(nextStep('Type the same in a channel.')),
  ])
}

const nothing = ({ digest }: Rules): Answer =>
  answerOf([
    line(':zzz: *This channel has no subscriptions.*'),
    line(nextStep(`Type ${typed('/ci subscribe acme/web')}, or ${typed('/ci subscribe')} alone for a form.`)),
    ...digestParts(digest),
    row(SUBSCRIPTIONS_BLOCK_ID, [addButton]),
  ])

type Rules = Extract<RulesOutcome, { kind: 'rules' }>

const digestParts = (digest: Rules['digest']): Part[] =>
  digest === null ? [] : [line(`:bar_chart: *Digest*: ${digestWords(digest)}`)]

function listed({ subscriptions: all, digest }: Rules): Answer {
  const left = all.slice(RULES_SHOWN_MAX)
  // All subscriptions of a channel are paused, or none is.
  const { paused } = all[0]!
  return answerOf([
    line(`:bell: *${counted(all.length, 'subscription')}* of this channel`),
    ...(paused ? pausedParts(paused.code, { since: dayTime(paused.at) }) : []),
    ...all.slice(0, RULES_SHOWN_MAX).flatMap(subscriptionParts),
    ...(left.length > 0 ? [line(`… and ${left.length} more, without buttons:`)] : []),
    ...left
      .slice(0, NAMED_MAX)
      .map(({ subscription: one }) => line(`• *${followedProject(one)}*: ${followedHow(one)}`)),
    line(left.length > NAMED_MAX ? `… and ${left.length - NAMED_MAX} more` : ''),
    small(whichCounts(all)),
    ...digestParts(digest),
    row(SUBSCRIPTIONS_BLOCK_ID, [addButton]),
  ])
}

/** Which subscription counts for a project that several cover; empty if none does. */
function whichCounts(all: readonly ShownSubscription[]): string {
  const names = all.map(({ subscription }) => followedProject(subscription))
  const isTwice = new Set(names).size < names.length
  const isCovered = all.some(({ subscription }) => subscription.follows.what === 'all') && names.length > 1
  return joined(
    [
      isTwice ? 'Several rules for one project count together: what one of them selects is posted.' : null,
      isCovered ? 'A project with a rule of its own follows only that one, not the one for all projects.' : null,
    ],
    ' ',
  )
}

/** Why nothing is posted in this channel, and the remedy. @param since when that began, if known */
export function pausedParts(
  code: string,
  { since = null, command = '/ci subscribe' }: { since?: string | null; command?: string } = {},
): Part[] {
  const { what, next } = closedWords(code, { where: 'here', command })
  return [
    line(`:mute: *Paused*${since === null ? '' : ` since ${since}`}: Buildline cannot post in this channel: ${what}.`),
    line(nextStep(next)),
  ]
}

function subscriptionParts(shown: ShownSubscription): Part[] {
  const { subscription } = shown
  const { quiet, mention: who, details, remind } = subscription
  const id = subscription.id ?? ''
  return [
    line(`*${followedProject(subscription)}*: ${rulesWords(shown)}`),
    line(
      joined([
        quiet ? 'quiet (replies stay in threads)' : null,
        who === 'nobody' ? 'mentions nobody' : null,
        detailsWords(details),
        remind ? remindsWhen(remind) : null,
        sourceWords(shown),
      ]),
    ),
    ...(isLost(shown) ? [line(LOST)] : []),
    row(subscriptionBlockId(id), [...changeButton(shown), ...removeButton(shown)]),
  ]
}

/** The rules, and where they come from. */
export function rulesWords({ subscription, project, rules, rulesFrom }: ShownSubscription): string {
  if (rulesFrom !== 'ci') return rulesInWords(rules ?? [])
  if (subscription.follows.what !== 'project') return "each project's own rules"
  const source = sourceOf(project?.projectId ?? null)
  if (source !== 'ci') return `${rulesInWords(rules ?? [])} · the default for ${SOURCE_NAMES[source]}`
  if (rules === null) return "the project's rules in CI, which could not be read yet; until then every event"
  if (rules.length === 0) return 'every event on every branch, because the project has no rules for Slack in CI'
  return `${rulesInWords(rules)} · the project's rules in CI`
}

function sourceWords({ subscription }: ShownSubscription): string {
  const { source, createdBy, createdAt } = subscription
  switch (source) {
    case 'file':
      return 'set by the subscriptions file'
    case 'default-channel':
      return 'set by DEFAULT_CHANNEL'
    case 'slack':
      return joined([`made by ${mention(createdBy ?? null) || 'somebody'}`, dayTime(createdAt ?? 0)], ', ')
    default:
      return assertNever(source)
  }
}

const isLost = ({ subscription, project }: ShownSubscription): boolean =>
  subscription.follows.what === 'project' && project === null

const LOST = ':grey_question: Buildline does not know this project. It may have been deleted or renamed.'

/** Only for subscriptions made in Slack: those of a file or a setting are changed there. */
export function removeButton({ subscription }: ShownSubscription): ActionButton[] {
  const { source, id, follows } = subscription
  if (source !== 'slack' || id === undefined) return []
  const name = follows.what === 'project' ? escapePlain(cut(toLine(follows.name), PROJECT_CHARS_MAX)) : 'all projects'
  const text = `This channel will get no more builds of ${name} through it, and sees that you removed it.`
  return [
    {
      ...button(SUBSCRIPTION_ACTION_IDS.remove, 'Remove', id),
      style: 'danger',
      confirm: {
        title: plain('Remove this subscription?'),
        text: plain(cut(text, CONFIRM_CHARS_MAX)),
        confirm: plain('Remove it'),
        deny: plain('Keep it'),
        style: 'danger',
      },
    },
  ]
}

const changeButton = ({ subscription: { source, id } }: ShownSubscription): ActionButton[] =>
  source === 'slack' && id !== undefined ? [button(SUBSCRIPTION_ACTION_IDS.change, 'Change', id)] : []

const button = (id: string, label: string, value: string): ActionButton => ({
  type: 'button',
  action_id: id,
  text: plain(label),
  value,
})

const addButton = button(SUBSCRIPTION_ACTION_IDS.add, 'Subscribe', 'new')
