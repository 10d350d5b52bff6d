import { answerOldSearch } from '../fault-messages.ts'
import { answerNotFound } from '../not-found.ts'
import { answerFound } from './status-messages.ts'
import { outcomeName, whenMayRead } from '../command.ts'
import { askerOf, textAt } from '../body.ts'
import type { Door, Reply } from '../context.ts'
import { directPlace } from '../../slack/reply-targets/message.ts'
import { modalPlace } from '../../slack/reply-targets/modal.ts'
import { placeOf } from '../reply-target.ts'
import type { Place } from '../../slack/reply-targets/place.ts'
import { respond } from '../respond.ts'
import { branchOf, chosenProject, FIND_PROJECT_ID, findView, type Chosen } from './find-modal.ts'

/** A project or a branch was chosen in "Find a build": its last build is shown in place. */
export async function chooseInFind(door: Door, body: unknown, action: unknown): Promise<void> {
  const chosen = chosenIn(body, action)
  const viewId = textAt(body, 'view', 'id')
  const by = askerOf(body, 'modal')
  if (!chosen || viewId === null)
    return respond(door, { what: 'find', by, place: placeOf(door, body) }, async () => UNREADABLE)
  // Of two quick choices the first may be answered last: only the newest is shown.
  const isCurrent = door.newest.note(viewId)
  const branches: string[] = []
  const place = placeIn(door, { viewId, chosen, branches, isCurrent, user: by.user })
  await respond(door, { what: 'find', by, place }, (reference) =>
    whenMayRead({ operations: door.operations, by, reference }, () => findLast(door, chosen, branches, reference)),
  )
}

const UNREADABLE: Reply = { outcome: 'old', answer: answerOldSearch() }

function chosenIn(body: unknown, action: unknown): Chosen | null {
  const value = textAt(action, 'selected_option', 'value')
  if (value === null) return null
  if (textAt(action, 'action_id') === FIND_PROJECT_ID) return { project: value, branch: null }
  const project = chosenProject(textAt(body, 'view', 'private_metadata') ?? '')
  return project === null ? null : { project, branch: branchOf(value) }
}

interface Showing {
  viewId: string
  chosen: Chosen
  /** filled while the answer is sought */
  branches: readonly string[]
  isCurrent: () => boolean
  user: string
}

function placeIn({ client }: Door, { viewId, chosen, branches, isCurrent, user }: Showing): Place {
  return modalPlace({
    client,
    viewId,
    draw: (answer) => findView({ chosen, branches, answer }),
    isCurrent,
    // Whoever closed the modal has given the search up: nobody is followed with an answer.
    closed: null,
    instead: directPlace(client, user),
  })
}

async function findLast({ operations }: Door, chosen: Chosen, branches: string[], reference: string): Promise<Reply> {
  const [known, outcome] = await Promise.all([
    operations.suggestBranches(chosen.project, ''),
    operations.findBuild({ kind: 'project', ...chosen }),
  ])
  branches.push(...known)
  const answer =
    outcome.kind === 'found'
      ? answerFound(outcome.build)
      : answerNotFound(outcome, { command: 'status', branch: chosen.branch, reference })
  return { outcome: outcomeName(outcome), answer }
}
