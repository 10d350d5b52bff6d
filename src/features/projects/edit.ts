import {
  applyChange,
  differencesOf,
  topOf,
  type ChangeEffect,
  type Difference,
  type ProjectChange,
} from '../../domain/ci-project/project-change.ts'
import {
  beforeRecord,
  end,
  recordForProject,
  repeatedRequest,
  retryLookUp,
  type Recorded,
  type RequestedChange,
} from '../../projects/requests.ts'
import { maskedSecrets, absentFields } from '../../domain/ci-project/masked-project.ts'
import { ANSWER_ONLY, BASIC_ONLY } from '../../domain/ci-project/project-fields.ts'
import type { Project } from '../../domain/ci-project/project.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { listOf, textOf } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'
import type { ProjectRequest } from '../../domain/cards/request.ts'
import {
  ourRules,
  checkFilter,
  checkRuleAt,
  missingOptions,
  unknownNotifiers,
} from '../../sources/ci-service/check-rule.ts'
import { withoutRulesOf, type FieldFault } from '../../domain/rules/rule.ts'
import { invariant } from '../../lib/assert.ts'
import type { Requester } from '../../projects/outcomes.ts'
import { updateBody, without } from '../../sources/ci-service/wire.ts'
import { baseOf, changedSince, fieldDigest, readAfresh, refOf, refusalToAdminister } from './read.ts'
import type { ProjectDeps, NotSent, ProjectBase, SentInVain } from './outcomes.ts'
import { beforeCall, callForProject, endAnnounced, endUnclear, lookAtChanged, TAKEN } from './record.ts'
import type { Uuid } from '../../domain/ids.ts'

export interface EditInput {
  project: Uuid
  change: ProjectChange
  /** the digests of the fields as the form showed them */
  base: ProjectBase
  /** notifiers whose rules are left out, because CI refuses them */
  without?: readonly string[]
}

/** `base` null: no form has shown it before */
export type PreviewInput = Omit<EditInput, 'base'> & { base: ProjectBase | null }

/** The change that would be sent. */
export interface Preview {
  kind: 'preview'
  project: ProjectRef
  differences: readonly Difference[]
  /** the fields that somebody else has changed since the form was opened */
  theirs: readonly string[]
  /** the fields that CI does not show, so that an update may lose them */
  unshown: readonly string[]
  /** it removes the last rule through which CI notifies Buildline of builds */
  silences: boolean
  base: ProjectBase
}

export type PreviewOutcome = Preview | { kind: 'no-difference'; project: ProjectRef } | ChangedMeanwhile | NotSent

/**
 * Somebody else changed the project before the change was sent: nothing was sent. A rule is identified by its position,
 * so for rules even the preview fails with this.
 */
export interface ChangedMeanwhile {
  kind: 'changed-meanwhile'
  project: ProjectRef
  /** the fields */
  theirs: readonly string[]
}

export type EditOutcome =
  /** CI accepted the change; `otherwise`: what CI saved differently; `readAgain` false: that could not be checked */
  | {
      kind: 'edited'
      project: ProjectRef
      differences: readonly Difference[]
      otherwise: readonly Difference[]
      /** the fields that CI shows neither before nor after: they may be lost */
      unshown: readonly string[]
      readAgain: boolean
    }
  | ChangedMeanwhile
  | { kind: 'no-difference'; project: ProjectRef }
  | NotSent
  | SentInVain

/** Compares an edit with the project as CI has it now; sends nothing. */
export async function previewEdit(deps: ProjectDeps, input: PreviewInput, by: Requester): Promise<PreviewOutcome> {
  const refusal = await refusalToAdminister(deps, by)
  if (refusal) return refusal
  const prepared = await prepareEdit(deps, input)
  return prepared.kind === 'prepared' ? prepared.preview : prepared
}

/**
 * The safe update: read, change, write back in full, read again, compare. Sends nothing if others have changed the
 * project since `input.base` was read. At most one write for each request, and one at a time for each project. Throws
 * NotAttempted if it fails before CI is asked to change anything.
 */
export async function editProject(deps: ProjectDeps, input: EditInput, by: Requester): Promise<EditOutcome> {
  const ready = await beforeRecord(makeReady(deps, input, by))
  if (ready.kind !== 'recorded') return ready
  const { request } = ready
  // Another edit may have ended between our reading and our record, so the change is applied to the current state.
  const again = prepareUnchanged(deps, input)
  const prepared = await beforeCall(deps, request, again, 'the project could not be read again')
  if (prepared.kind !== 'prepared') {
    await end(deps, request, { kind: 'refused', code: prepared.kind })
    return prepared
  }
  return send(deps, request, prepared)
}

async function makeReady(deps: ProjectDeps, input: EditInput, by: Requester): Promise<Recorded | EditOutcome> {
  const refusal = (await refusalToAdminister(deps, by)) ?? (await repeatedRequest(deps, by))
  if (refusal) return refusal
  const prepared = await prepareUnchanged(deps, input)
  return prepared.kind === 'prepared' ? recordForProject(deps, wantedOf(deps, prepared), by) : prepared
}

/** The edit, unless somebody else has changed the project since the form showed it. */
async function prepareUnchanged(deps: ProjectDeps, input: EditInput) {
  const prepared = await prepareEdit(deps, input)
  if (prepared.kind !== 'prepared' || prepared.preview.theirs.length === 0) return prepared
  const { project, theirs } = prepared.preview
  return { kind: 'changed-meanwhile', project, theirs } as const
}

