import { answerProject } from './show-messages.ts'
import { answerTooLittle, answerTooMuch } from '../slips.ts'
import type { Reply } from '../context.ts'
import type { Operations } from '../operations.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import { howTyped, outcomeName, whenMayRead, type Command, type Question } from '../command.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'
import { isUuid, toUuid, type Uuid } from '../../domain/ids.ts'
import type { Button, Click, Feature } from '../feature.ts'
import { PROJECT_ACTION_IDS } from '../../slack/messages/ids.ts'
import { CREATE_CALLBACK_ID, projectCreateForm, createView } from './create-form.ts'
import { answerNoPreview, choosePart, differenceView, projectEditForm } from './edit-form.ts'
import { nameIn, type WaitingEdit } from './metadata.ts'
import { EDIT_CALLBACK_ID, PART_ACTION_ID, editView } from './edit-view.ts'
import { projectResetForm, RESET_CALLBACK_ID, resetView, RESET_TITLE } from './reset-form.ts'
import { CREATE_SEND_CALLBACK_ID, SEND_CALLBACK_ID, answerContext, CREATE_TITLE, EDIT_TITLE } from './send.ts'
import { projectCreateSendForm, projectSendForm } from './send-form.ts'
import { plain, section } from '../../slack/messages/blocks.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { ProjectRef, Refused } from '../../catalog/outcomes.ts'
import type { ShownProject } from './outcomes.ts'
import { answerNotFound } from '../not-found.ts'
import { answerNotOpened } from '../fault-messages.ts'
import { answerNoAddress, answerNoDifference, answerNotSent, answerNoV2, answerReset } from './messages.ts'
import { type ModalView, opening, type OpenModal, type ModalOpener } from '../modal.ts'

const command: Command = {
  name: 'project',
  alias: null,
  group: 'Projects',
  usage: '[edit|reset-aes-key] project, or create [repository]',
  does: 'shows a project; creates and edits projects',
  examples: [
    '/ci project acme/web',
    '/ci project edit acme/web',
    '/ci project create',
    '/ci project reset-aes-key acme/ios',
  ],
  who: 'everyone',
  notes: [
    'Creating, editing and resetting a key are for admins. A form shows the difference before anything is sent to CI.',
    'Secrets are masked, and a secret that you leave empty stays as it is. A new AES key is shown once, to you alone.',
  ],
  handle: answerTyped,
  choose: (question, choice) =>
    choice.kind === 'project'
      ? projectAbout(question, readVerb(choice.rest?.[0]), choice.project)
      : projectAbout(question, 'show', ''),
}

/** `/ci project acme/web`, `/ci project edit acme/web`, `/ci project create`. */
function answerTyped(question: Question): Promise<Reply> {
  const { row, words } = question
  const { verb, rest } = readProject(words)
  const [first, extra] = rest
  const isCut = words.includes(CUT)
  if (extra || isCut) return slip('too-much', answerTooMuch({ extra: (extra ?? CUT).text, ...howTyped(row) }))
  if (verb === 'create') return openCreation(question, first?.url ?? first?.text ?? '')
  if (!first || first.text === '')
    return slip('too-little', answerTooLittle({ missing: 'a project', ...howTyped(row) }))
  return projectAbout(question, verb, first.text)
}

/** Shows the project, or opens the form that the verb names. */
const projectAbout = (question: Question, verb: OpeningVerb | 'show', name: string): Promise<Reply> =>
  verb === 'show' ? show(question, name) : openProjectForm(question, verb, name)

const readVerb = (word: string | undefined): OpeningVerb | 'show' =>
  VERBS.find((verb) => verb === word?.toLowerCase()) ?? 'show'

const VERBS = ['edit', 'reset-aes-key'] as const

function readProject(words: readonly Word[]): { verb: OpeningVerb | 'show' | 'create'; rest: readonly Word[] } {
  const [first, second, ...others] = words
  if (first?.text.toLowerCase() === 'create') return { verb: 'create', rest: words.slice(1) }
  if (readVerb(first?.text) !== 'show') return { verb: readVerb(first?.text), rest: words.slice(1) }
  // "Did you mean …?" writes the verb after the project.
  if (first && readVerb(second?.text) !== 'show') return { verb: readVerb(second?.text), rest: [first, ...others] }
  return { verb: 'show', rest: words }
}

const show = (question: Question, name: string): Promise<Reply> =>
  whenMayRead(question, async () => {
    const outcome = await question.operations.projects.show(name, question.by)
    const context = { command: 'project', branch: null, reference: question.reference } as const
    return { outcome: outcomeName(outcome), answer: answerProject(outcome, context) }
  })

const slip = async (outcome: string, answer: Reply['answer']): Promise<Reply> => ({ outcome, answer })

/** Handles a button below a shown project. */
async function openFor(verb: OpeningVerb, { deps, value, by, modalOpener, reference }: Click): Promise<Reply | null> {
  if (!isUuid(value)) return null
  return openProjectForm({ operations: deps.operations, by, modalOpener, reference }, verb, value)
}

/** The button of `/ci doctor`: shows at once what adding Buildline's webhook rule would change. */
async function openAddition(click: Click): Promise<Reply | null> {
  const { value, modalOpener, reference } = click
  if (!isUuid(value)) return null
  if (!modalOpener) return noModalOpener(reference)
  return opening(reference, async () => {
    const modal = await modalOpener.open(readingView(EDIT_TITLE, 'Comparing with what CI has …'))
    return showAddition(modal, click, toUuid(value))
  })
}

