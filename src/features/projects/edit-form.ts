import { plain, section, type Block } from '../../slack/messages/blocks.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { PreviewOutcome } from './outcomes.ts'
import { topOf } from './prepare.ts'
import { answerOf, line, type AnswerContext } from '../../slack/messages/answer.ts'
import { answerOldForm } from '../fault-messages.ts'
import { differenceParts, fieldsWords, unshownWords } from './words.ts'
import { answerNoDifference, answerChangedMeanwhile, answerNotSent } from './messages.ts'
import { answerProject } from './show-messages.ts'
import { textAt } from '../body.ts'
import { outcomeName } from '../command.ts'
import type { SlackDeps, Reply } from '../context.ts'
import { respond } from '../respond.ts'
import { awayFrom } from './announce-and-run.ts'
import type { FieldHandler } from '../feature.ts'
import {
  refusing,
  showing,
  type Form,
  type Received,
  FAULT_CHARS_MAX,
  answerView,
  type ModalView,
  placeIn,
  showIn,
} from '../modal.ts'
import { editView } from './edit-view.ts'
import { requesterIn, readMemory, tooLongBy, writeWaiting, type FormMemory, type WaitingEdit } from './metadata.ts'
import { answerContext, EDIT_TITLE, SEND_CALLBACK_ID, pushedName, pushedPlace, showInPushed } from './send.ts'
import { tooLongWords } from '../slips.ts'
import { checkFilter, checkRule } from '../../sources/ci-service/check-rule.ts'
import {
  branchesInput,
  branchMatchInput,
  pullRequestsInput,
  ruleBlock,
  ruleInput,
  setupInput,
  teamFaults,
  teamsInput,
  typeInput,
  variableFaults,
  variablesInput,
} from './inputs.ts'
import type { ProjectChange } from '../../domain/project-change.ts'
import type { FieldFault } from '../../domain/project.ts'
import type { RuleInput } from '../../domain/rule-input.ts'
import { checkedIn } from '../fields.ts'

const WHAT = 'project edit'

/** Handles the choice of another part: draws its fields with CI's current values. */
export const choosePart: FieldHandler = async (deps, body, action) => {
  const memory = readMemory(body)
  const viewId = textAt(body, 'view', 'id') ?? ''
  const by = requesterIn(body, memory?.channel ?? null)
  const isCurrent = deps.newest.note(viewId)
  const place = placeIn(deps.client, viewId, EDIT_TITLE, awayFrom(deps, by))
  await respond(deps, { what: WHAT, by, place }, async (reference): Promise<Reply> => {
    if (!memory) return { outcome: 'old', answer: answerOldForm() }
    const refused = await deps.operations.projects.mayAdminister(by)
    const context = askedEdit(reference)
    if (refused.kind !== 'yes') return { outcome: refused.kind, answer: answerNotSent(refused, context) }
    const outcome = await deps.operations.projects.show(memory.project, by)
    if (outcome.kind !== 'project' || outcome.stale)
      return { outcome: outcomeName(outcome), answer: answerProject(outcome, context) }
    const part = textAt(action, 'selected_option', 'value')
    if (isCurrent()) await showIn(deps.client, viewId, editView(outcome.shown, part, memory.channel))
    return { outcome: 'part', answer: null }
  })
}

const askedEdit = (reference: string): AnswerContext => answerContext('edit', reference)

/** Handles the submitted form: checks it at once, then compares it with what CI has now. */
function receive(body: unknown): Received {
  const memory = readMemory(body)
  const reading = memory && readEdit(body, memory)
  if (!memory || !reading) return { ack: showing('update', answerView(EDIT_TITLE, answerOldForm())), work: null }
  if (reading.kind === 'faults') return refusing(reading.faults)
  const { name, project, channel, base } = memory
  const waiting: WaitingEdit = { kind: 'edit', project, name, channel, change: reading.change, base, fields: [] }
  const excess = tooLongBy(waiting)
  if (excess > 0) return refusing({ [reading.block]: tooLongWords(excess) })
  const view = { ...comparingView(name), external_id: pushedName(body) }
  return { ack: showing('push', view), work: (deps) => compare(deps, body, memory, waiting) }
}

/** Shown on top of the form until CI has answered. */
export const comparingView = (name: string): ModalView => ({
  type: 'modal',
  title: plain(EDIT_TITLE),
  close: plain('Back'),
  blocks: [section(`:hourglass_flowing_sand: Comparing with what CI has of *${projectName({ project: name })}* …`)],
})

function compare(deps: SlackDeps, body: unknown, { channel }: FormMemory, waiting: WaitingEdit): Promise<void> {
  const by = requesterIn(body, channel)
  const pushed = pushedName(body)
  // A person who closed the form has given up the change.
  const place = pushedPlace(deps, pushed, EDIT_TITLE, null)
  return respond(deps, { what: WHAT, by, place }, async (reference) => {
    const outcome = await deps.operations.projects.preview(waiting, by)
    if (outcome.kind !== 'preview')
      return { outcome: outcomeName(outcome), answer: answerNoPreview(outcome, reference) }
    await showInPushed(deps, pushed, differenceView(deps, outcome, waiting))
    return { outcome: outcome.kind, answer: null }
  })
}

export function answerNoPreview(outcome: Exclude<PreviewOutcome, { kind: 'preview' }>, reference: string) {
  if (outcome.kind === 'no-difference') return answerNoDifference(outcome.project.name)
  if (outcome.kind === 'changed-meanwhile') return answerChangedMeanwhile(outcome)
  return answerNotSent(outcome, askedEdit(reference))
}

type Preview = Extract<PreviewOutcome, { kind: 'preview' }>

