import { topOf, type Difference } from '../../domain/project-change.ts'
import type { ProjectRequest } from '../../domain/request.ts'
import type { Project } from '../../domain/project.ts'
import { invariant } from '../../lib/assert.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import type { Begun, EditOutcome, EditQuestion, ProjectDeps } from './outcomes.ts'
import { listOf } from '../../domain/raw-values.ts'
import { unknownNotifiers } from '../../sources/ci-service/check-rule.ts'
import { digestOf } from './base.ts'
import {
  beforeCall,
  beforeRecord,
  callOnce,
  end,
  endUnclear,
  lookAgain,
  lookAtChanged,
  record,
  repeatedRequest,
  TAKEN,
  tell,
  type Recorded,
  type Wanted,
} from './record.ts'
import { visibleDifferences, changedMeanwhile, prepareEdit, type Prepared } from './prepare.ts'
import { refusalOf } from './read.ts'

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
  const ready = await beforeRecord(makeReady(deps, question, by))
  if (ready.kind !== 'recorded') return ready
  const { request } = ready
  // Another edit may have ended between our reading and our record, so the change is applied to the current state.
  const again = prepareUnchanged(deps, question)
  const prepared = await beforeCall(deps, request, again, 'the project could not be read again')
  if (prepared.kind !== 'prepared') {
    await end(deps, request, { kind: 'refused', code: prepared.kind })
    return prepared
  }
  const [outcome] = await Promise.all([send(deps, request, prepared), tell(deps, begun)])
  return outcome
}

async function makeReady(deps: ProjectDeps, question: EditQuestion, by: Requester): Promise<Recorded | EditOutcome> {
  const refusal = (await refusalOf(deps, by)) ?? (await repeatedRequest(deps, by))
  if (refusal) return refusal
  const prepared = await prepareUnchanged(deps, question)
  return prepared.kind === 'prepared' ? record(deps, wantedOf(deps, prepared), by) : prepared
}

/** The edit, unless somebody else has changed the project since the form showed it. */
async function prepareUnchanged(deps: ProjectDeps, question: EditQuestion) {
  const prepared = await prepareEdit(deps, question)
  if (prepared.kind !== 'prepared' || prepared.preview.theirs.length === 0) return prepared
  return changedMeanwhile(deps, prepared.preview.project, prepared.preview.theirs)
}

function wantedOf({ digestKey }: ProjectDeps, { preview, before: { raw } }: Prepared): Wanted {
  const { project, differences } = preview
  const what = [...new Set(differences.map(({ field }) => field))]
  const tops = new Set(what.map(topOf))
  const before = Object.fromEntries([...tops].map((name) => [name, digestOf(name, raw[name], digestKey)]))
  return { action: 'edit-project', project: project.name, projectUuid: project.uuid, what, before }
}

async function send(deps: ProjectDeps, request: ProjectRequest, prepared: Prepared): Promise<EditOutcome> {
  const { ci } = deps
  invariant(ci, 'what was read can be written')
  const { before, meant } = prepared
  const called = await callOnce(deps, request, () => ci.updateProject(before.uuid, meant))
  if (called.kind === 'ci-refused')
    return { ...called, unknownNotifiers: unknownNotifiers(called.reason, listOf(meant['notification_rules'])) }
  // `finish` compares the values.
  const seen = await lookAgain(deps, () => lookAtChanged(deps, before.uuid, request.before))
  if (seen.kind === 'shown') return finish(deps, request, prepared, seen.done, true)
  // Some gateways answer 200 in place of CI, so a success counts only if CI does not show the opposite.
  if (called.kind === 'answered' && seen.kind === 'away') return finish(deps, request, prepared, called.answer, false)
  return endUnclear(deps, request, called.kind === 'answered' ? TAKEN : called.code, seen.kind)
}

async function finish(
  deps: ProjectDeps,
  request: ProjectRequest,
  { before, meant, preview: { project, differences, unshown } }: Prepared,
  now: Project | null,
  readAgain: boolean,
): Promise<EditOutcome> {
  const otherwise = now ? otherwiseThan(meant, before, now) : []
  await end(deps, request, { kind: 'shown', code: otherwise.length > 0 ? 'otherwise' : null })
  return { kind: 'edited', project, differences, otherwise, unshown, readAgain }
}

/** Where CI saved something else. Ignores the AES key if the type has changed, since that alone changes the key. */
const otherwiseThan = (meant: Record<string, unknown>, before: Project, now: Project): Difference[] =>
  visibleDifferences(meant, now.raw).filter(({ field }) => before.type === now.type || topOf(field) !== 'aes_key')
