import { type SubscriptionDeps, channelRules } from './channel.ts'
import { faultsOf } from './subscribe-input.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import type { SlackDeps, Reply } from '../kit/context.ts'
import {
  oldForm,
  refusing,
  type Form,
  type Received,
  working,
  openFor,
  showIn,
  type ModalOpener,
} from '../kit/modal.ts'
import { type FieldOption, ALL_PROJECTS, OPTIONS_MAX, projectOptions } from '../kit/fields.ts'
import {
  pendingView,
  readSubscribeForm,
  SUBSCRIBE_FIELDS,
  SUBSCRIBE_TITLE,
  subscribeView,
  type Filled,
} from './form-view.ts'
import { reminderFault } from './remind.ts'
import { suggestProjects } from '../../projects/projects.ts'
import { subscribe, type SubscribeOutcome } from './subscribe.ts'
import { wholeRepository } from '../../projects/subscriptions.ts'
import { answerSubscribe, answerUnsubscribe } from './messages.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { ALL_WORKFLOWS } from '../../slack/messages/subscription.ts'
import { replyTo, type AnswerDeps, type Interaction } from '../kit/command.ts'

type Deps = AnswerDeps & SubscriptionDeps

/** The form of a subscription, submitted. */
export const subscribeForm = (deps: Deps): Form => ({ what: 'subscribe', receive: (body) => receive(deps, body) })

function receive(deps: Deps, body: unknown): Received {
  const filled = readSubscribeForm(body)
  if (!filled) return oldForm(SUBSCRIBE_TITLE)
  const [fault] = faultsOf(filled.input)
  const { reminder } = filled
  if (reminder.kind === 'no-reminder')
    return refusing({ [SUBSCRIBE_FIELDS.hours]: `Not understood: ${reminderFault(reminder)}.` })
  if (fault) return refusing({ [blockOf(fault.field, filled)]: `This ${fault.reason}.` })
  const by = requesterIn(body, filled.memory.channel)
  return working(body, pendingView, { what: 'subscribe', by }, async (reference) =>
    subscribeReply(await subscribe(deps, filled.input, by), { rest: [], reference }),
  )
}

/** A fault is shown at its field, or at the project if that field is not in the form. */
function blockOf(field: string, { how }: Filled): string {
  if (how === 'own' && field === 'events') return SUBSCRIBE_FIELDS.events
  return how !== 'ci' && field === 'branch' ? SUBSCRIBE_FIELDS.branch : SUBSCRIBE_FIELDS.project
}

/** Handles the choice of what to post: shows the fields that belong to it. */
export async function redraw(slack: SlackDeps, body: unknown): Promise<void> {
  const filled = readSubscribeForm(body)
  const viewId = textAt(body, 'view', 'id')
  if (!filled || viewId === null) return
  try {
    const { memory, how, chosenTime: remind } = filled
    await showIn(slack.client, viewId, subscribeView({ memory, how, remind }))
  } catch (error) {
    slack.log.warn({ err: error, what: 'subscribe' }, 'a form could not be redrawn')
  }
}

/** The options of the form's menu: projects, the repositories of workflows as a whole, and "All projects". */
export async function projectsToFollow({ store }: Deps, text: string): Promise<FieldOption[]> {
  const isAllMeant = ALL_PROJECTS.text.text.toLowerCase().startsWith(text.trim().toLowerCase())
  const projects = projectOptions(withRepositories(await suggestProjects(store.read, text)))
  return [...(isAllMeant ? [ALL_PROJECTS] : []), ...projects].slice(0, OPTIONS_MAX)
}

/** Each GitHub repository comes before the first of its workflows. */
function withRepositories(projects: readonly ProjectRef[]): ProjectRef[] {
  const seen = new Set<ProjectRef['projectId']>()
  return projects.flatMap((project) => {
    const whole = wholeRepository(project)
    if (!whole || seen.has(whole.projectId)) return [project]
    seen.add(whole.projectId)
    return [{ ...whole, name: `${whole.name}${ALL_WORKFLOWS}` }, project]
  })
}

/** Opens the form, empty or with the subscription of that id. People without permission see the refusal in the form. */
export async function openSubscribe(
  deps: Deps,
  { by, reference }: Interaction,
  modalOpener: ModalOpener,
  id: string | null,
): Promise<Reply> {
  const here = await channelRules(deps, by.channel)
  const context = { command: 'subscribe', reference }
  if (here.kind === 'no-channel') return replyTo(here, answerSubscribe(here, context))
  const shown = here.subscriptions.find(({ subscription }) => subscription.id === id) ?? null
  // The subscription was removed after the button was drawn.
  if (id !== null && !shown) {
    const gone = { kind: 'not-subscribed', text: null, here: here.subscriptions } as const
    return replyTo(gone, answerUnsubscribe(gone, context))
  }
  const view = subscribeView({ memory: { channel: here.channel, instead: id }, shown })
  return openFor(modalOpener, view, () => deps.permits('subscribe', by), { action: 'subscribe', reference })
}

/** Answers a wish to subscribe. @param rest what was typed after the project, for a choice of projects */
export const subscribeReply = (
  outcome: SubscribeOutcome,
  { rest, reference }: { rest: readonly string[]; reference: string },
): Reply => replyTo(outcome, answerSubscribe(outcome, { command: 'subscribe', rest, reference }))
