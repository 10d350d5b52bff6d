import { plain, section, type Block } from '../../slack/messages/blocks.ts'
import { projectLabel } from '../../slack/messages/build.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { Requester } from '../../projects/outcomes.ts'
import { answerOf, line } from '../../slack/messages/answer.ts'
import { answerOldForm } from '../kit/fault-messages.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import { replyTo, type Interaction } from '../kit/command.ts'
import type { SlackDeps, Reply } from '../kit/context.ts'
import type { FieldHandler } from '../kit/feature.ts'
import { editProject, previewEdit, type Preview, type PreviewInput } from './edit.ts'
import { INPUT_CHARS_MAX, OPTIONS_MAX } from '../kit/fields.ts'
import {
  formView,
  oldForm,
  refusing,
  type Form,
  type Received,
  type ModalView,
  replyTargetIn,
  showIn,
} from '../kit/modal.ts'
import { respond } from '../kit/respond.ts'
import { tooLongWords } from '../kit/slips.ts'
import { awayFrom, offering, runAndAnnounce } from './run-and-announce.ts'
import { drawPart, EVENTS_SHOWN_MAX, partOptions, readPart, rememberedRule, ruleAt } from './edit-parts.ts'
import {
  ifAdmin,
  projectContext,
  pushView,
  TITLES,
  waitingFor,
  type Next,
  nameIn,
  readMemory,
  readWaiting,
  tooLongBy,
  writeMemory,
  writeWaiting,
  type WaitingEdit,
  type ProjectVerb,
} from './forms.ts'
import { answerEdit } from './messages.ts'
import { showProject } from './read.ts'
import { answerProject } from './show-messages.ts'
import type { ProjectDeps, ShownProject } from './outcomes.ts'
import { differenceParts, fieldsWords, unshownWords } from './words.ts'

export const EDIT_CALLBACK_ID = 'project_edit_form'
export const PART_ACTION_ID = 'project_part'
export const SEND_CALLBACK_ID = 'project_send'

/** The form to edit a project: a menu of its parts, and below it the fields of the chosen part. */
export function editView(shown: ShownProject, part: string | null, channel: ChannelId | null): ModalView {
  const { project, base } = shown
  const all = partOptions(shown)
  const options = all.slice(0, OPTIONS_MAX)
  const chosen = options.find(({ value }) => value === part)
  const fields = chosen ? drawPart(shown, chosen.value) : []
  const isWhole = fields.length > 0
  const rule = chosen && isWhole ? ruleAt(shown, chosen.value) : null
  const { uuid, name } = project
  return formView({
    id: EDIT_CALLBACK_ID,
    title: TITLES.edit,
    submit: isWhole ? 'Compare' : undefined,
    metadata: writeMemory({
      project: uuid!,
      name,
      channel,
      base,
      part: chosen?.value ?? null,
      rule: rule && rememberedRule(rule),
    }),
    blocks: [
      {
        ...section(`*${projectLabel({ project: name })}*: what do you want to change?`),
        block_id: 'project_part',
        accessory: {
          type: 'static_select',
          action_id: PART_ACTION_ID,
          placeholder: plain('Choose'),
          options,
          ...(chosen && { initial_option: chosen }),
        },
      },
      ...(all.length > options.length ? [section(leftOut(all.length - options.length))] : []),
      ...(chosen && !isWhole ? [section(TOO_LONG)] : fields),
    ],
  })
}

const leftOut = (rules: number): string =>
  `The last ${rules === 1 ? 'rule is' : `${rules} rules are`} not listed: a Slack menu holds ${OPTIONS_MAX} entries. They stay as they are; change them in CI itself.`

const TOO_LONG = `This is too long for a Slack form (${INPUT_CHARS_MAX.toLocaleString('en')} characters, ${EVENTS_SHOWN_MAX} events): change it in CI itself.`

/** Handles the choice of another part: draws its fields with CI's current values. */
export function choosePart(deps: ProjectDeps): FieldHandler {
  // Of several choices in one form, only the newest is shown, however late CI answers the others.
  const newest = new Map<string, unknown>()
  return async (slack, body, action) => {
    const memory = readMemory(body)
    const viewId = textAt(body, 'view', 'id') ?? ''
    const by = requesterIn(body, memory?.channel ?? null)
    const isNewest = () => newest.get(viewId) === action
    newest.set(viewId, action)
    const replyTarget = replyTargetIn(slack.client, viewId, TITLES.edit, awayFrom(slack, by))
    await respond(slack, { what: 'project edit', by, replyTarget }, async (reference): Promise<Reply> => {
      if (!memory) return { outcome: 'old', answer: answerOldForm() }
      const asking = { by, reference }
      const shown = await ifAdmin(deps, asking, 'edit', () => readForForm(deps, asking, 'edit', memory.project))
      if ('answer' in shown) return shown
      const part = textAt(action, 'selected_option', 'value')
      if (isNewest()) await showIn(slack.client, viewId, editView(shown, part, memory.channel))
      return { outcome: 'part', answer: null }
    })
    if (isNewest()) newest.delete(viewId)
  }
}

