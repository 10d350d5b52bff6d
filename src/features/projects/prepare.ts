import type { Project } from '../../domain/project.ts'
import type { Difference } from '../../domain/project-differences.ts'
import { isProjectRequest } from '../../domain/project-request.ts'
import type { ProjectRef } from '../../domain/project-names.ts'
import { textOf } from '../../domain/raw-values.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import type { ChangedMeanwhile, EditQuestion, NotSent, PreviewOutcome, ProjectBase } from './outcomes.ts'
import { baseOf, changedSince } from './base.ts'
import type { ProjectDeps } from './deps.ts'
import { meantBy, unshownIn, visibleDifferences } from './meant.ts'
import { refusalOf } from './permitted.ts'
import { readAfresh, refOf } from './read.ts'

/** An edit, as it would be written now. */
export interface Prepared {
  kind: 'prepared'
  ref: ProjectRef
  before: Project
  /** all of it, in the form of CI's answer */
  meant: Record<string, unknown>
  differences: readonly Difference[]
  /** fields that somebody else has changed since `question.base` */
  theirs: readonly string[]
  /** what CI does not show, and so may be lost */
  unshown: readonly string[]
  base: ProjectBase
}

/** What an edit would change, as CI holds the project now; sends nothing. */
export async function previewEdit(deps: ProjectDeps, question: EditQuestion, by: Asker): Promise<PreviewOutcome> {
  const refusal = await refusalOf(deps, by)
  if (refusal) return refusal
  const prepared = await prepareEdit(deps, question)
  if (prepared.kind !== 'prepared') return prepared
  const { ref: project, differences, theirs, unshown, base } = prepared
  return { kind: 'preview', project, differences, theirs, unshown, base }
}

/** Reads the project afresh and makes the change to it. */
export async function prepareEdit(
  deps: ProjectDeps,
  { project: uuid, change, base }: EditQuestion,
): Promise<Prepared | NotSent | ChangedMeanwhile | { kind: 'no-difference'; project: ProjectRef }> {
  const read = await readAfresh(deps, await refOf(deps, uuid))
  if (read.kind !== 'read') return read
  const { project: before, ref } = read
  const now = baseOf(before.raw, deps.digestKey)
  const theirs = changedSince(base, now)
  // A rule is meant by its place, where another one may stand now.
  const isByPlace = change.what === 'remove-rule' || (change.what === 'rule' && change.at !== null)
  if (isByPlace && theirs.includes('notification_rules')) return changedMeanwhile(deps, ref, theirs)
  const meant = meantBy(before.raw, change)
  if (meant.kind === 'faults') return meant
  const differences = visibleDifferences(before.raw, meant.raw)
  if (differences.length === 0) return { kind: 'no-difference', project: ref }
  const unshown = unshownIn(meant.raw, isBasic(before) && isBasic({ type: textOf(meant.raw['type']) ?? before.type }))
  return { kind: 'prepared', ref, before, meant: meant.raw, differences, theirs, unshown, base: now }
}

const isBasic = ({ type }: Pick<Project, 'type'>): boolean => type.trim().toLowerCase() === 'basic'

export async function changedMeanwhile(
  deps: Pick<ProjectDeps, 'store'>,
  project: ProjectRef,
  theirs: readonly string[],
): Promise<ChangedMeanwhile> {
  return { kind: 'changed-meanwhile', project, theirs, by: await whoChanged(deps, project, theirs) }
}

/** So many of the newest requests are looked through for who it was. */
const LOOKED_BACK_MAX = 100

async function whoChanged(
  { store }: Pick<ProjectDeps, 'store'>,
  { uuid }: ProjectRef,
  theirs: readonly string[],
): Promise<string | null> {
  const newest = await store.read.newestRequests(LOOKED_BACK_MAX)
  const request = newest
    .filter(isProjectRequest)
    .find(
      ({ action, state, projectUuid, what }) =>
        action === 'edit-project' &&
        state === 'confirmed' &&
        projectUuid === uuid &&
        what.some((field) => theirs.some((name) => isWithin(field, name))),
    )
  return request?.askedBy ?? null
}

/** `notification_rules[2].branch` is of `notification_rules`. */
export const isWithin = (field: string, name: string): boolean => topOf(field) === name

/** The field of the project that a difference is in. */
export const topOf = (field: string): string => /^[^.[]*/.exec(field)?.[0] ?? field
