import { plain } from '../../slack/messages/blocks.ts'
import { maskedProject } from '../../domain/masked-project.ts'
import { isRecord } from '../../lib/json.ts'
import { ruleOf } from '../../domain/rule-input.ts'
import { outside, projectName } from '../../slack/messages/build.ts'
import { cut, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import type { ChannelId } from '../../domain/ids.ts'
import { FORM_FIELDS } from '../../domain/project-fields.ts'
import { namesOf, pipelinesOf, readCreation } from './create.ts'
import {
  branchesInput,
  branchMatchInput,
  pullRequestsInput,
  ruleBlock,
  ruleInput,
  setupInput,
  teamsInput,
  typeInput,
  variableFaults,
  variablesInput,
} from './inputs.ts'
import type { Creation, CreationPreview } from './outcomes.ts'
import { answerOf, line, type Part } from '../../slack/messages/answer.ts'
import { answerNotSent } from './messages.ts'
import { code, command, fieldsWords, filterWords, listed, ruleWords } from './words.ts'
import { outcomeName } from '../command.ts'
import type { SlackDeps } from '../context.ts'
import { respond } from '../respond.ts'
import { INPUT_CHARS_MAX, linesIn, textField, typedIn } from '../fields.ts'
import { FAULT_CHARS_MAX, refusing, showing, type Form, type Received, type ModalView } from '../modal.ts'
import { requesterIn, channelOf, tooLongBy, writeWaiting, type WaitingCreation } from './metadata.ts'
import {
  answerContext,
  CREATE_SEND_CALLBACK_ID,
  CREATE_TITLE,
  waitingView,
  pushedName,
  pushedPlace,
  showInPushed,
} from './send.ts'
import { tooLongWords } from '../slips.ts'

export const CREATE_CALLBACK_ID = 'project_create'

/** The prefix of the block ids of the notification rule. */
const RULE = 'create:rule'

/** The form, empty or with the repository that was named. */
export const createView = (repositoryUrl: string, channel: ChannelId | null): ModalView => ({
  type: 'modal',
  callback_id: CREATE_CALLBACK_ID,
  title: plain(CREATE_TITLE),
  close: plain('Cancel'),
  submit: plain('Look at it'),
  private_metadata: JSON.stringify({ channel }),
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
        hint: 'One a line. A line such as # Unit begins a test pipeline of that name.',
        isOptional: true,
      },
      { isLong: true },
    ),
    variablesInput.draw('create', []),
    ...ruleInput.draw(RULE, null, 'None: CI makes its own, an e-mail to everyone on the team.'),
    textField(
      {
        block: 'create:more',
        label: 'More, as JSON',
        hint: "Any further field of CI's interface: deploy_pipelines, and notification_rules beyond the one above.",
        isOptional: true,
      },
      { isLong: true },
    ),
  ],
})

function receive(body: unknown): Received {
  const variables = variablesInput.read(body, 'create')
  const faults = newVariableFaults(variables)
  if (faults.length > 0)
    return refusing({ 'create:environment_variables': faults.join('; ').slice(0, FAULT_CHARS_MAX) })
  const creation = creationIn(
    body,
    variables.filter((one) => one !== null),
  )
  const read = readCreation(creation)
  if (read.kind === 'faults') return refusing(faultsByBlock(read.faults, creation))
  const [name = creation.repositoryUrl] = namesOf(creation.repositoryUrl)
  const waiting: WaitingCreation = { kind: 'create', name, channel: channelOf(body), creation, evenIfThere: false }
  const excess = tooLongBy(waiting)
  if (excess > 0) return refusing({ [longest(body)]: tooLongWords(excess) })
  const pushed = pushedName(body)
  const view = {
    ...waitingView(CREATE_TITLE, ':hourglass_flowing_sand: Looking whether it is there already …'),
    external_id: pushed,
  }
  return { ack: showing('push', view), work: (deps) => preview(deps, body, waiting) }
}

/** A new project has no old values to keep, so each variable needs one. */
const newVariableFaults = (variables: ReturnType<typeof variablesInput.read>): string[] => [
  ...variableFaults(variables),
  ...variables.flatMap((one, at) => (one?.value === null ? [`line ${at + 1}: type the value`] : [])),
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
  more: typedIn(body, 'create:more').trim() || null,
})

/** Null if nothing was filled in. */
function ruleIn(body: unknown): Creation['rule'] {
  const rule = ruleInput.read(body, RULE)
  const { notifier, target, branch, branchMatch, events, options } = rule
  const said = [notifier, target, branch, branchMatch, ...events, ...Object.values(options)]
  return said.some(Boolean) ? rule : null
}

