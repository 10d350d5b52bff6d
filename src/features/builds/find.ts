import { replyTargetOf } from '../kit/reply-target.ts'
import { answerNotOpened, answerOldSearch } from '../kit/fault-messages.ts'
import { requesterOf, userOf, textAt } from '../kit/body.ts'
import type { SlackDeps, Reply } from '../kit/context.ts'
import { directReplyTarget, modalReplyTarget } from '../../slack/reply-targets.ts'
import { respond } from '../kit/respond.ts'
import { type FieldOption, projectOptions } from '../kit/fields.ts'
import { openFor, opening, openingReplyTarget } from '../kit/modal.ts'
import { answerNotFound } from '../kit/not-found.ts'
import { answerFound } from './status-messages.ts'
import { findSummary } from '../../ci-sync/ci-lookup.ts'
import { suggestProjects } from '../../projects/projects.ts'
import { replyTo, whenMayRead, type AnswerDeps } from '../kit/command.ts'
import { branchesOf } from './status.ts'
import { FIND_PROJECT_ID, type Chosen, findView, chosenProject, branchIn } from './find-modal.ts'

/** Opens "Find a build" immediately, as an empty form: Slack refuses to open a modal after three seconds. */
export async function openFind({ permits }: AnswerDeps, slack: SlackDeps, body: unknown): Promise<void> {
  const by = requesterOf(body, 'modal')
  const user = userOf(body)
  // A global shortcut names no channel: without a modal, only a direct message can carry the answer.
  const { modalOpener, replyTarget } = openingReplyTarget(
    slack,
    body,
    user === null ? null : directReplyTarget(slack.client, user),
  )
  await respond(slack, { what: 'find', by, replyTarget }, (reference) =>
    opening(reference, async () => {
      if (!modalOpener) return { outcome: 'not-opened', answer: answerNotOpened('late', reference) }
      const view = findView({ chosen: null, branches: [], answer: [] })
      return openFor(modalOpener, view, () => permits('read', by), { action: null, reference })
    }),
  )
}

/** The projects of the form's menu. */
export const projectsForFind = async ({ store }: AnswerDeps, text: string): Promise<FieldOption[]> =>
  projectOptions(await suggestProjects(store.read, text))

/** Handles a choice in "Find a build": shows the last build of that project or branch in the modal. */
export async function chooseInFind(deps: AnswerDeps, slack: SlackDeps, body: unknown, action: unknown): Promise<void> {
  const { client } = slack
  const chosen = chosenIn(body, action)
  const viewId = textAt(body, 'view', 'id')
  const by = requesterOf(body, 'modal')
  if (!chosen || viewId === null)
    return respond(slack, { what: 'find', by, replyTarget: replyTargetOf(slack, body) }, async () => UNREADABLE)
  let branches: readonly string[] = []
  const replyTarget = modalReplyTarget({
    client,
    viewId,
    draw: (answer) => findView({ chosen, branches, answer }),
    // After two quick choices the answers may arrive in the wrong order. Only the newest choice's answer is shown.
    isCurrent: slack.newest.begin(viewId),
    // Closing the modal ends the search, so no answer is sent elsewhere.
    closed: null,
    instead: directReplyTarget(client, by.user),
  })
  await respond(slack, { what: 'find', by, replyTarget }, (reference) =>
    whenMayRead(deps, { by, reference }, async () => {
      const [known, outcome] = await Promise.all([
        branchesOf(deps, chosen.project),
        findSummary(deps, { kind: 'project', ...chosen }),
      ])
      branches = known
      const context = { command: 'status', branch: chosen.branch, reference }
      return replyTo(outcome, outcome.kind === 'found' ? answerFound(outcome.build) : answerNotFound(outcome, context))
    }),
  )
}

const UNREADABLE: Reply = { outcome: 'old', answer: answerOldSearch() }

function chosenIn(body: unknown, action: unknown): Chosen | null {
  const value = textAt(action, 'selected_option', 'value')
  if (value === null) return null
  if (textAt(action, 'action_id') === FIND_PROJECT_ID) return { project: value, branch: null }
  const project = chosenProject(textAt(body, 'view', 'private_metadata') ?? '')
  return project === null ? null : { project, branch: branchIn(value) }
}