/** Shows what would be sent to CI. The view's metadata holds the change, encrypted. */
export function differenceView({ seal }: Pick<SlackDeps, 'seal'>, preview: Preview, waiting: WaitingEdit): ModalView {
  const { base, differences } = preview
  // Top-level names are enough for the channel, and short.
  const fields = [...new Set(differences.map(({ field }) => topOf(field)))]
  return {
    type: 'modal',
    callback_id: SEND_CALLBACK_ID,
    title: plain(EDIT_TITLE),
    close: plain('Back'),
    submit: plain('Send to CI'),
    private_metadata: writeWaiting(seal, { ...waiting, base, fields: fields.slice(0, FIELDS_MAX) }),
    blocks: differenceBlocks(preview),
  }
}

/** At most this many fields are named in the channel. */
const FIELDS_MAX = 5

const differenceBlocks = ({ project: { name }, differences, theirs, unshown }: Preview): Block[] =>
  answerOf([
    line(
      `*${projectName({ project: name })}*: this changes, and nothing else ${unshown.length === 0 ? 'does' : 'that CI shows'}.`,
    ),
    line(
      unshown.length === 0
        ? ''
        : `:warning: *CI does not show ${unshownWords(unshown)}.* An update replaces everything: what CI has there may be lost. Look at it in CI before you send this.`,
    ),
    ...differenceParts(differences),
    line(
      theirs.length === 0
        ? ''
        : `:warning: Since you opened the form somebody else changed ${fieldsWords(theirs)}. What you see is compared with how it is now.`,
    ),
  ]).blocks

export const projectEditForm: Form = { what: 'the changes to a project', receive }

/** Faults by block id. */
type Faults = Readonly<Record<string, string>>

type EditReading = { kind: 'change'; change: ProjectChange; block: string } | { kind: 'faults'; faults: Faults }

/** The submitted change, or its faults by block. `block`: the field that holds most of the change. */
function readEdit(body: unknown, memory: FormMemory): EditReading | null {
  switch (memory.part) {
    case null:
      return null
    case 'builds':
      return readBuilds(body)
    case 'setup':
      return changeOf('edit:setup_commands', { what: 'setup', commands: setupInput.read(body, 'edit') })
    case 'variables':
      return readVariables(body)
    case 'teams':
      return readTeams(body)
    case 'type':
      return changeOf('edit:type', { what: 'type', type: typeInput.read(body, 'edit') })
    default:
      return readRule(body, memory.part, memory.rule)
  }
}

const changeOf = (block: string, change: ProjectChange): EditReading => ({ kind: 'change', change, block })

function orFaults(faults: Record<string, string[]>, reading: EditReading): EditReading {
  const found = Object.entries(faults).filter(([, reasons]) => reasons.length > 0)
  if (found.length === 0) return reading
  const short = found.map(([block, reasons]) => [block, reasons.join('; ').slice(0, FAULT_CHARS_MAX)] as const)
  return { kind: 'faults', faults: Object.fromEntries(short) }
}

function readBuilds(body: unknown): EditReading {
  const block = 'edit:branches'
  const branches = branchesInput.read(body, 'edit')
  const match = branchMatchInput.read(body, 'edit')
  const onPullRequestsOnly = pullRequestsInput.read(body, 'edit')
  return orFaults(
    { [block]: checkFilter(branches).map(lineFault) },
    changeOf(block, { what: 'builds', onPullRequestsOnly, match, branches }),
  )
}

/** Names the line instead of `branches[2]`: `line 3 …`. */
function lineFault({ field, reason }: FieldFault): string {
  const place = /\[(\d+)\]/.exec(field)?.[1]
  return place === undefined ? reason : `line ${Number(place) + 1} ${reason}`
}

function readVariables(body: unknown): EditReading {
  const read = variablesInput.read(body, 'edit')
  const variables = read.filter((one) => one !== null)
  return orFaults(
    { 'edit:environment_variables': variableFaults(read) },
    changeOf('edit:environment_variables', { what: 'variables', variables }),
  )
}

function readTeams(body: unknown): EditReading {
  const block = 'edit:team_ids'
  const ids = teamsInput.read(body, 'edit')
  return orFaults({ [block]: teamFaults(ids) }, changeOf(block, { what: 'teams', ids }))
}

function readRule(body: unknown, part: string, before: FormMemory['rule']): EditReading | null {
  const [, place] = /^rule:(\d+|new)$/.exec(part) ?? []
  if (place === undefined) return null
  const at = place === 'new' ? null : Number(place)
  const block = (name: string) => `${part}:${name}`
  if (at !== null && checkedIn(body, block('remove')).includes('remove'))
    return changeOf(block('remove'), { what: 'remove-rule', at })
  const rule = ruleInput.read(body, part)
  const faults: Record<string, string[]> = {}
  for (const { field, reason } of checkRule(asRaw(rule, before), 'update'))
    (faults[block(ruleBlock(field))] ??= []).push(reason)
  return orFaults(faults, changeOf(block('branch'), { what: 'rule', at, rule }))
}

/** The rule as it would be. Of options that are kept, only the names are known here, so their values are dummies. */
function asRaw({ notifier, target, branch, branchMatch, events, options }: RuleInput, before: FormMemory['rule']) {
  const kept = before?.notifier.toLowerCase() === notifier.toLowerCase() ? before.options : []
  const stand = Object.fromEntries(kept.map((name) => [name, name === 'url' ? 'https://kept' : 'kept']))
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null))
  const own = { ...stand, ...given }
  return {
    notifier,
    target,
    branch,
    branch_match: branchMatch,
    build_statuses: events,
    options: { ...own, ...('url' in own && { domain: own['url'] }) },
  }
}
