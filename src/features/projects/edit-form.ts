import { plain, section, type Block } from '../../slack/messages/blocks.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { PreviewOutcome } from './outcomes.ts'
import { topOf } from './prepare.ts'
import { answerOf, line, type AskedWith } from '../../slack/messages/answer.ts'
import { answerOldForm } from '../fault-messages.ts'
import { differenceParts } from './difference-messages.ts'
import { answerNoDifference } from './end-messages.ts'
import { answerChangedMeanwhile, answerNotSent } from './not-sent-messages.ts'
import { answerProject } from './show-messages.ts'
import { fieldsWords, unshownWords } from './words.ts'
import { textAt } from '../body.ts'
import { outcomeName } from '../command.ts'
import type { Door, Reply } from '../context.ts'
import { respond } from '../respond.ts'
import { awayFrom } from './announce-and-run.ts'
import { refusing, showing, type FieldTold, type Form, type Received } from '../form.ts'
import { answerView, type ModalView } from '../modal-view.ts'
import { placeIn, showIn } from '../modal.ts'
import { editView, PART_ACTION_ID } from './edit-view.ts'
import { readEdit } from './edit-read.ts'
import { askerIn, readMemory, tooLongBy, writeWaiting, type FormMemory, type WaitingEdit } from './metadata.ts'
import { askedWith, EDIT_TITLE, SEND_CALLBACK_ID } from './send.ts'
import { tooLongWords } from '../too-long.ts'
import { pushedName, pushedPlace, showInPushed } from './pushed.ts'

const WHAT = 'project edit'

/** Another part was chosen: its fields are drawn, as CI has them now. */
const choosePart: FieldTold = async (door, body, action) => {
  const memory = readMemory(body)
  const viewId = textAt(body, 'view', 'id') ?? ''
  const by = askerIn(body, memory?.channel ?? null)
  const isCurrent = door.newest.note(viewId)
  const place = placeIn(door.client, viewId, EDIT_TITLE, awayFrom(door, by))
  await respond(door, { what: WHAT, by, place }, async (reference): Promise<Reply> => {
    if (!memory) return { outcome: 'old', answer: answerOldForm() }
    const refused = await door.operations.projects.mayAdminister(by)
    const asked = askedEdit(reference)
    if (refused.kind !== 'yes') return { outcome: refused.kind, answer: answerNotSent(refused, asked) }
    const outcome = await door.operations.projects.show(memory.project, by)
    if (outcome.kind !== 'project' || outcome.stale)
      return { outcome: outcomeName(outcome), answer: answerProject(outcome, asked) }
    const part = textAt(action, 'selected_option', 'value')
    if (isCurrent()) await showIn(door.client, viewId, editView(outcome.shown, part, memory.channel))
    return { outcome: 'part', answer: null }
  })
}

const askedEdit = (reference: string): AskedWith => askedWith('edit', reference)

/** The form was sent in: it is looked at at once, and compared with what CI has then. */
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
  return { ack: showing('push', view), work: (door) => compare(door, body, memory, waiting) }
}

/** Lies on the form until CI has answered. */
export const comparingView = (name: string): ModalView => ({
  type: 'modal',
  title: plain(EDIT_TITLE),
  close: plain('Back'),
  blocks: [section(`:hourglass_flowing_sand: Comparing with what CI has of *${projectName({ project: name })}* …`)],
})

function compare(door: Door, body: unknown, { channel }: FormMemory, waiting: WaitingEdit): Promise<void> {
  const by = askerIn(body, channel)
  const pushed = pushedName(body)
  // Whoever closed the form has given the change up.
  const place = pushedPlace(door, pushed, EDIT_TITLE, null)
  return respond(door, { what: WHAT, by, place }, async (reference) => {
    const outcome = await door.operations.projects.preview(waiting, by)
    if (outcome.kind !== 'preview')
      return { outcome: outcomeName(outcome), answer: answerNoPreview(outcome, reference) }
    await showInPushed(door, pushed, differenceView(door, outcome, waiting))
    return { outcome: outcome.kind, answer: null }
  })
}

function answerNoPreview(outcome: Exclude<PreviewOutcome, { kind: 'preview' }>, reference: string) {
  if (outcome.kind === 'no-difference') return answerNoDifference(outcome.project.name)
  if (outcome.kind === 'changed-meanwhile') return answerChangedMeanwhile(outcome, reference)
  return answerNotSent(outcome, askedEdit(reference))
}

type Preview = Extract<PreviewOutcome, { kind: 'preview' }>

/** What would be sent to CI; the change waits in it, sealed. */
export function differenceView({ seal }: Pick<Door, 'seal'>, preview: Preview, waiting: WaitingEdit): ModalView {
  const { base, differences } = preview
  // Their tops say as much to the channel, and are short.
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

/** So many fields are named to the channel. */
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

export const projectEditForm: Form = {
  what: 'the changes to a project',
  receive,
  actions: new Map([[PART_ACTION_ID, choosePart]]),
}
