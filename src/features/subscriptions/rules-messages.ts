import { assertNever } from '../../lib/assert.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { joined, mention } from '../../slack/messages/build.ts'
import { SUBSCRIPTION_ACTION_IDS, subscriptionBlockId, SUBSCRIPTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { closedWords, followedProject, rulesInWords } from '../../slack/messages/subscription.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { RulesOutcome, ShownSubscription } from './outcomes.ts'
import { answerOf, line, nextStep, row, type Answer, type Part } from '../../slack/messages/answer.ts'
import { addButton, changeButton, removeButton } from './buttons.ts'
import { typed } from '../../slack/messages/typed.ts'

/** Subscriptions on one page: each takes a few blocks of Slack's fifty. */
export const RULES_PAGE_SIZE = 5

/** What a channel follows, where the rules of each come from, and what they say. */
export function answerRules(outcome: RulesOutcome, page: number): Answer {
  switch (outcome.kind) {
    case 'no-channel':
      return answerOf([
        line(':mag: *No channel here*: subscriptions belong to channels, and this is none.'),
        line(nextStep('Type the same in a channel.')),
      ])
    case 'rules':
      return outcome.subscriptions.length === 0 ? nothing() : listed(outcome.subscriptions, page)
    default:
      return assertNever(outcome)
  }
}

const nothing = (): Answer =>
  answerOf([
    line(':zzz: *This channel follows nothing.*'),
    line(nextStep(`Type ${typed('/ci subscribe acme/web')}, or ${typed('/ci subscribe')} alone for a form.`)),
    row(SUBSCRIPTIONS_BLOCK_ID, [addButton]),
  ])

function listed(all: readonly ShownSubscription[], asked: number): Answer {
  const pages = Math.ceil(all.length / RULES_PAGE_SIZE)
  const page = Math.min(asked, pages)
  const shown = all.slice((page - 1) * RULES_PAGE_SIZE, page * RULES_PAGE_SIZE)
  const count = `${all.length} ${all.length === 1 ? 'subscription' : 'subscriptions'}`
  return answerOf([
    line(joined([`:bell: *${count}* of this channel`, pages > 1 ? `page ${page} of ${pages}` : null])),
    ...pausedParts(all[0]!),
    ...shown.flatMap(subscriptionParts),
    row(SUBSCRIPTIONS_BLOCK_ID, [...pageButtons(page, pages), addButton]),
  ])
}

/** All of a channel are, or none. */
function pausedParts({ paused }: ShownSubscription): Part[] {
  if (!paused) return []
  const { what, next } = closedWords(paused.code)
  const since = dayTime(paused.at)
  return [
    line(`:mute: *Paused*${since === null ? '' : ` since ${since}`}: nothing can be said in this channel: ${what}.`),
    line(nextStep(next)),
  ]
}

function subscriptionParts(shown: ShownSubscription): Part[] {
  const { subscription } = shown
  const { quiet, mention: who } = subscription
  const id = subscription.id ?? ''
  return [
    line(`*${followedProject(subscription)}*: ${rulesWords(shown)}`),
    line(
      joined([
        quiet ? 'quiet: replies stay in their threads' : 'not quiet',
        who === 'committer' ? 'mentions committers' : 'mentions nobody',
        sourceWords(shown),
      ]),
    ),
    ...(isLost(shown) ? [line(LOST)] : []),
    row(subscriptionBlockId(id), [...changeButton(shown), ...removeButton(shown)]),
  ]
}

/** The rules, and whose they are. */
function rulesWords({ subscription, rules, rulesFrom }: ShownSubscription): string {
  if (rulesFrom !== 'ci') return `${rulesInWords(rules ?? [])} · ${OWN[rulesFrom]}`
  if (subscription.follows.what !== 'project') return "each project's own rules, as CI holds them"
  if (rules === null)
    return "the project's own rules, which could not be read from CI yet: every event is told until then"
  if (rules.length === 0) return 'every event on every branch · the project has no rules for Slack in CI'
  return `${rulesInWords(rules)} · the project's own rules, as CI holds them`
}

const OWN = { channel: "this channel's own rules", file: 'rules of the file' } as const

function sourceWords({ subscription }: ShownSubscription): string {
  const { source, createdBy, createdAt } = subscription
  switch (source) {
    case 'file':
      return 'kept by the file of subscriptions: it is changed there'
    case 'default-channel':
      return 'set by DEFAULT_CHANNEL: it is changed there'
    case 'slack':
      return joined([`made by ${mention(createdBy ?? null) || 'somebody'}`, dayTime(createdAt ?? 0)], ', ')
    default:
      return assertNever(source)
  }
}

const isLost = ({ subscription, project }: ShownSubscription): boolean =>
  subscription.follows.what === 'project' && project === null

const LOST = ':grey_question: CI lists no such project, and no build of it was heard of: it may be gone, or not begun.'

function pageButtons(page: number, pages: number): ActionButton[] {
  const { previous, next } = SUBSCRIPTION_ACTION_IDS
  return [
    ...(page > 1 ? [pageButton(previous, 'Previous', page - 1)] : []),
    ...(page < pages ? [pageButton(next, 'Next', page + 1)] : []),
  ]
}

const pageButton = (id: string, label: string, page: number): ActionButton => ({
  type: 'button',
  action_id: id,
  text: plain(label),
  value: String(page),
})