async function showAddition(modal: OpenModal, { deps, by, reference }: Click, project: Uuid): Promise<Reply> {
  const { projects: ask, doctor } = deps.operations
  const permit = await ask.mayAdminister(by)
  const found = permit.kind === 'yes' ? await doctor.webhookRuleFor(project) : permit
  if (found.kind !== 'rule') return { outcome: outcomeName(found), answer: answerNoAddition(found, reference) }
  const change = { what: 'rule', at: null, rule: found.rule } as const
  const outcome = await ask.preview({ project, change, base: null }, by)
  if (outcome.kind !== 'preview') return { outcome: outcomeName(outcome), answer: answerNoPreview(outcome, reference) }
  const name = nameIn(outcome.project.name)
  const { base } = outcome
  const waiting: WaitingEdit = { kind: 'edit', project, name, channel: by.channel, change, base, fields: [] }
  await modal.show(differenceView(deps, outcome, waiting))
  return { outcome: outcome.kind, answer: null }
}

type NoAddition = Exclude<Awaited<ReturnType<Operations['doctor']['webhookRuleFor']>> | Refused, { kind: 'rule' }>

function answerNoAddition(found: NoAddition, reference: string): Answer {
  if (found.kind === 'known') return answerNoDifference(found.project)
  return found.kind === 'no-address' ? answerNoAddress() : answerNotSent(found, answerContext('edit', reference))
}

const opens = (verb: OpeningVerb): Button => ({ what: 'project', answer: (click) => openFor(verb, click) })

export const projects: Feature = {
  commands: [command],
  buttons: {
    [PROJECT_ACTION_IDS.edit]: opens('edit'),
    [PROJECT_ACTION_IDS.reset]: opens('reset-aes-key'),
    [PROJECT_ACTION_IDS.addWebhook]: { what: 'project', answer: openAddition },
  },
  fields: { [PART_ACTION_ID]: choosePart },
  forms: {
    [EDIT_CALLBACK_ID]: projectEditForm,
    [SEND_CALLBACK_ID]: projectSendForm,
    [CREATE_CALLBACK_ID]: projectCreateForm,
    [CREATE_SEND_CALLBACK_ID]: projectCreateSendForm,
    [RESET_CALLBACK_ID]: projectResetForm,
  },
}

type Asking = Pick<Question, 'operations' | 'by' | 'modalOpener' | 'reference'>

type OpeningVerb = 'edit' | 'reset-aes-key'

/** Opens the form to edit a project or to reset its key: at once, and fills it when CI has answered. */
async function openProjectForm(asking: Asking, verb: OpeningVerb, text: string): Promise<Reply> {
  const { operations, by, modalOpener, reference } = asking
  const context = answerContext(verb, reference)
  const found = await operations.projects.find(text)
  if (found.kind === 'project') {
    if (!modalOpener) return noModalOpener(reference)
    return opening(reference, () => openAfterReading(asking, modalOpener, verb, found.project))
  }
  const permit = await operations.projects.mayAdminister(by)
  if (permit.kind !== 'yes') return { outcome: permit.kind, answer: answerNotSent(permit, context) }
  return { outcome: outcomeName(found), answer: answerNotFound(found, context) }
}

/** Opens the form to create a project. */
async function openCreation({ operations, by, modalOpener, reference }: Asking, repositoryUrl: string): Promise<Reply> {
  if (!modalOpener) return noModalOpener(reference)
  return opening(reference, async () => {
    const modal = await modalOpener.open(readingView(CREATE_TITLE, 'Looking whether you may …'))
    const permit = await operations.projects.mayAdminister(by)
    if (permit.kind !== 'yes')
      return { outcome: permit.kind, answer: answerNotSent(permit, answerContext('create', reference)) }
    if (!operations.projects.canCreate) return { outcome: 'no-v2', answer: answerNoV2() }
    await modal.show(createView(repositoryUrl, by.channel))
    return { outcome: 'form', answer: null }
  })
}

async function openAfterReading(
  { operations, by, reference }: Asking,
  modalOpener: ModalOpener,
  verb: OpeningVerb,
  project: ProjectRef,
): Promise<Reply> {
  const context = answerContext(verb, reference)
  const title = verb === 'edit' ? EDIT_TITLE : RESET_TITLE
  const modal = await modalOpener.open(readingView(title, `Reading *${projectName({ project: project.name })}* …`))
  const permit = await operations.projects.mayAdminister(by)
  if (permit.kind !== 'yes') return { outcome: permit.kind, answer: answerNotSent(permit, context) }
  const outcome = await operations.projects.show(project.uuid ?? project.name, by)
  if (outcome.kind !== 'project') return { outcome: outcomeName(outcome), answer: answerProject(outcome, context) }
  if (outcome.stale) return { outcome: outcomeName(outcome.stale), answer: answerNotSent(outcome.stale, context) }
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
      answer: answerReset({ kind: 'not-pro', project: shown.project }, answerContext(verb, reference), true),
    }
  await modal.show(verb === 'edit' ? editView(shown, null, channel) : resetView(shown, channel))
  return { outcome: 'form', answer: null }
}

/** Shown until CI has answered. */
export const readingView = (title: string, text: string): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain('Close'),
  blocks: [section(`:hourglass_flowing_sand: ${text}`)],
})

const noModalOpener = (reference: string): Reply => ({
  outcome: 'no-opener',
  answer: answerNotOpened('mention', reference),
})
