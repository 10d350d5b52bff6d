import { filterInWords } from '../../domain/rules/pattern.ts'
import { filterWords, firstOf, joined, outside, projectLabel } from '../../slack/messages/build.ts'
import type { MaskedProject, ShownDeployment } from '../../domain/ci-project/masked-project.ts'
import type { Uuid } from '../../domain/ids.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { PROJECT_ACTION_IDS, PROJECT_BLOCK_ID } from '../../slack/messages/ids.ts'
import { TITLE_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { ShownProject } from './outcomes.ts'
import { answerOf, line, row, small, type Answer, type AnswerContext, type Part } from '../../slack/messages/answer.ts'
import { buildLine, typeWord } from '../kit/build.ts'
import { answerCiFailure } from '../kit/fault-messages.ts'
import { answerNotSent } from './messages.ts'
import { andMore, code, command, deploymentTypes, listed, ruleWords } from './words.ts'
import type { ShowOutcome } from './read.ts'

/** At most this many rules are listed, and as many commands and pipelines. */
export const ITEMS_MAX = 15

/** A project: its settings, its notifications, and its last build. */
export function answerProject(outcome: ShowOutcome, context: AnswerContext): Answer {
  if (outcome.kind === 'project') return answerOf(partsOf(outcome))
  if (outcome.kind !== 'ci-trouble') return answerNotSent(outcome, context)
  return answerCiFailure(outcome, ':warning: *The project could not be read*.', context.reference)
}

type Shown = Extract<ShowOutcome, { kind: 'project' }>

const partsOf = ({ shown, mayEdit }: Shown): Part[] => [
  line(
    `:package: *${projectLabel({ project: shown.project.name })}* · ${typeWord(shown.project.type) ?? 'type unknown'}`,
  ),
  line(shown.build === null ? 'Last build: none reported yet' : `Last build: ${buildLine(shown.build)}`),
  ...settings(shown.masked, shown.project.uuid),
  ...ends(shown, mayEdit),
]

const settings = (masked: MaskedProject, uuid: Uuid | null): Part[] => [
  line(
    masked.repository === null
      ? ''
      : `*Repository:* ${joined([code(masked.repository, TITLE_CHARS_MAX), outside(masked.provider, TITLE_CHARS_MAX)])}`,
  ),
  line(
    `*Branches:* ${filterWords(filterInWords(masked.filter))}${masked.onPullRequestsOnly ? ', and only those of pull requests' : ''}`,
  ),
  line(teamWords(masked.teams)),
  ...several('Setup', masked.setupCommands.map(command)),
  ...several(
    'Tests',
    masked.testPipelines.map(({ name, commands }) => pipelineWords(name, commands)),
  ),
  ...several('Deployments', masked.deployments.map(deploymentWords)),
  line(
    masked.variableNames.length === 0
      ? ''
      : `*Variables:* ${listed(masked.variableNames)} (their values are not shown)`,
  ),
  ...rules(masked),
  line(masked.deployKey === null ? '' : `*Deploy key* (public): ${code(masked.deployKey, masked.deployKey.length)}`),
  line(masked.hasAesKey === null ? '' : `*AES key:* ${masked.hasAesKey ? 'there is one (it is not shown)' : 'none'}`),
  small(
    joined([
      uuid === null ? null : `Id ${code(uuid)}`,
      timeWords('created', masked.createdAt),
      timeWords('changed', masked.updatedAt),
    ]),
  ),
  small(
    masked.unknownFields.length === 0
      ? ''
      : `CI also returns ${listed(masked.unknownFields)}: Buildline leaves them unchanged.`,
  ),
]

const timeWords = (what: string, atMs: number | null): string | null => {
  const time = atMs === null ? null : dayTime(atMs)
  return time && `${what} ${time}`
}

/** CI sends teams as numbers, without names. */
function teamWords(teams: readonly string[]): string {
  if (teams.length === 0) return ''
  return teams.length === 1 ? `*Team:* number ${listed(teams)} in CI` : `*Teams:* numbers ${listed(teams)} in CI`
}

const rules = ({ rules: all }: MaskedProject): Part[] =>
  all.length === 0 ? [line('*Notifications:* none')] : several('Notifications', all.map(ruleWords))

const pipelineWords = (name: string | null, commands: readonly string[]): string =>
  joined([outside(name, TITLE_CHARS_MAX), commands.slice(0, ITEMS_MAX).map(command).join(', ')], ': ')

const deploymentWords = ({ branch, match, types }: ShownDeployment): string => {
  const where =
    branch === null
      ? 'every branch'
      : `${code(branch)}${match === null || match === 'exact' ? '' : ` (${outside(match, TITLE_CHARS_MAX)})`}`
  return types.length === 0 ? `from ${where} (CI does not say how)` : `${deploymentTypes(types)}, from ${where}`
}

function several(head: string, items: readonly string[]): Part[] {
  if (items.length === 0) return []
  return [line(`*${head}:*`), ...firstOf(items, ITEMS_MAX, andMore).map((item) => line(`• ${item}`))]
}

/** Only people who may change it get the buttons. Others see who may. */
function ends({ project: { uuid, type } }: ShownProject, mayEdit: boolean): Part[] {
  if (uuid === null) return []
  if (!mayEdit) return [small('Admins can edit it.')]
  const edit: ActionButton = { type: 'button', action_id: PROJECT_ACTION_IDS.edit, text: plain('Edit'), value: uuid }
  const reset: ActionButton = { ...edit, action_id: PROJECT_ACTION_IDS.reset, text: plain('Reset AES key') }
  return [row(PROJECT_BLOCK_ID, type?.toLowerCase() === 'pro' ? [edit, reset] : [edit])]
}
