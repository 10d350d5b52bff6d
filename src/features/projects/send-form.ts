import { mention, projectName } from '../../slack/messages/build.ts'
import { answerOf, line } from '../../slack/messages/answer.ts'
import { plain } from '../../slack/messages/blocks.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import type { SlackDeps } from '../context.ts'
import type { Form, ModalView } from '../modal.ts'
import { announceAndRun } from './announce-and-run.ts'
import { lookView } from './create-form.ts'
import { withoutNotifiers } from './create.ts'
import { differenceView } from './edit-form.ts'
import { answerCreate, answerEdit } from './messages.ts'
import { readWaiting, tooLongBy, type WaitingCreation, type WaitingEdit } from './metadata.ts'
import type { CreateOutcome, EditOutcome } from './outcomes.ts'
import { fieldsWords, unknownNotifierWords } from './words.ts'

/** "Send to CI": the change that was shown, and no other. */
export const projectSendForm: Form = {
  what: 'the changes to a project',
  receive: (body) =>
    announceAndRun(body, 'edit', (deps) => {
      const waiting = readWaiting(deps.seal, body)
      if (waiting?.kind !== 'edit') return null
      return {
        channel: waiting.channel,
        announcement: (user) => editLine(user, waiting),
        act: (by, begun) => deps.operations.projects.edit(waiting, by, begun),
        answer: answerEdit,
        offer: (outcome, by) => offerEdit(deps, outcome, waiting, by),
      }
    }),
}

/** "Create": the project that was shown. */
export const projectCreateSendForm: Form = {
  what: 'a new project',
  receive: (body) =>
    announceAndRun(body, 'create', (deps) => {
      const waiting = readWaiting(deps.seal, body)
      if (waiting?.kind !== 'create') return null
      const { creation, evenIfThere } = waiting
      return {
        channel: waiting.channel,
        announcement: (user) => createLine(user, waiting),
        act: (by, begun) => deps.operations.projects.create(creation, by, { evenIfThere, begun }),
        answer: answerCreate,
        offer: (outcome, by) => offerCreation(deps, outcome, waiting, by),
      }
    }),
}

/** The same change without the rules that CI refused, compared again; null if CI refused no rule or nothing is left. */
async function offerEdit(
  deps: SlackDeps,
  outcome: EditOutcome,
  refused: WaitingEdit,
  by: Requester,
): Promise<ModalView | null> {
  const notifiers = unknownIn(outcome)
  const waiting = { ...refused, without: [...(refused.without ?? []), ...notifiers] }
  if (notifiers.length === 0 || tooLongBy(waiting) > 0) return null
  const preview = await deps.operations.projects.preview(waiting, by)
  return preview.kind === 'preview'
    ? offering(differenceView(deps, preview, waiting), 'Send without it', notifiers)
    : null
}

/** The announcement in the channel where the edit was requested. */
export const editLine = (user: string, { name, fields }: Pick<WaitingEdit, 'name' | 'fields'>): string =>
  `:pencil2: ${mention(user)} is changing *${projectName({ project: name })}*: ${fieldsWords(fields)}. The result will be in this thread.`

/** The same project without the rules that CI refused. */
async function offerCreation(
  deps: SlackDeps,
  outcome: CreateOutcome,
  refused: WaitingCreation,
  by: Requester,
): Promise<ModalView | null> {
  const notifiers = unknownIn(outcome)
  if (notifiers.length === 0) return null
  const waiting = { ...refused, creation: withoutNotifiers(refused.creation, notifiers) }
  const looked = await deps.operations.projects.previewCreation(waiting.creation, by)
  return looked.kind === 'free' || looked.kind === 'exists'
    ? offering(lookView(deps, looked, waiting), 'Create without it', notifiers)
    : null
}

const unknownIn = (outcome: EditOutcome | CreateOutcome): readonly string[] =>
  outcome.kind === 'ci-refused' ? (outcome.unknownNotifiers ?? []) : []

/** The confirmation again, below what CI refused. */
export const offering = (view: ModalView, submit: string, notifiers: readonly string[]): ModalView => ({
  ...view,
  submit: plain(submit),
  blocks: [
    ...answerOf([
      line(`:x: *Nothing was changed*: ${unknownNotifierWords(notifiers)}`),
      line('The same can be sent without such rules:'),
    ]).blocks,
    ...view.blocks,
  ],
})

/** The announcement in the channel where the creation was requested. */
export const createLine = (user: string, { name }: Pick<WaitingCreation, 'name'>): string =>
  `:hammer_and_wrench: ${mention(user)} is creating the project *${projectName({ project: name })}* in CI. The result will be in this thread.`
