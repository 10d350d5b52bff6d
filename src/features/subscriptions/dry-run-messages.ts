import { counted, firstOf, onBranch, outside, projectLabel } from '../../slack/messages/build.ts'
import { codeSpan } from '../../lib/escape.ts'
import { WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { rulesInWords } from '../../slack/messages/subscription.ts'
import { hiddenParts } from '../kit/not-allowed.ts'
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
import { answerNotFound } from '../kit/not-found.ts'
import { reasonWords } from '../../slack/messages/words.ts'
import type { DryChannel, DryRunOutcome } from './dry-run.ts'

/** At most this many channels are named for each event; the others are counted. */
export const DRY_CHANNELS_MAX = 10

type DryRun = Extract<DryRunOutcome, { kind: 'dry-run' }>

/** The channels that would get each event, and why. */
export function answerDryRun(outcome: DryRunOutcome, context: AnswerContext): Answer {
  if (outcome.kind === 'dry-run') return answerOf(tried(outcome))
  if (outcome.kind !== 'unknown-event') return answerNotFound(outcome, context)
  return answerError({
    what: `:mag: *No such event*: ${typed(outcome.text)}.`,
    why: `The events are: ${outcome.events.map(codeSpan).join(', ')}.`,
    next: `For example: ${typed('/ci rules test acme/web main failed')}`,
  })
}

function tried({ project, branch, events, unread, hidden }: DryRun): Part[] {
  const noneShown = events.every(({ channels }) => channels.length === 0)
  const nobody = noneShown && hidden === 0
  return [
    line(
      `:crystal_ball: *Dry run*: ${projectLabel({ project: project.name })}${onBranch({ branch })}. Nothing is built or posted.`,
    ),
    line(unread ? UNREAD : ''),
    ...(nobody ? NOBODY : noneShown ? [] : eventParts(events)),
    ...hiddenParts(hidden),
    small(events.some(({ channels }) => channels.some(mentionsSomebody)) ? MENTIONS : ''),
    small(nobody ? '' : 'This is for a first build. A card that exists already shows every later state of its build.'),
  ]
}

const mentionsSomebody = ({ decision: { verdict, loud }, mentions }: DryChannel): boolean =>
  verdict === 'post' && loud && mentions

const MENTIONS = 'A failure mentions its committer, if the name is claimed.'

const UNREAD =
  ":warning: The project's rules could not be read from CI yet. Until then, channels that follow them get every event."

const NOBODY: Part[] = [
  line('*No channel follows this project*, so nothing would be posted.'),
  line(nextStep(`Type ${typed('/ci subscribe')} in the channel that should get its builds.`)),
]

/** Events with the same result are listed together. */
function eventParts(events: DryRun['events']): Part[] {
  const alike = Map.groupBy(events, ({ channels }) => channelLines(channels).join('\n'))
  return [...alike.values()].flatMap((those): Part[] => [
    line(`*${those.map(({ event }) => outside(event, WORD_CHARS_MAX)).join(', ')}*`),
    ...channelLines(those[0]!.channels).map(line),
  ])
}

function channelLines(channels: readonly DryChannel[]): readonly string[] {
  const more = (left: number) => `    … and ${counted(left, 'more channel')}`
  return firstOf(channels.map(channelWords), DRY_CHANNELS_MAX, more)
}

function channelWords({ channel, decision, quiet, mentions, paused }: DryChannel): string {
  const { verdict, reason, loud } = decision
  const isPosted = verdict === 'post'
  const extras = [
    isPosted && loud && !quiet ? ' Also sent to the channel.' : '',
    isPosted && loud && quiet ? ' Quiet: replies stay in the thread.' : '',
    isPosted && loud && !mentions ? ' Mentions nobody.' : '',
    paused ? ' *Paused* until Buildline can post there again.' : '',
  ].join('')
  return `    • <#${channel}> ${isPosted ? '*would get it*' : '*would not get it*'}: ${reasonWords(reason)}${decidingRule(decision)}${extras}`
}

const FROM = {
  ci: "one of the project's own rules",
  channel: "one of the channel's own rules",
  file: "one of the subscriptions file's rules",
} as const

/** The deciding rule, and its origin. */
function decidingRule({ ruleResults, reason }: DryChannel['decision']): string {
  const one =
    ruleResults.find(({ verdict }) => verdict === 'selects') ?? ruleResults.find(({ verdict }) => verdict === reason)
  if (!one?.rule) return ''
  return ` Rule: ${rulesInWords([one.rule])}${one.from === null ? '' : `, ${FROM[one.from]}`}.`
}
