import { mrkdwnLink } from '../../lib/escape.ts'
import { branchName, outside } from '../../slack/messages/build.ts'
import { ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { WORD_CHARS_MAX, INLINE_URL_CHARS_MAX } from '../../slack/messages/limits.ts'
import { failuresLine } from '../../slack/messages/failures.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { withSourceName, SOURCE_NAMES, reasonWords } from '../../slack/messages/words.ts'
import { answerOf, line, row, small, type Answer, type AnswerContext } from '../../slack/messages/answer.ts'
import { buildButtons, buildLine } from '../kit/build.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import { hiddenParts } from '../kit/not-allowed.ts'
import { sourceOf, type ChannelId, type SourceName } from '../../domain/ids.ts'
import { messageUrl } from '../../alerts/messages/card.ts'
import { patternMode } from '../../domain/rules/pattern.ts'
import type { ChannelRule, RuleResult, RuleVerdict } from '../../domain/rules/rule.ts'
import { eventsInWords } from '../../slack/messages/subscription.ts'
import type { Explained, WhyOutcome, Posted } from './why.ts'

const EVENTS_NAMED_MAX = 5
export const RULES_LISTED_MAX = 8
/** Decisions are listed whole. No further one is listed once they are this long together, in characters. */
export const WHY_CHARS_MAX = 9_000

type Explanation = Extract<WhyOutcome, { kind: 'why' }>

/** Why each build event of a build was or was not posted in each channel, newest first. */
export const answerWhy = (outcome: WhyOutcome, context: AnswerContext): Answer =>
  isNotFound(outcome) ? answerNotFound(outcome, context) : explained(outcome)

function explained({ build, decisions, more, hidden }: Explanation): Answer {
  const listed = listedOf(decisions.toReversed(), sourceOf(build.ref.projectId))
  const left = more + decisions.length - listed.flatMap(({ group }) => group).length
  return answerOf([
    line(buildLine(build)),
    small(failuresLine(build.failures)),
    ...(decisions.length === 0 && hidden === 0 ? [line(NOBODY)] : []),
    ...listed.flatMap(({ lines }) => lines).map(line),
    ...(left > 0 ? [line(`… and ${left} earlier`)] : []),
    ...hiddenParts(hidden),
    row(ACTIONS_BLOCK_ID, buildButtons(build)),
  ])
}

const NOBODY = 'No channel follows this project, so nothing was posted.'

interface Listed {
  group: readonly Explained[]
  lines: readonly string[]
}

/** The lines of each group of decisions, the newest first; at least one is listed. */
function listedOf(newestFirst: readonly Explained[], source: SourceName): Listed[] {
  const listed: Listed[] = []
  let chars = 0
  for (const group of Map.groupBy(newestFirst, whatIsAlike).values()) {
    const keyOf = ({ channel, posted }: Explained) => JSON.stringify([channel, posted])
    const isPostedShown = listed.some((one) => keyOf(one.group[0]!) === keyOf(group[0]!))
    const lines = groupLines(group, source, isPostedShown)
    chars += lines.join('\n').length
    if (listed.length > 0 && chars > WHY_CHARS_MAX) break
    listed.push({ group, lines })
  }
  return listed
}

/** Build events with the same decision are named together: everything but the event itself is equal. */
const whatIsAlike = ({ rawStatus: _word, at: _at, events: _events, ...decided }: Explained): string =>
  JSON.stringify(decided)

/**
 * The verdict with its reason in one line, a line for each rule that was checked, and what is posted in the channel.
 * @param isPostedShown whether an earlier group of the answer has said what is posted there
 */
function groupLines(group: readonly Explained[], source: SourceName, isPostedShown: boolean): string[] {
  const decision = { ...group[0]!, events: [...new Set(group.flatMap(({ events }) => events))] }
  const { channel, verdict, reason, ruleResults } = decision
  const left = ruleResults.length - RULES_LISTED_MAX
  return [
    `• <#${channel}> ${VERDICTS[verdict]}: ${receivedWords(group)}. ${withSourceName(source, reasonWords(reason))}`,
    ...ruleResults
      .slice(0, RULES_LISTED_MAX)
      .map((one, n) => `    ◦ rule ${n + 1}${ruleResultWords(one, decision, source)}`),
    ...(left > 0 ? [`    ◦ … and ${left} more`] : []),
    ...(isPostedShown ? [] : [`    ◦ ${postedWords(decision)}`]),
  ]
}

/** `error, received May 4th 14:09; initiated, received May 4th 14:02` */
function receivedWords(group: readonly Explained[]): string {
  const words = group.slice(0, EVENTS_NAMED_MAX).map(({ rawStatus, at }) => {
    const when = dayTime(at)
    return `${outside(rawStatus, WORD_CHARS_MAX) || '(no word)'}${when === null ? '' : `, received ${when}`}`
  })
  const left = group.length - EVENTS_NAMED_MAX
  return [...words, ...(left > 0 ? [`and ${left} earlier`] : [])].join('; ')
}

const VERDICTS: Record<Explained['verdict'], string> = {
  post: '*posted*',
  update: '*card updated*',
  silent: '*not posted*',
}

/** The recorded messages about a build event in the channel, with their times. Markup. */
function postedWords({ channel, posted, verdict }: Pick<Explained, 'channel' | 'posted' | 'verdict'>): string {
  if (posted.length > 0) return `now: ${posted.map((one) => oneWords(one, channel)).join(' · ')}`
  return verdict === 'post' ? 'not posted yet' : 'nothing was posted'
}

function oneWords(posted: Posted, channel: ChannelId): string {
  const what = NAMES[posted.slot] ?? 'reply in the thread'
  switch (posted.state) {
    case 'waiting':
      return `${what}, waiting to be posted`
    case 'gone':
      return `${what}, deleted, or too old to be edited`
    case 'posted':
      return `${linked(what, posted, channel)}${timeOf(posted)}`
  }
}

const NAMES: Readonly<Record<string, string>> = { card: 'card', notice: 'the account notice of that day' }

const linked = (what: string, { ts }: Posted, channel: ChannelId): string =>
  ts === null ? what : mrkdwnLink(messageUrl(channel, ts), what, INLINE_URL_CHARS_MAX)

function timeOf({ ts }: Posted): string {
  const at = ts === null ? null : dayTime(Number(ts) * 1_000)
  return at === null ? '' : ` of ${at}`
}

type About = Pick<Explained, 'branch' | 'events'>

/** The rule's origin, its conditions in order, and the first one that failed. Markup. */
function ruleResultWords({ rule, from, verdict }: RuleResult, about: About, source: SourceName): string {
  const whose = from === 'ci' ? ownRules(source) : FROM[from]
  return ` (${whose}) ${ENDED[verdict]}: ${branchWords(rule, verdict, about, source)}; ${eventWords(rule, verdict, about)}`
}

/** Projects of GitHub and GitLab have no rules of their own, so a default applies. */
const ownRules = (source: SourceName): string =>
  source === 'ci' ? "the project's own, in CI" : `the default for ${SOURCE_NAMES[source]}`

const FROM = {
  channel: "the channel's own",
  file: 'in the subscriptions file',
} as const

const ENDED: Record<RuleVerdict, string> = {
  selects: '*selects it*',
  'branch-not-matched': '*fails at its branch*',
  'branch-unknown': '*fails at its branch*',
  'pattern-invalid': '*fails at its branch*',
  'event-not-selected': '*fails at its events*',
}

/** ``✓ branch: `release/*` (wildcard) matches `release/1` `` */
function branchWords(
  { branch: pattern, branchMatch }: ChannelRule,
  verdict: RuleVerdict,
  { branch }: About,
  source: SourceName,
): string {
  if (pattern === null || pattern === '') return '✓ any branch'
  const mode = outside(patternMode(pattern, branchMatch), WORD_CHARS_MAX)
  const wanted = `${branchName(pattern)} (${mode})`
  const own = branch === null ? 'a build without a branch' : branchName(branch)
  switch (verdict) {
    case 'branch-not-matched':
      return `✗ branch: ${wanted} does not match ${own}`
    case 'branch-unknown':
      return `✗ branch: ${wanted} needs a branch, but ${SOURCE_NAMES[source]} named none`
    case 'pattern-invalid':
      return `✗ branch: ${wanted} is not a valid pattern and matches nothing`
    case 'selects':
    case 'event-not-selected':
      return `✓ branch: ${wanted} matches ${own}`
  }
}

/** `✗ event: success is not one of failed, recovered` */
function eventWords({ events }: ChannelRule, verdict: RuleVerdict, about: About): string {
  switch (verdict) {
    case 'selects':
      return events === 'every'
        ? '✓ any event'
        : `✓ event: *${about.events.filter((event) => events.includes(event)).join(', ')}*`
    case 'event-not-selected':
      return `✗ event: ${oneOf(about.events, events, ' not')}`
    case 'branch-not-matched':
    case 'branch-unknown':
    case 'pattern-invalid':
      return 'its events were not checked'
  }
}

const oneOf = (those: readonly string[], events: ChannelRule['events'], not = ''): string =>
  `${those.join(', ')} ${those.length === 1 ? `is${not} one of` : `are${not} among`} ${eventsInWords(events)}`