/** Handles the submitted form: checks it at once, then compares it with what CI has now. */
function receive(deps: ProjectDeps, body: unknown): Received {
  const memory = readMemory(body)
  const reading = memory && readPart(body, memory)
  if (!memory || !reading) return oldForm(TITLES.edit)
  if (Object.keys(reading.faults).length > 0) return refusing(reading.faults)
  const { name, project, channel, base } = memory
  const question = { project, channel, change: reading.change, base }
  const excess = tooLongBy({ kind: 'edit', name, ...question })
  if (excess > 0) return refusing({ [reading.block]: tooLongWords(excess) })
  return pushView(body, 'edit', { channel, waiting: comparingView(name) }, (slack, by, reference) =>
    lookAtEdit(deps, slack, question, by, reference),
  )
}

/** Shown on top of the form until CI has answered. */
export const comparingView = (name: string): ModalView =>
  waitingFor('edit', `Comparing with what CI has of *${projectLabel({ project: name })}* …`, 'Back')

/** Shows what the change would do to the project as CI has it now. */
export async function lookAtEdit(
  deps: ProjectDeps,
  slack: Pick<SlackDeps, 'seal'>,
  question: PreviewInput & Pick<WaitingEdit, 'channel'>,
  by: Requester,
  reference: string,
): Promise<Next> {
  const outcome = await previewEdit(deps, question, by)
  if (outcome.kind !== 'preview') return replyTo(outcome, answerEdit(outcome, projectContext('edit', reference)))
  const { base, project } = outcome
  const waiting: WaitingEdit = { kind: 'edit', name: nameIn(project.name), ...question, base }
  return { outcome: outcome.kind, view: differenceView(slack, outcome, waiting) }
}

/** Shows what would be sent to CI. The view's metadata holds the change, encrypted. */
export function differenceView({ seal }: Pick<SlackDeps, 'seal'>, preview: Preview, waiting: WaitingEdit): ModalView {
  return formView({
    id: SEND_CALLBACK_ID,
    title: TITLES.edit,
    close: 'Back',
    submit: 'Send to CI',
    metadata: writeWaiting(seal, { ...waiting, base: preview.base }),
    blocks: differenceBlocks(preview),
  })
}

const differenceBlocks = ({ project: { name }, differences, theirs, unshown, silences }: Preview): Block[] =>
  answerOf([
    line(
      `*${projectLabel({ project: name })}*: this changes, and nothing else ${unshown.length === 0 ? 'does' : 'that CI shows'}.`,
    ),
    line(
      unshown.length === 0
        ? ''
        : `:warning: *CI does not show ${unshownWords(unshown)}.* An update replaces everything: what CI has there may be lost. Look at it in CI before you send this.`,
    ),
    ...differenceParts(differences),
    line(
      silences
        ? `:warning: *CI notifies Buildline of builds through this rule.* Without it, ${projectLabel({ project: name })} goes silent in Slack.`
        : '',
    ),
    line(
      theirs.length === 0
        ? ''
        : `:warning: Since you opened the form somebody else changed ${fieldsWords(theirs)}. What you see is compared with how it is now.`,
    ),
  ]).blocks

export const projectEditForm = (deps: ProjectDeps): Form => ({
  what: 'the changes to a project',
  receive: (body) => receive(deps, body),
})

/** "Send to CI": the change that was shown, and no other. */
export const projectSendForm = (deps: ProjectDeps): Form => ({
  what: 'the changes to a project',
  receive: (body) =>
    runAndAnnounce(deps, body, 'edit', (slack) => {
      const waiting = readWaiting(slack.seal, body)
      if (waiting?.kind !== 'edit') return null
      return {
        channel: waiting.channel,
        act: (by) => editProject(deps, waiting, by),
        answer: answerEdit,
        async offerWithout(notifiers, by) {
          const left = { ...waiting, without: [...(waiting.without ?? []), ...notifiers] }
          if (tooLongBy(left) > 0) return null
          const preview = await previewEdit(deps, left, by)
          if (preview.kind !== 'preview') return null
          return offering(differenceView(slack, preview, left), 'Send without it', notifiers)
        },
      }
    }),
})

/** Reads the project that a form is about; an answer if CI does not show it now. */
export async function readForForm(
  deps: ProjectDeps,
  { by, reference }: Pick<Interaction, 'by' | 'reference'>,
  verb: ProjectVerb,
  project: string,
): Promise<ShownProject | Reply> {
  const outcome = await showProject(deps, project, by)
  return outcome.kind === 'project'
    ? outcome.shown
    : replyTo(outcome, answerProject(outcome, projectContext(verb, reference)))
}
