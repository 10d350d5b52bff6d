import type { FieldFault } from '../../domain/rules/rule.ts'
import { filterInWords } from '../../domain/rules/pattern.ts'
import { filterWords, outside, projectLabel } from '../../slack/messages/build.ts'
import { cut, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { topOf } from '../../domain/ci-project/project-change.ts'
import { runAndAnnounce } from './run-and-announce.ts'
import {
  createProject,
  namesInUrl,
  pipelinesOf,
  previewCreation,
  readCreation,
  type Creation,
  type CreationPreview,
} from './create.ts'
import {
  branchesInput,
  branchMatchInput,
  faultsByBlock,
  pullRequestsInput,
  ruleBlock,
  ruleInput,
  setupInput,
  teamsInput,
  typeInput,
  variableFaults,
  variablesInput,
} from './inputs.ts'
import type { ProjectDeps } from './outcomes.ts'
import { answerOf, line, type Part } from '../../slack/messages/answer.ts'
import { answerCreate, answerNotSent } from './messages.ts'
import { code, command, listed, ruleWords } from './words.ts'
import { formChannel } from '../kit/body.ts'
import { replyTo } from '../kit/command.ts'
import type { Requester } from '../../projects/outcomes.ts'
import type { SlackDeps } from '../kit/context.ts'
import { INPUT_CHARS_MAX, linesIn, textField, typedIn } from '../kit/fields.ts'
import { formView, refusing, type Form, type Received, type ModalView } from '../kit/modal.ts'
import {
  readWaiting,
  tooLongBy,
  writeWaiting,
  type WaitingCreation,
  projectContext,
  pushView,
  TITLES,
  waitingFor,
  type Next,
} from './forms.ts'
import { ITEMS_MAX } from './show-messages.ts'
import { tooLongWords } from '../kit/slips.ts'

export const CREATE_CALLBACK_ID = 'project_create'
export const CREATE_SEND_CALLBACK_ID = 'project_create_send'

/** The prefix of the block ids of the notification rule. */
const RULE = 'create:rule'

/** The form, empty or with the repository that was named. */
export const createView = (repositoryUrl: string, channel: ChannelId | null): ModalView =>
  formView({
    id: CREATE_CALLBACK_ID,
    title: TITLES.create,
    submit: 'Preview',
    metadata: JSON.stringify({ channel }),
    blocks: [
      textField(
        {
          block: 'create:repository_url',
          label: 'Repository',
          hint: 'Its address, such as https://host/owner/name or git@host:owner/name.',
        },
        // A cut address is still longer than any valid one, so it is refused.
        { initial: cut(repositoryUrl, INPUT_CHARS_MAX / 2) },
      ),
      typeInput.draw('create', 'basic'),
      teamsInput.draw('create', []),
      pullRequestsInput.draw('create', false),
      branchMatchInput.draw('create', 'include'),
      branchesInput.draw('create', []),
      setupInput.draw('create', []),
      textField(
        {
          block: 'create:test_pipelines',
          label: 'Test commands',
          hint: 'One per line. A line such as # Unit begins a test pipeline of that name.',
          isOptional: true,
        },
        { isLong: true },
      ),
      variablesInput.draw('create', []),
      ...ruleInput.draw(RULE, null, 'None: CI makes its own, an e-mail to everyone on the team.'),
    ],
  })

function receive(deps: ProjectDeps, body: unknown): Received {
  const variables = variablesInput.read(body, 'create')
  const faults = newVariableFaults(variables)
  if (faults.length > 0)
    return refusing(faultsByBlock(faults.map((reason) => ['create:environment_variables', reason])))
  const creation = creationIn(
    body,
    variables.flatMap((one) => (one && one.value !== null ? [{ name: one.name, value: one.value }] : [])),
  )
  const read = readCreation(creation)
  if (read.kind === 'faults') return refusing(faultsByBlock(read.faults.map((fault) => placed(fault, creation))))
  const channel = formChannel(body)
  const [name] = namesInUrl(creation.repositoryUrl)
  const waiting: WaitingCreation = { kind: 'create', name, channel, creation, evenIfThere: false }
  const excess = tooLongBy(waiting)
  if (excess > 0) return refusing({ [longest(body)]: tooLongWords(excess) })
  const view = waitingFor('create', 'Checking whether the project exists …')
  return pushView(body, 'create', { channel, waiting: view }, (slack, by, reference) =>
    preview(deps, slack, waiting, by, reference),
  )
}

/** A new project has no old values to keep, so each variable needs one. */
const newVariableFaults = (variables: ReturnType<typeof variablesInput.read>): string[] => [
  ...variableFaults(variables),
  ...variables.flatMap((one, at) => (one?.value === null ? [`entry ${at + 1}: type the value`] : [])),
]

const creationIn = (body: unknown, variables: Creation['variables']): Creation => ({
  repositoryUrl: typedIn(body, 'create:repository_url').trim(),
  type: typeInput.read(body, 'create'),
  teams: teamsInput.read(body, 'create'),
  onPullRequestsOnly: pullRequestsInput.read(body, 'create'),
  match: branchMatchInput.read(body, 'create'),
  branches: branchesInput.read(body, 'create'),
  setupCommands: setupInput.read(body, 'create'),
  testCommands: linesIn(body, 'create:test_pipelines'),
  variables,
  rule: ruleIn(body),
})

/** Null if no field was filled in. */
function ruleIn(body: unknown): Creation['rule'] {
  const rule = ruleInput.read(body, RULE)
  const { notifier, target, branch, branchMatch, events, options } = rule
  const said = [notifier, target, branch, branchMatch, ...events, ...Object.values(options)]
  return said.some(Boolean) ? rule : null
}

function placed({ field, reason }: FieldFault, { rule }: Creation): [block: string, said: string] {
  const ofRule = rule && /^notification_rules\[0\]\.(.+)$/.exec(field)?.[1]
  if (ofRule) return [`${RULE}:${ruleBlock(ofRule)}`, reason]
  const place = /^[^.[]+\[(\d+)\]$/.exec(field)?.[1]
  return [`create:${topOf(field)}`, `${place === undefined ? '' : `${Number(place) + 1}: `}${reason}`]
}

const LONG_BLOCKS = [
  'create:environment_variables',
  'create:setup_commands',
  'create:test_pipelines',
  'create:branches',
]

const longest = (body: unknown): string =>
  LONG_BLOCKS.toSorted((a, b) => typedIn(body, b).length - typedIn(body, a).length)[0]!

async function preview(
  deps: ProjectDeps,
  slack: SlackDeps,
  waiting: WaitingCreation,
  by: Requester,
  reference: string,
): Promise<Next> {
  const outcome = await previewCreation(deps, waiting.creation, by)
  if (outcome.kind === 'free' || outcome.kind === 'exists')
    return { outcome: outcome.kind, view: previewView(slack, outcome, waiting) }
  return replyTo(outcome, answerNotSent(outcome, projectContext('create', reference)))
}

/** Shows what would be created. The view's metadata holds the creation, encrypted. */
export function previewView(
  { seal }: Pick<SlackDeps, 'seal'>,
  outcome: Extract<CreationPreview, { kind: 'free' | 'exists' }>,
  waiting: WaitingCreation,
): ModalView {
  const isThere = outcome.kind === 'exists'
  return formView({
    id: CREATE_SEND_CALLBACK_ID,
    title: TITLES.create,
    close: 'Back',
    submit: isThere ? 'Create a second one' : 'Create',
    metadata: writeWaiting(seal, { ...waiting, evenIfThere: isThere }),
    blocks: answerOf([
      line(
        isThere
          ? `:warning: *${projectLabel({ project: outcome.project.name })} already exists in CI.* Create a second project?`
          : '',
      ),
      ...creationParts(waiting),
    ]).blocks,
  })
}

function creationParts({ name, creation }: WaitingCreation): Part[] {
  const {
    type,
    repositoryUrl,
    teams,
    match,
    branches,
    setupCommands,
    testCommands,
    variables,
    rule,
    onPullRequestsOnly,
  } = creation
  const list = (head: string, items: readonly string[]) =>
    items.length === 0
      ? []
      : [line(`*${head}:* ${items.slice(0, ITEMS_MAX).map(command).join(', ')}${items.length > ITEMS_MAX ? ' …' : ''}`)]
  return [
    line(`:package: *${projectLabel({ project: name })}* · ${type === 'pro' ? 'Pro' : 'Basic'}`),
    line(`*Repository:* ${code(repositoryUrl)}`),
    line(
      `*Branches:* ${filterWords(filterInWords({ mode: match, entries: branches }))}${onPullRequestsOnly ? ', and only those of pull requests' : ''}`,
    ),
    line(teams.length === 0 ? '' : `*Teams:* ${listed(teams)}`),
    ...list('Setup', setupCommands),
    ...pipelinesOf(testCommands).flatMap(({ name: pipeline, commands }) =>
      list(`Test pipeline ${outside(pipeline, WORD_CHARS_MAX)}`, commands),
    ),
    line(
      variables.length === 0
        ? ''
        : `*Variables:* ${listed(variables.map((one) => one.name))} (their values are not shown)`,
    ),
    line(rule === null ? '' : `*Notifications:* ${ruleWords(rule)}`),
  ]
}

export const projectCreateForm = (deps: ProjectDeps): Form => ({
  what: 'a new project',
  receive: (body) => receive(deps, body),
})

/** "Create": the project that was shown. */
export const projectCreateSendForm = (deps: ProjectDeps): Form => ({
  what: 'a new project',
  receive: (body) =>
    runAndAnnounce(deps, body, 'create', (slack) => {
      const waiting = readWaiting(slack.seal, body)
      if (waiting?.kind !== 'create') return null
      const { creation, evenIfThere } = waiting
      return {
        channel: waiting.channel,
        act: (by) => createProject(deps, creation, by, evenIfThere),
        answer: answerCreate,
      }
    }),
})
