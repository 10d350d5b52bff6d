import { ruleOf, type FieldFault, type RuleInput } from '../../domain/rules/rule.ts'
import { projectLabel } from '../../slack/messages/build.ts'
import { cut } from '../../slack/messages/limits.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { topOf } from '../../domain/ci-project/project-change.ts'
import { runAndAnnounce } from './run-and-announce.ts'
import { checkCreation, type ProjectCreation } from '../../sources/ci-service/check-creation.ts'
import { createProject, namesInUrl, previewCreation, type CreationPreview } from './create.ts'
import { visibleDifferences } from './edit.ts'
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
import { answerOf, line } from '../../slack/messages/answer.ts'
import { answerCreate, answerNotSent } from './messages.ts'
import { differenceParts } from './words.ts'
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
  const unsendable = checkCreation(creation)
  if (unsendable.length > 0) return refusing(faultsByBlock(unsendable.map(placed)))
  const channel = formChannel(body)
  const [name] = namesInUrl(creation.repository_url)
  const waiting: WaitingCreation = { kind: 'creation', name, channel, creation, evenIfThere: false }
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

/** Fields that were left empty are not sent, so that CI fills them in. */
export function creationIn(
  body: unknown,
  variables: NonNullable<ProjectCreation['environment_variables']>,
): ProjectCreation {
  const branches = branchesInput.read(body, 'create')
  const setup = setupInput.read(body, 'create')
  const pipelines = pipelinesOf(linesIn(body, 'create:test_pipelines'))
  const rule = ruleIn(body)
  return {
    repository_url: typedIn(body, 'create:repository_url').trim(),
    type: typeInput.read(body, 'create'),
    team_ids: teamsInput.read(body, 'create'),
    build_on_pr_only: pullRequestsInput.read(body, 'create'),
    ...(branches.length > 0 && { branch_match: branchMatchInput.read(body, 'create'), branches }),
    ...(setup.length > 0 && { setup_commands: setup }),
    ...(pipelines.length > 0 && { test_pipelines: pipelines }),
    ...(rule && { notification_rules: [ruleOf(null, rule)] }),
    ...(variables.length > 0 && { environment_variables: variables }),
  }
}

/** The name of a test pipeline that the form does not name. */
const PIPELINE_NAME = 'Tests'

/** A line `# Name` is not a command: it begins a pipeline of that name. */
function pipelinesOf(lines: readonly string[]): { name: string; commands: string[] }[] {
  const pipelines: { name: string; commands: string[] }[] = []
  for (const text of lines) {
    const name = /^#\s*(\S.*)$/.exec(text)?.[1]
    if (name !== undefined || pipelines.length === 0) pipelines.push({ name: name ?? PIPELINE_NAME, commands: [] })
    if (name === undefined) pipelines.at(-1)!.commands.push(text)
  }
  return pipelines
}

/** Null if no field was filled in. */
function ruleIn(body: unknown): RuleInput | null {
  const rule = ruleInput.read(body, RULE)
  const { notifier, target, branch, branchMatch, events, options } = rule
  const said = [notifier, target, branch, branchMatch, ...events, ...Object.values(options)]
  return said.some(Boolean) ? rule : null
}

function placed({ field, reason }: FieldFault): [block: string, said: string] {
  const ofRule = /^notification_rules\[0\]\.(.+)$/.exec(field)?.[1]
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
      line(`:package: *${projectLabel({ project: waiting.name })}*`),
      ...differenceParts(visibleDifferences({}, waiting.creation)),
    ]).blocks,
  })
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
      if (waiting?.kind !== 'creation') return null
      const { creation, evenIfThere } = waiting
      return {
        channel: waiting.channel,
        act: (by) => createProject(deps, creation, by, evenIfThere),
        answer: answerCreate,
      }
    }),
})
