import { plain, section } from '../../slack/messages/blocks.ts'
import { mention, projectName } from '../../slack/messages/build.ts'
import { answerOldForm } from '../fault-messages.ts'
import { answerCreate, answerEdit } from './end-messages.ts'
import type { AskedWith } from '../../slack/messages/answer.ts'
import { fieldsWords } from './words.ts'
import { textAt } from '../body.ts'
import type { Door } from '../context.ts'
import { respond } from '../respond.ts'
import { awayFrom, announceAndRun } from './announce-and-run.ts'
import { showing, type Form, type Received } from '../form.ts'
import type { ModalView } from '../modal-view.ts'
import { placeIn } from '../modal.ts'
import { askerIn, readWaiting, type WaitingCreation, type WaitingEdit } from './metadata.ts'

export const SEND_CALLBACK_ID = 'project_send'
export const CREATE_SEND_CALLBACK_ID = 'project_create_send'

export const CREATE_TITLE = 'Create a project'
export const EDIT_TITLE = 'Edit a project'

/** "Send to CI": the change that was shown, and no other. */
export const projectSendForm: Form = {
  what: 'the changes to a project',
  receive: (body) => askingCi(EDIT_TITLE, (door) => sendEdit(door, body)),
}

/** "Create": the project that was shown. */
export const projectCreateSendForm: Form = {
  what: 'a new project',
  receive: (body) => askingCi(CREATE_TITLE, (door) => sendCreation(door, body)),
}

/** The form gives way to what comes of it. */
export const askingCi = (title: string, work: (door: Door) => Promise<void>): Received => ({
  ack: showing('update', waitingView(title, ':hourglass_flowing_sand: Asking CI …')),
  work,
})

export const waitingView = (title: string, text: string): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain('Close'),
  blocks: [section(text)],
})

function sendEdit(door: Door, body: unknown): Promise<void> {
  const waiting = readWaiting(door.seal, body, 'edit')
  if (!waiting) return sayOld(door, body, EDIT_TITLE)
  const by = askerIn(body, waiting.channel)
  return announceAndRun(door, body, {
    what: 'project edit',
    by,
    title: EDIT_TITLE,
    announcement: editLine(by.user, waiting),
    act: (begun) => door.operations.projects.edit(waiting, by, begun),
    answer: (outcome, reference) => answerEdit(outcome, askedWith('edit', reference)),
  })
}

/** Told where it was asked for, before it is sent. */
export const editLine = (user: string, { name, fields }: Pick<WaitingEdit, 'name' | 'fields'>): string =>
  `:pencil2: ${mention(user)} changes *${projectName({ project: name })}*: ${fieldsWords(fields)}. What comes of it stands in the thread.`

function sendCreation(door: Door, body: unknown): Promise<void> {
  const waiting = readWaiting(door.seal, body, 'create')
  if (!waiting) return sayOld(door, body, CREATE_TITLE)
  const by = askerIn(body, waiting.channel)
  const { creation, evenIfThere } = waiting
  return announceAndRun(door, body, {
    what: 'project create',
    by,
    title: CREATE_TITLE,
    announcement: createLine(by.user, waiting),
    act: (begun) => door.operations.projects.create(creation, by, { evenIfThere, begun }),
    answer: (outcome, reference) => answerCreate(outcome, askedWith('create', reference)),
  })
}

/** Told where it was asked for, before it is sent. */
export const createLine = (user: string, { name }: Pick<WaitingCreation, 'name'>): string =>
  `:hammer_and_wrench: ${mention(user)} creates the project *${projectName({ project: name })}* in CI. What comes of it stands in the thread.`

export const askedWith = (verb: string, reference: string): AskedWith => ({
  command: 'project',
  branch: null,
  rest: [verb],
  reference,
})

/** A form that does not say any more what it is about. */
export function sayOld(door: Door, body: unknown, title: string): Promise<void> {
  const by = askerIn(body, null)
  const place = placeIn(door.client, textAt(body, 'view', 'id') ?? '', title, awayFrom(door, by))
  return respond(door, { what: 'old', by, place }, async () => ({ outcome: 'old', answer: answerOldForm() }))
}
