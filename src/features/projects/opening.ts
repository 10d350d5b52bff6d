import { plain, section } from '../../slack/messages/blocks.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { ProjectRef } from '../../catalog/outcomes.ts'
import type { ShownProject } from './outcomes.ts'
import { answerNotFound } from '../not-found.ts'
import { answerNotOpened } from '../fault-messages.ts'
import { answerNotSent } from './not-sent-messages.ts'
import { answerProject } from './show-messages.ts'
import { answerReset } from './end-messages.ts'
import { outcomeName, type Question } from '../command.ts'
import type { Reply } from '../context.ts'
import { createView } from './create-form.ts'
import { editView } from './edit-view.ts'
import { resetView, RESET_TITLE } from './reset-form.ts'
import type { ModalView } from '../modal-view.ts'
import { opening, type OpenModal, type Opener } from '../modal.ts'
import { askedWith, CREATE_TITLE, EDIT_TITLE } from './send.ts'

export type Asking = Pick<Question, 'operations' | 'by' | 'opener' | 'reference'>

export type OpeningVerb = 'edit' | 'reset-aes-key'

/** Opens the form to edit a project, or to reset its key: at once, and filled when CI has answered. */
export async function openProjectForm(asking: Asking, verb: OpeningVerb, text: string): Promise<Reply> {
  const { operations, by, opener, reference } = asking
  const asked = askedWith(verb, reference)
  const found = await operations.projects.find(text)
  if (found.kind === 'project') {
    if (!opener) return noOpener(reference)
    return opening(reference, () => openFor(asking, opener, verb, found.project))
  }
  const permit = await operations.projects.mayAdminister(by)
  if (permit.kind !== 'yes') return { outcome: permit.kind, answer: answerNotSent(permit, asked) }
  return { outcome: outcomeName(found), answer: answerNotFound(found, asked) }
}

/** Opens the form to create a project. */
export async function openCreation(
  { operations, by, opener, reference }: Asking,
  repositoryUrl: string,
): Promise<Reply> {
  if (!opener) return noOpener(reference)
  return opening(reference, async () => {
    const modal = await opener.open(readingView(CREATE_TITLE, 'Looking whether you may …'))
    const permit = await operations.projects.mayAdminister(by)
    if (permit.kind !== 'yes')
      return { outcome: permit.kind, answer: answerNotSent(permit, askedWith('create', reference)) }
    await modal.show(createView(repositoryUrl, by.channel))
    return { outcome: 'form', answer: null }
  })
}

async function openFor(
  { operations, by, reference }: Asking,
  opener: Opener,
  verb: OpeningVerb,
  project: ProjectRef,
): Promise<Reply> {
  const asked = askedWith(verb, reference)
  const title = verb === 'edit' ? EDIT_TITLE : RESET_TITLE
  const modal = await opener.open(readingView(title, `Reading *${projectName({ project: project.name })}* …`))
  const permit = await operations.projects.mayAdminister(by)
  if (permit.kind !== 'yes') return { outcome: permit.kind, answer: answerNotSent(permit, asked) }
  const outcome = await operations.projects.show(project.uuid ?? project.name, by)
  if (outcome.kind !== 'project') return { outcome: outcomeName(outcome), answer: answerProject(outcome, asked) }
  if (outcome.stale) return { outcome: outcomeName(outcome.stale), answer: answerNotSent(outcome.stale, asked) }
  return fill(modal, verb, outcome.shown, asking(by, reference))
}

const asking = (by: Question['by'], reference: string) => ({ channel: by.channel, reference })

async function fill(
  modal: OpenModal,
  verb: OpeningVerb,
  shown: ShownProject,
  { channel, reference }: ReturnType<typeof asking>,
): Promise<Reply> {
  const isPro = shown.project.type?.toLowerCase() === 'pro'
  if (verb === 'reset-aes-key' && !isPro)
    return {
      outcome: 'not-pro',
      answer: answerReset({ kind: 'not-pro', project: shown.project }, askedWith(verb, reference), true),
    }
  await modal.show(verb === 'edit' ? editView(shown, null, channel) : resetView(shown, channel))
  return { outcome: 'form', answer: null }
}

/** Stands there until CI has answered. */
export const readingView = (title: string, text: string): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain('Close'),
  blocks: [section(`:hourglass_flowing_sand: ${text}`)],
})

const noOpener = (reference: string): Reply => ({ outcome: 'no-opener', answer: answerNotOpened('mention', reference) })
