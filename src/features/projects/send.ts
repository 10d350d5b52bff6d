import { plain, section } from '../../slack/messages/blocks.ts'
import { mention, projectName } from '../../slack/messages/build.ts'
import { answerOldForm } from '../fault-messages.ts'
import { answerCreate, answerEdit } from './messages.ts'
import type { AnswerContext } from '../../slack/messages/answer.ts'
import { fieldsWords } from './words.ts'
import { textAt } from '../body.ts'
import type { SlackDeps } from '../context.ts'
import { respond } from '../respond.ts'
import { awayFrom, announceAndRun } from './announce-and-run.ts'
import { showing, type Form, type Received, type ModalView, answerView, placeIn } from '../modal.ts'
import { requesterIn, readWaiting, type WaitingCreation, type WaitingEdit } from './metadata.ts'
import { slackCodeOf, type Place } from '../../slack/reply-targets.ts'

export const SEND_CALLBACK_ID = 'project_send'
export const CREATE_SEND_CALLBACK_ID = 'project_create_send'

export const CREATE_TITLE = 'Create a project'
export const EDIT_TITLE = 'Edit a project'

/** "Send to CI": the change that was shown, and no other. */
export const projectSendForm: Form = {
  what: 'the changes to a project',
  receive: (body) => askingCi(EDIT_TITLE, (deps) => sendEdit(deps, body)),
}

/** "Create": the project that was shown. */
export const projectCreateSendForm: Form = {
  what: 'a new project',
  receive: (body) => askingCi(CREATE_TITLE, (deps) => sendCreation(deps, body)),
}

/** The form gives way to what comes of it. */
export const askingCi = (title: string, work: (deps: SlackDeps) => Promise<void>): Received => ({
  ack: showing('update', waitingView(title, ':hourglass_flowing_sand: Asking CI …')),
  work,
})

export const waitingView = (title: string, text: string): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain('Close'),
  blocks: [section(text)],
})

function sendEdit(deps: SlackDeps, body: unknown): Promise<void> {
  const waiting = readWaiting(deps.seal, body, 'edit')
  if (!waiting) return sayOld(deps, body, EDIT_TITLE)
  const by = requesterIn(body, waiting.channel)
  return announceAndRun(deps, body, {
    what: 'project edit',
    by,
    title: EDIT_TITLE,
    announcement: editLine(by.user, waiting),
    act: (begun) => deps.operations.projects.edit(waiting, by, begun),
    answer: (outcome, reference) => answerEdit(outcome, answerContext('edit', reference)),
  })
}

/** Told where it was asked for, before it is sent. */
export const editLine = (user: string, { name, fields }: Pick<WaitingEdit, 'name' | 'fields'>): string =>
  `:pencil2: ${mention(user)} is changing *${projectName({ project: name })}*: ${fieldsWords(fields)}. The result will be in this thread.`

function sendCreation(deps: SlackDeps, body: unknown): Promise<void> {
  const waiting = readWaiting(deps.seal, body, 'create')
  if (!waiting) return sayOld(deps, body, CREATE_TITLE)
  const by = requesterIn(body, waiting.channel)
  const { creation, evenIfThere } = waiting
  return announceAndRun(deps, body, {
    what: 'project create',
    by,
    title: CREATE_TITLE,
    announcement: createLine(by.user, waiting),
    act: (begun) => deps.operations.projects.create(creation, by, { evenIfThere, begun }),
    answer: (outcome, reference) => answerCreate(outcome, answerContext('create', reference)),
  })
}

/** Told where it was asked for, before it is sent. */
export const createLine = (user: string, { name }: Pick<WaitingCreation, 'name'>): string =>
  `:hammer_and_wrench: ${mention(user)} is creating the project *${projectName({ project: name })}* in CI. The result will be in this thread.`

export const answerContext = (verb: string, reference: string): AnswerContext => ({
  command: 'project',
  branch: null,
  rest: [verb],
  reference,
})

/** A form that does not say any more what it is about. */
function sayOld(deps: SlackDeps, body: unknown, title: string): Promise<void> {
  const by = requesterIn(body, null)
  const place = placeIn(deps.client, textAt(body, 'view', 'id') ?? '', title, awayFrom(deps, by))
  return respond(deps, { what: 'old', by, place }, async () => ({ outcome: 'old', answer: answerOldForm() }))
}

/** Slack puts a pushed modal up a moment after it was acknowledged: so often, so long it is looked for. */
const TRIES_MAX = 5
const TRY_AFTER_MS = 300

/** The name under which the modal that answers this submission can be found: Slack does not say its id. */
export const pushedName = (body: unknown): string =>
  `pushed-${textAt(body, 'trigger_id') ?? textAt(body, 'view', 'id') ?? ''}`

/** Puts a view in the place of one that was pushed; false: it is closed. */
export async function showInPushed(
  { client, clock }: Pick<SlackDeps, 'client' | 'clock'>,
  name: string,
  view: ModalView,
): Promise<boolean> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    try {
      await client.apiCall('views.update', { external_id: name, view: { ...view, external_id: name } })
      return true
    } catch (error) {
      if (slackCodeOf(error) !== 'not_found') throw error
      if (tries < TRIES_MAX) await clock.sleep(TRY_AFTER_MS)
    }
  }
  return false
}

/** Answers in a pushed modal. @param closed where the answer goes when that is closed; null: nobody waits for it then */
export const pushedPlace = (
  deps: Pick<SlackDeps, 'client' | 'clock'>,
  name: string,
  title: string,
  closed: Place | null,
): Place => ({
  spot: null,
  async show(answer, isLast) {
    if (!(await showInPushed(deps, name, answerView(title, answer)))) await closed?.show(answer, isLast)
  },
})