const OWN_FIELDS: ReadonlySet<string> = new Set([...FORM_FIELDS, 'test_pipelines', 'more'])

function faultsByBlock(
  faults: readonly { field: string; reason: string }[],
  creation: Pick<Creation, 'rule'>,
): Record<string, string> {
  const byBlock: Record<string, string> = {}
  for (const fault of faults) {
    const [block, said] = placed(fault, creation)
    byBlock[block] = [byBlock[block], said].filter(Boolean).join('; ').slice(0, FAULT_CHARS_MAX)
  }
  return byBlock
}

/** A fault in a field that the form lacks is shown at "More". */
function placed(
  { field, reason }: { field: string; reason: string },
  { rule }: Pick<Creation, 'rule'>,
): [block: string, said: string] {
  const ofRule = rule && /^notification_rules\[0\]\.(.+)$/.exec(field)?.[1]
  if (ofRule) return [`${RULE}:${ruleBlock(ofRule)}`, reason]
  const top = /^[^.[]+/.exec(field)?.[0] ?? field
  if (!OWN_FIELDS.has(top)) return ['create:more', `${field} ${reason}`]
  const place = /^[^.[]+\[(\d+)\]$/.exec(field)?.[1]
  return [`create:${top}`, `${place === undefined ? '' : `${Number(place) + 1}: `}${reason}`]
}

const LONG_BLOCKS = [
  'create:more',
  'create:environment_variables',
  'create:setup_commands',
  'create:test_pipelines',
  'create:branches',
]

const longest = (body: unknown): string =>
  LONG_BLOCKS.toSorted((a, b) => typedIn(body, b).length - typedIn(body, a).length)[0]!

function preview(deps: SlackDeps, body: unknown, waiting: WaitingCreation): Promise<void> {
  const by = requesterIn(body, waiting.channel)
  const pushed = pushedName(body)
  const place = pushedPlace(deps, pushed, CREATE_TITLE, null)
  return respond(deps, { what: 'project create', by, place }, async (reference) => {
    const outcome = await deps.operations.projects.previewCreation(waiting.creation, by)
    if (outcome.kind !== 'free' && outcome.kind !== 'exists')
      return { outcome: outcomeName(outcome), answer: answerNotSent(outcome, answerContext('create', reference)) }
    await showInPushed(deps, pushed, lookView(deps, outcome, waiting))
    return { outcome: outcome.kind, answer: null }
  })
}

/** Shows what would be created. The view's metadata holds the creation, encrypted. */
export function lookView(
  { seal }: Pick<SlackDeps, 'seal'>,
  outcome: Extract<CreationPreview, { kind: 'free' | 'exists' }>,
  waiting: WaitingCreation,
): ModalView {
  const isThere = outcome.kind === 'exists'
  return {
    type: 'modal',
    callback_id: CREATE_SEND_CALLBACK_ID,
    title: plain(CREATE_TITLE),
    close: plain('Back'),
    submit: plain(isThere ? 'Create a second one' : 'Create'),
    private_metadata: writeWaiting(seal, { ...waiting, evenIfThere: isThere }),
    blocks: answerOf([
      line(
        isThere
          ? `:warning: *There is ${projectName({ project: outcome.project.name })} in CI already.* Is a second one wanted?`
          : '',
      ),
      ...creationParts(waiting),
    ]).blocks,
  }
}

const ITEMS_MAX = 15

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
    more,
  } = creation
  const list = (head: string, items: readonly string[]) =>
    items.length === 0
      ? []
      : [line(`*${head}:* ${items.slice(0, ITEMS_MAX).map(command).join(', ')}${items.length > ITEMS_MAX ? ' …' : ''}`)]
  return [
    line(`:package: *${projectName({ project: name })}* · ${type === 'pro' ? 'Pro' : 'Basic'}`),
    line(`*Repository:* ${code(repositoryUrl)}`),
    line(
      `*Branches:* ${filterWords({ mode: match, entries: branches })}${onPullRequestsOnly ? ', and only those of pull requests' : ''}`,
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
    ...maskedProject({ notification_rules: rule ? [ruleOf(null, rule)] : [] }).rules.map((one) =>
      line(`*Notifications:* ${ruleWords(one)}`),
    ),
    line(more === null ? '' : `*More:* ${fieldsWords(namesIn(more))}`),
  ]
}

/** The fields that a JSON object names. */
function namesIn(json: string): string[] {
  const fields: unknown = JSON.parse(json)
  return isRecord(fields) ? Object.keys(fields) : []
}

export const projectCreateForm: Form = { what: 'a new project', receive }
