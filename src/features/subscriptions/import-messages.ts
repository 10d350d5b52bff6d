import { CHANGES } from '../../domain/rules/rule.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { counted, firstFew, firstOf, outside } from '../../slack/messages/build.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { IMPORT_BLOCK_ID, SUBSCRIPTION_ACTION_IDS } from '../../slack/messages/ids.ts'
import { cut, PROJECT_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { followedHow, rulesInWords } from '../../slack/messages/subscription.ts'
import {
  answerOf,
  answerError,
  line,
  nextStep,
  row,
  typed,
  type Answer,
  type AnswerContext,
  type Part,
} from '../../slack/messages/answer.ts'
import { importValue } from '../kit/values.ts'
import type { Imported, ImportedOutcome, Proposal, ProposalOutcome, ProposedRepository } from './import.ts'
import { isNotFound } from '../kit/not-found.ts'
import { andMore, announcedParts, answerSubscribe, followed, SHOWN_MAX, silentWords } from './messages.ts'
import type { Foreseen } from './subscribe.ts'

type Proposed = Extract<ProposalOutcome, { kind: 'proposed' }>

/** The most subscriptions that one button makes; fewer if they do not fit into its value. */
export const PROPOSED_MAX = 20

/** The proposed subscriptions, the differences from GitHub's app, and the button that makes them. */
export function answerProposal(outcome: ProposalOutcome, context: AnswerContext): Answer {
  if (outcome.kind === 'proposed') return proposed(outcome)
  if (outcome.kind === 'nothing-listed') return answerError(NOTHING_LISTED)
  if (outcome.kind === 'too-long') return answerError(tooLong(outcome.max))
  return answerSubscribe(outcome, context)
}

const NOTHING_LISTED = {
  what: ':mag: *Nothing to import*: there is no repository in this text.',
  why: `Paste what ${typed('/github subscribe list features')} prints.`,
  next: `For example: ${typed('/ci import acme/web - issues, workflows:{branch:"main"}')}`,
}

const tooLong = (max: number) => ({
  what: `:mag: *Too long*: one import takes ${max.toLocaleString('en-US')} characters, and nothing was read.`,
  why: null,
  next: 'Paste the list in parts.',
})

function proposed(outcome: Proposed): Answer {
  const fresh = outcome.proposals.filter(isFresh)
  const { carried, value } = carriedBy(fresh)
  const left = fresh.length - carried.length + outcome.moreProposals
  return answerOf([
    line(headline(outcome, carried.length)),
    ...carried.map((one) => line(freshLine(one))),
    ...(left > 0 ? [line(`… and ${left} more. ${value === null ? BY_ITSELF : AGAIN}`)] : []),
    ...standing(outcome.proposals),
    ...differences(outcome),
    ...(value === null ? [] : [row(IMPORT_BLOCK_ID, [button(value)])]),
  ])
}

const AGAIN = 'Press the button, then paste the same list again.'
const BY_ITSELF = 'Paste the rest of the list separately.'

type Fresh = Proposal & { end: Foreseen }

const isFresh = (one: Proposal): one is Fresh => one.end.kind === 'would-subscribe'

/** The proposals that fit into the button's value, in their order. */
function carriedBy(fresh: readonly Fresh[]) {
  let carried: Fresh[] = []
  let value: string | null = null
  for (const one of fresh.slice(0, PROPOSED_MAX)) {
    const longer = importValue([...carried, one])
    if (longer === null) continue
    carried = [...carried, one]
    value = longer
  }
  return { carried, value }
}

const button = (value: string) =>
  ({
    type: 'button',
    action_id: SUBSCRIPTION_ACTION_IDS.import,
    text: plain('Subscribe to these'),
    value,
    style: 'primary',
  }) as const

function headline({ proposals }: Proposed, count: number): string {
  if (count > 0)
    return `:inbox_tray: *${counted(count, 'subscription')}* to import. Nothing is subscribed until you press the button.`
  const isAllThere = proposals.length > 0 && proposals.every(({ end }) => end.kind === 'same')
  return isAllThere
    ? ':bell: *Already subscribed* to all of this.'
    : ':mag: *Nothing to import*: nothing was subscribed.'
}

function freshLine({ name, end }: Fresh): string {
  const instead = end.was ? `, in place of: ${followedHow(end.was.subscription)}` : ''
  return `• *${nameOf(name)}*: ${followedHow(end.subscription)}${instead}`
}

const nameOf = (text: string): string => outside(text, PROJECT_CHARS_MAX) || '(no name)'

/** The proposals that would change nothing. */
function standing(proposals: readonly Proposal[]): Part[] {
  const lines = proposals
    .filter((one) => !isFresh(one))
    .map(({ name, branch, end }) => {
      const how = rulesInWords([{ branch, branchMatch: null, events: CHANGES }])
      return `• *${nameOf(name)}*: ${how} (${STANDING.get(end.kind) ?? 'left out: this cannot be subscribed'})`
    })
  return shortened(lines).map(line)
}

const STANDING: ReadonlyMap<Proposal['end']['kind'], string> = new Map([
  ['same', 'already subscribed'],
  ['set-elsewhere', 'left out: the subscriptions file says what this channel gets'],
  ['faults', 'left out: no branch can have this name'],
])

const shortened = (lines: readonly string[]): readonly string[] =>
  firstOf(lines, SHOWN_MAX, (left) => `… and ${left} more.`)

/** The differences between Buildline and the list, each once. */
function differences({ repositories, accounts, more }: Proposed): Part[] {
  const known = repositories.filter(({ isKnown }) => isKnown)
  const those = (isSo: (one: ProposedRepository) => boolean, words: string) => about(known.filter(isSo), words)
  const differing = [
    known.length > 0 ? EVERY_RUN : '',
    those(({ listed }) => listed.workflows.length === 0 && listed.features.length === 0, NO_FEATURES),
    those(({ listed }) => listed.workflows.length === 0 && listed.features.length > 0, NO_WORKFLOWS),
    those(({ listed }) => listed.workflows.some(isFiltered), FILTERED),
    those(({ listed }) => listed.workflows.some(isOnPullRequests), PULL_REQUESTS),
    about(
      repositories.filter(({ isKnown }) => !isKnown),
      NOT_KNOWN,
    ),
    workflowsLeftOut(known),
    featuresLeftOut(repositories),
    accounts.length > 0 ? `${named(accounts)}: whole accounts are not imported, only repositories.` : '',
    more > 0 ? `Not read: ${more} more. ${BY_ITSELF}` : '',
  ].filter((text) => text !== '')
  return differing.length === 0 ? [] : [line('*What differs*'), ...differing.map((text) => line(`• ${text}`))]
}

const EVERY_RUN =
  "GitHub's app posts every run. Buildline posts when a branch breaks, and when it is fixed (`changes`); `/ci subscribe` has further events."
const NO_FEATURES = `the list does not say which branches; ${typed('/github subscribe list features')} prints a list that does.`
const NO_WORKFLOWS = "GitHub's app posts no runs of it here (no `workflows`); Buildline would."
const FILTERED = 'filters by `event` and `actor` are left out.'
const PULL_REQUESTS =
  "for pull requests GitHub's app means the branch that they go to, Buildline the branch that is built."
const NOT_KNOWN =
  'not known here. Ask the person who runs Buildline to name this in `GITHUB_REPOSITORIES`. A workflow is known from its first run.'

type Filter = ProposedRepository['listed']['workflows'][number]

const isFiltered = ({ events, actors }: Filter): boolean => events.length > 0 || actors.length > 0

const isOnPullRequests = ({ events, branches }: Filter): boolean =>
  branches.length > 0 && events.some((event) => event.startsWith('pull_request'))

const about = (those: readonly ProposedRepository[], words: string): string =>
  those.length === 0 ? '' : `${named(those.map(({ listed }) => listed.name))}: ${words}`

const named = (names: readonly string[]): string => firstFew(names.map(nameOf), SHOWN_MAX)

function workflowsLeftOut(known: readonly ProposedRepository[]): string {
  const names = known.flatMap(({ listed, unknownWorkflows }) => unknownWorkflows.map((one) => `${listed.name} ${one}`))
  return names.length === 0 ? '' : `${named(names)}: no such workflow has run yet.`
}

function featuresLeftOut(repositories: readonly ProposedRepository[]): string {
  const names = [...new Set(repositories.flatMap(({ listed }) => listed.features))]
  if (names.length === 0) return ''
  const shown = names.map((name) => codeSpan(cut(toLine(name), WORD_CHARS_MAX)))
  return `Left out, because Buildline posts builds and nothing else: ${firstFew(shown, SHOWN_MAX)}.`
}

/** The proposed subscriptions that the channel now has. */
export function answerImported(outcome: ImportedOutcome, context: AnswerContext): Answer {
  if (outcome.kind !== 'imported') return answerSubscribe(outcome, context)
  const { subscribed, ends, announced, silent } = outcome
  const same = ends.filter(({ kind }) => kind === 'same').length
  const unmade = ends.flatMap(unmadeLine)
  return answerOf([
    ...subscribed.slice(0, SHOWN_MAX).map((one) => line(`:bell: *Subscribed* to ${followed(one)}.`)),
    ...andMore(subscribed.length - SHOWN_MAX),
    ...(same > 0 ? [line(`:bell: *Already subscribed*: ${same} of ${ends.length}.`)] : []),
    ...shortened(unmade).map(line),
    ...(silent === null ? [] : [line(silentWords(silent))]),
    ...(announced === null ? [] : announcedParts(announced)),
    line(nextStep(`Type ${typed('/ci rules')} to see and change all subscriptions.`)),
  ])
}

function unmadeLine(end: Imported): string[] {
  if (end.kind === 'saved' || end.kind === 'same') return []
  if (end.kind === 'set-elsewhere') return [`:lock: *Unchanged*: the subscriptions file sets ${followed(end.shown)}.`]
  if (end.kind === 'too-many')
    return [`:no_entry: *Not subscribed*: this channel already has ${end.max} subscriptions, which is the limit.`]
  return [isNotFound(end) ? `:mag: *Not subscribed*: ${typed(end.text)} is not known any more.` : NOT_OURS]
}

const NOT_OURS = ':mag: *Not subscribed*: one of the proposals is invalid.'