function wantedOf({ digestKey }: ProjectDeps, { preview, before: { raw } }: Prepared): RequestedChange {
  const { project, differences } = preview
  const what = [...new Set(differences.map(({ field }) => field))]
  const tops = new Set(what.map(topOf))
  const before = Object.fromEntries([...tops].map((name) => [name, fieldDigest(name, raw[name], digestKey)]))
  return { action: 'edit-project', project: project.name, projectUuid: project.uuid, what, before }
}

async function send(deps: ProjectDeps, request: ProjectRequest, prepared: Prepared): Promise<EditOutcome> {
  const { ci } = deps
  invariant(ci, 'what was read can be written')
  const { before, meant } = prepared
  const called = await callForProject(deps, request, () => ci.updateProject(before.uuid, meant))
  if (called.kind === 'ci-refused')
    return { ...called, unknownNotifiers: unknownNotifiers(called.reason, listOf(meant['notification_rules'])) }
  // `finish` compares the values.
  const seen = await retryLookUp(deps, () => lookAtChanged(deps, before.uuid, request.before))
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
  await endAnnounced(deps, request, { kind: 'shown', code: otherwise.length > 0 ? 'otherwise' : null })
  return { kind: 'edited', project, differences, otherwise, unshown, readAgain }
}

/** Fields that CI saved differently. Ignores the AES key if the type has changed, since that alone changes the key. */
const otherwiseThan = (meant: Record<string, unknown>, before: Project, now: Project): Difference[] =>
  visibleDifferences(meant, now.raw).filter(({ field }) => before.type === now.type || topOf(field) !== 'aes_key')

/** An edit, as it would be written now. */
interface Prepared {
  kind: 'prepared'
  preview: Preview
  before: Project
  /** the whole project after the edit, in the format of CI's answer; it contains secrets */
  meant: Record<string, unknown>
}

/** Reads the project from CI and applies the change to it; sends nothing. */
async function prepareEdit(
  deps: ProjectDeps,
  { project: uuid, change, base, without: notifiers = [] }: PreviewInput,
): Promise<Prepared | Exclude<PreviewOutcome, Preview>> {
  const read = await readAfresh(deps, await refOf(deps, uuid))
  if (read.kind !== 'read') return read
  const { project: before, ref } = read
  const now = baseOf(before.raw, deps.digestKey)
  const theirs = base ? changedSince(base, now) : []
  // A rule is identified by its position, where there may be another rule now.
  const isByPlace = change.what === 'remove-rule' || (change.what === 'rule' && change.at !== null)
  if (isByPlace && theirs.includes('notification_rules')) return { kind: 'changed-meanwhile', project: ref, theirs }
  const meant = meantBy(before.raw, change, notifiers)
  if (meant.kind === 'faults') return meant
  const differences = visibleDifferences(before.raw, meant.raw)
  if (differences.length === 0) return { kind: 'no-difference', project: ref }
  const unshown = unshownIn(meant.raw, isBasic(before) && isBasic({ type: textOf(meant.raw['type']) ?? before.type }))
  const silences = ourRules(before.raw).length > 0 && ourRules(meant.raw).length === 0
  const preview = { kind: 'preview', project: ref, differences, theirs, unshown, silences, base: now } as const
  return { kind: 'prepared', preview, before, meant: meant.raw }
}

const isBasic = ({ type }: Pick<Project, 'type'>): boolean => type.trim().toLowerCase() === 'basic'

type Raw = Record<string, unknown>

/** The whole project after the edit, or why it cannot be sent. Does not modify its argument. */
function meantBy(raw: Raw, change: ProjectChange, notifiers: readonly string[]): ChangeEffect {
  const effect = applyChange(raw, change)
  if (effect.kind === 'faults') return effect
  const meant = asWritten(effect.raw)
  const faults = [...faultsOf(meant, change), ...maskedSecrets(without(meant, ANSWER_ONLY))]
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'changed', raw: withoutRulesOf(notifiers, meant) }
}

/** The names of the fields that CI does not show, so that an update may lose them. Basic projects have more fields. */
const unshownIn = (raw: Raw, staysBasic: boolean): string[] => [
  ...absentFields(raw, staysBasic),
  ...listOf(raw['notification_rules']).flatMap((rule, at) =>
    isRecord(rule) ? missingOptions(rule, 'update').map((name) => `notification_rules[${at}].options.${name}`) : [],
  ),
]

/** The differences that people can see: an empty list and a missing one count as equal. */
export const visibleDifferences = (before: Raw, after: Raw): Difference[] =>
  differencesOf(before, after).filter((one) => one.before !== null || one.after !== null)

// Checks only what is changed: CI may have accepted other values that we do not know.
function faultsOf(raw: Raw, change: ProjectChange): FieldFault[] {
  if (change.what === 'builds') return checkFilter(change.branches)
  if (change.what !== 'rule') return []
  const rules = listOf(raw['notification_rules'])
  const at = change.at ?? rules.length - 1
  return checkRuleAt(at, rules[at], 'update')
}

/** Removes the fields that an update leaves out for a project that is not Basic: they must not seem to stay. */
function asWritten(raw: Raw): Raw {
  const sent = updateBody(raw)
  if ([...BASIC_ONLY].every((name) => !(name in raw) || name in sent)) return raw
  // Not via Object.entries, which would lose the symbol property that keeps numbers beyond 2^53 exact.
  const { setup_commands: _setup, environment_variables: _variables, ...rest } = raw
  return rest
}
