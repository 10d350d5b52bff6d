import { differencesOf, type Difference } from '../../domain/project-change.ts'
import type { ProjectRequest } from '../../domain/request.ts'
import type { Project } from '../../domain/project.ts'
import { invariant } from '../../lib/assert.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import { NotAttempted } from '../../store/not-attempted.ts'
import type { Begun, EditOutcome, EditQuestion, ProjectDeps } from './outcomes.ts'
import { listOf } from '../../domain/raw-values.ts'
import { unknownNotifiers } from '../../sources/ci-service/check-rule.ts'
import { digestOf } from './base.ts'
import {
  callOnce,
  endUnclear,
  lookAgain,
  TAKEN,
  type Seen,
  alreadyRequested,
  end,
  record,
  tell,
  type Wanted,
} from './record.ts'
import { visibleDifferences, changedMeanwhile, prepareEdit, topOf, type Prepared } from './prepare.ts'
import { refusalOf, readAfresh } from './read.ts'

/**
 * The safe update: read, change, write back in full, read again, compare. Sends nothing if others have changed the
 * project since `question.base`. At most one write for each request, and one at a time for each project. Throws
 * NotAttempted if it fails before CI is asked to change anything.
 */
export async function editProject(
  deps: ProjectDeps,
  question: EditQuestion,
  by: Requester,
  begun?: Begun,
): Promise<EditOutcome> {
  const ready = await makeReady(deps, question, by).catch((error: unknown) => {
    throw error instanceof NotAttempted ? error : new NotAttempted('it failed before that', error)
  })
  if (ready.kind !== 'ready') return ready
  return write(deps, question, ready.request, begun)
}

async function makeReady(
  deps: ProjectDeps,
  question: EditQuestion,
  by: Requester,
): Promise<{ kind: 'ready'; request: ProjectRequest } | EditOutcome> {
  const refusal = await refusalOf(deps, by)
  if (refusal) return refusal
  const repeated = await deps.store.read.requestOf(by.interactionKey)
  if (repeated) return alreadyRequested(repeated)
  const prepared = await prepareEdit(deps, question)
  if (prepared.kind !== 'prepared') return prepared
  if (prepared.theirs.length > 0) return changedMeanwhile(deps, prepared.ref, prepared.theirs)
  const recorded = await record(deps, wantedOf(deps, prepared), by)
  return recorded.kind === 'recorded' ? { kind: 'ready', request: recorded.request } : recorded
}

function wantedOf({ digestKey }: ProjectDeps, { ref, differences, before: { raw } }: Prepared): Wanted {
  const what = [...new Set(differences.map(({ field }) => field))]
  const tops = new Set(what.map(topOf))
  const before = Object.fromEntries([...tops].map((name) => [name, digestOf(name, raw[name], digestKey)]))
  return { action: 'edit-project', project: ref.name, projectUuid: ref.uuid, what, before }
}

async function write(
  deps: ProjectDeps,
  question: EditQuestion,
  request: ProjectRequest,
  begun: Begun | undefined,
): Promise<EditOutcome> {
  // Another edit may have ended between our reading and our record, so the change is applied to the current state.
  const prepared = await prepareEdit(deps, question).catch(async (error: unknown) => {
    await end(deps, request, { kind: 'refused', code: 'fault' })
    throw new NotAttempted('the project could not be read again', error)
  })
  if (prepared.kind !== 'prepared' || prepared.theirs.length > 0) {
    await end(deps, request, {
      kind: 'refused',
      code: prepared.kind === 'prepared' ? 'changed-meanwhile' : prepared.kind,
    })
    return prepared.kind === 'prepared' ? changedMeanwhile(deps, prepared.ref, prepared.theirs) : prepared
  }
  const [outcome] = await Promise.all([send(deps, request, prepared), tell(deps, begun)])
  return outcome
}

async function send(deps: ProjectDeps, request: ProjectRequest, prepared: Prepared): Promise<EditOutcome> {
  const { ci } = deps
  invariant(ci, 'what was read can be written')
  const { before, meant } = prepared
  const called = await callOnce(deps, request, () => ci.updateProject(before.uuid, meant))
  if (called.kind === 'ci-refused')
    return { ...called, unknownNotifiers: unknownNotifiers(called.reason, listOf(meant['notification_rules'])) }
  const seen = await lookAgain(deps, () => look(deps, prepared))
  if (seen.kind === 'shown') return finish(deps, request, prepared, seen.done, true)
  // Some gateways answer 200 in place of CI, so a success counts only if CI does not show the opposite.
  if (called.kind === 'answered' && seen.kind === 'away') return finish(deps, request, prepared, called.answer, false)
  return endUnclear(deps, request, called.kind === 'answered' ? TAKEN : called.code, seen.kind)
}

/** Does CI show a change in any of our fields? `finish` compares the values. */
async function look(deps: ProjectDeps, { ref, before, differences }: Prepared): Promise<Seen<Project>> {
  const read = await readAfresh(deps, ref)
  if (read.kind !== 'read') return { kind: 'away' }
  const ours = new Set(differences.map(({ field }) => topOf(field)))
  const isChanged = differencesOf(before.raw, read.project.raw).some(({ field }) => ours.has(topOf(field)))
  return isChanged ? { kind: 'shown', done: read.project } : { kind: 'not-shown' }
}

async function finish(
  deps: ProjectDeps,
  request: ProjectRequest,
  { ref, before, meant, differences, unshown }: Prepared,
  now: Project | null,
  readAgain: boolean,
): Promise<EditOutcome> {
  const otherwise = now ? otherwiseThan(meant, now.raw, before.type !== now.type) : []
  await end(deps, request, { kind: 'shown', code: otherwise.length > 0 ? 'otherwise' : null })
  return { kind: 'edited', project: ref, differences, otherwise, unshown, readAgain }
}

/** Where CI saved something else. Ignores the AES key if the type has changed, since that alone changes the key. */
function otherwiseThan(
  meant: Record<string, unknown>,
  now: Record<string, unknown>,
  isOtherType: boolean,
): Difference[] {
  return visibleDifferences(meant, now).filter(({ field }) => !isOtherType || topOf(field) !== 'aes_key')
}
