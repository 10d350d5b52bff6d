import { answerProject } from './show-messages.ts'
import type { Reply } from '../kit/context.ts'
import {
  replyTo,
  tooLittle,
  tooMuch,
  whenMayRead,
  type AnswerDeps,
  type Interaction,
  type Command,
  type Question,
} from '../kit/command.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'
import { isUuid, toUuid } from '../../domain/ids.ts'
import type { ButtonHandler, Click, Feature } from '../kit/feature.ts'
import { PROJECT_ACTION_IDS } from '../../slack/messages/ids.ts'
import {
  CREATE_CALLBACK_ID,
  CREATE_SEND_CALLBACK_ID,
  createView,
  projectCreateForm,
  projectCreateSendForm,
} from './create-form.ts'
import {
  choosePart,
  EDIT_CALLBACK_ID,
  editView,
  lookAtEdit,
  PART_ACTION_ID,
  projectEditForm,
  readForForm,
  projectSendForm,
  SEND_CALLBACK_ID,
} from './edit-form.ts'
import { silentProjects, webhookRules } from './checks.ts'
import { confirmProjectRequests } from './confirm.ts'
import type { ProjectDeps } from './outcomes.ts'
import { projectResetForm, RESET_CALLBACK_ID, resetView } from './reset-form.ts'
import { ifAdmin, openForm, projectContext, type Next } from './forms.ts'
import { projectLabel } from '../../slack/messages/build.ts'
import { findProject } from '../../projects/projects.ts'
import { answerNotFound } from '../kit/not-found.ts'
import { webhookRuleFor } from '../../projects/webhook-rule.ts'
import { showProject } from './read.ts'
import { answerNoAddress, answerNoDifference, answerNotSent, answerReset } from './messages.ts'

type Deps = AnswerDeps &
  ProjectDeps & {
    /** those that are valid now */
    webhookSecrets: readonly string[]
  }

export const projects = (deps: Deps): Feature => ({
  commands: [command(deps)],
  buttons: {
    [PROJECT_ACTION_IDS.edit]: opens(deps, 'edit'),
    [PROJECT_ACTION_IDS.reset]: opens(deps, 'reset-aes-key'),
    [PROJECT_ACTION_IDS.addWebhook]: { what: 'project', answer: (click) => openAddition(deps, click) },
  },
  fields: { [PART_ACTION_ID]: choosePart(deps) },
  forms: {
    [EDIT_CALLBACK_ID]: projectEditForm(deps),
    [SEND_CALLBACK_ID]: projectSendForm(deps),
    [CREATE_CALLBACK_ID]: projectCreateForm(deps),
    [CREATE_SEND_CALLBACK_ID]: projectCreateSendForm(deps),
    [RESET_CALLBACK_ID]: projectResetForm(deps),
  },
  checks: [webhookRules, silentProjects],
  jobs: [{ name: 'confirm-project-requests', cron: '*/15 * * * * *', run: () => confirmProjectRequests(deps) }],
})

const command = (deps: Deps): Command => ({
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
  handle: (question) => answerTyped(deps, question),
  choose: (question, choice) =>
    choice.kind === 'project'
      ? projectAbout(deps, question, readVerb(choice.rest?.[0]), choice.project)
      : projectAbout(deps, question, 'show', ''),
})

/** `/ci project acme/web`, `/ci project edit acme/web`, `/ci project create`. */
async function answerTyped(deps: Deps, question: Question): Promise<Reply> {
  const { row, words } = question
  const { verb, rest } = readProject(words)
  const [first, extra] = rest
  const isCut = words.includes(CUT)
  if (extra || isCut) return tooMuch(row, (extra ?? CUT).text)
  if (verb === 'create') return openCreation(deps, question, first?.url ?? first?.text ?? '')
  if (!first || first.text === '') return tooLittle(row, 'a project')
  return projectAbout(deps, question, verb, first.text)
}

const projectAbout = (deps: Deps, question: Question, verb: OpeningVerb | 'show', name: string): Promise<Reply> =>
  verb === 'show' ? show(deps, question, name) : openProjectForm(deps, question, verb, name)

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

const show = (deps: Deps, question: Question, name: string): Promise<Reply> =>
  whenMayRead(deps, question, async () => {
    const outcome = await showProject(deps, name, question.by)
    return replyTo(outcome, answerProject(outcome, { command: 'project', reference: question.reference }))
  })

type OpeningVerb = (typeof VERBS)[number]

/** Opens the form to edit a project or to reset its key: at once, and fills it when CI has answered. */
async function openProjectForm(deps: Deps, interaction: Interaction, verb: OpeningVerb, text: string): Promise<Reply> {
  const found = await findProject(deps.store.read, text)
  if (found.kind === 'project') {
    const { uuid, name } = found.project
    return openForm(deps, interaction, verb, `Reading *${projectLabel({ project: name })}* …`, () =>
      filledForm(deps, interaction, verb, uuid ?? name),
    )
  }
  const answer = answerNotFound(found, projectContext(verb, interaction.reference))
  return ifAdmin(deps, interaction, verb, async () => replyTo(found, answer))
}

async function filledForm(deps: Deps, interaction: Interaction, verb: OpeningVerb, name: string): Promise<Next> {
  const shown = await readForForm(deps, interaction, verb, name)
  if ('answer' in shown) return shown
  const { by, reference } = interaction
  if (verb === 'edit') return { outcome: 'form', view: editView(shown, null, by.channel) }
  if (shown.project.type?.toLowerCase() === 'pro') return { outcome: 'form', view: resetView(shown, by.channel) }
  const notPro = { kind: 'not-pro', project: shown.project } as const
  return { outcome: 'not-pro', answer: answerReset(notPro, projectContext(verb, reference)) }
}

const openCreation = (deps: Deps, interaction: Interaction, repositoryUrl: string): Promise<Reply> =>
  openForm(deps, interaction, 'create', 'Checking your permissions …', async () => {
    const { by, reference } = interaction
    // Only the CI service's projects are created, and through its v2 interface.
    if (deps.ci) return { outcome: 'form', view: createView(repositoryUrl, by.channel) }
    return { outcome: 'no-v2', answer: answerNotSent({ kind: 'no-v2' }, projectContext('create', reference)) }
  })

/** The button of `/ci doctor`: shows at once what adding Buildline's webhook rule would change. */
async function openAddition(deps: Deps, click: Click): Promise<Reply | null> {
  const { value, by, reference } = click
  if (!isUuid(value)) return null
  const project = toUuid(value)
  return openForm(deps, click, 'edit', 'Comparing with what CI has …', async () => {
    const found = await webhookRuleFor({ ...deps, v2: deps.ci }, project)
    if (found.kind === 'known') return { outcome: found.kind, answer: answerNoDifference(found.project) }
    if (found.kind === 'no-address') return { outcome: found.kind, answer: answerNoAddress() }
    if (found.kind !== 'rule') return replyTo(found, answerNotSent(found, projectContext('edit', reference)))
    const change = { what: 'rule', at: null, rule: found.rule } as const
    return lookAtEdit(deps, click, { project, change, base: null, channel: by.channel }, by, reference)
  })
}

const opens = (deps: Deps, verb: OpeningVerb): ButtonHandler => ({
  what: 'project',
  answer: async (click) => (isUuid(click.value) ? openProjectForm(deps, click, verb, click.value) : null),
})
