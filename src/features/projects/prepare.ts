import type { Project, FieldFault } from '../../domain/project.ts'
import { type Difference, differencesOf, applyChange, type ProjectChange } from '../../domain/project-change.ts'
import { withoutRulesOf } from '../../domain/rule-input.ts'
import { isProjectRequest } from '../../domain/request.ts'
import type { ProjectRef } from '../../domain/project-names.ts'
import { textOf, listOf } from '../../domain/raw-values.ts'
import { isRecord } from '../../lib/json.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import type {
  ChangedMeanwhile,
  NotSent,
  PreviewOutcome,
  PreviewQuestion,
  ProjectBase,
  ProjectDeps,
} from './outcomes.ts'
import { baseOf, changedSince } from './base.ts'
import { refusalOf, readAfresh, refOf } from './read.ts'
import { checkFilter, checkRule, missingOptions } from '../../sources/ci-service/check-rule.ts'
import { updateBody, without } from '../../sources/ci-service/update-body.ts'
import { ANSWER_ONLY, BASIC_ONLY, MASK, withoutCredentials } from '../../domain/project-fields.ts'
import { maskedSecrets, unsaidFields } from '../../domain/masked-project.ts'

/** An edit, as it would be written now. */
export interface Prepared {
  kind: 'prepared'
  ref: ProjectRef
  before: Project
  /** the whole project after the edit, in the format of CI's answer */
  meant: Record<string, unknown>
  differences: readonly Difference[]
  /** fields that somebody else has changed since `question.base` */
  theirs: readonly string[]
  /** fields that CI does not show, so that they may be lost */
  unshown: readonly string[]
  base: ProjectBase
}

/** What an edit would change in the project as CI has it now; sends nothing. */
export async function previewEdit(
  deps: ProjectDeps,
  question: PreviewQuestion,
  by: Requester,
): Promise<PreviewOutcome> {
  const refusal = await refusalOf(deps, by)
  if (refusal) return refusal
  const prepared = await prepareEdit(deps, question)
  if (prepared.kind !== 'prepared') return prepared
  const { ref: project, differences, theirs, unshown, base } = prepared
  return { kind: 'preview', project, differences, theirs, unshown, base }
}

/** Reads the project from CI and applies the change to it; sends nothing. */
export async function prepareEdit(
  deps: ProjectDeps,
  { project: uuid, change, base, without: notifiers = [] }: PreviewQuestion,
): Promise<Prepared | NotSent | ChangedMeanwhile | { kind: 'no-difference'; project: ProjectRef }> {
  const read = await readAfresh(deps, await refOf(deps, uuid))
  if (read.kind !== 'read') return read
  const { project: before, ref } = read
  const now = baseOf(before.raw, deps.digestKey)
  const theirs = base ? changedSince(base, now) : []
  // A rule is identified by its position, where there may be another rule now.
  const isByPlace = change.what === 'remove-rule' || (change.what === 'rule' && change.at !== null)
  if (isByPlace && theirs.includes('notification_rules')) return changedMeanwhile(deps, ref, theirs)
  const meant = meantBy(before.raw, change, notifiers)
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

/** At most this many of the newest requests are searched for the person who made a change. */
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
  return request?.requestedBy ?? null
}

/** `notification_rules[2].branch` is within `notification_rules`. */
const isWithin = (field: string, name: string): boolean => topOf(field) === name

/** The top-level field of the project that a difference is in. */
export const topOf = (field: string): string => /^[^.[]*/.exec(field)?.[0] ?? field

type Raw = Record<string, unknown>

/** The whole project as it should be, or why it cannot be sent. The argument is not changed. */
function meantBy(
  raw: Raw,
  change: ProjectChange,
  notifiers: readonly string[],
): { kind: 'meant'; raw: Raw } | { kind: 'faults'; faults: readonly FieldFault[] } {
  const { change: whole, faults: unreadable } = withHidden(raw, change)
  if (unreadable.length > 0) return { kind: 'faults', faults: unreadable }
  const effect = applyChange(raw, whole)
  if (effect.kind === 'faults') return effect
  const meant = asWritten(effect.raw)
  const faults = [...faultsOf(meant, whole), ...maskedSecrets(withoutAnswerOnly(meant))]
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'meant', raw: withoutRulesOf(notifiers, meant) }
}

/** The names of the fields that CI does not show, so that an update may lose them. Basic projects have more fields. */
const unshownIn = (raw: Raw, staysBasic: boolean): string[] => [
  ...unsaidFields(raw, staysBasic),
  ...listOf(raw['notification_rules']).flatMap((rule, at) =>
    isRecord(rule) ? missingOptions(rule).map((name) => `notification_rules[${at}].options.${name}`) : [],
  ),
]

const withoutAnswerOnly = (raw: Raw): Raw => without(raw, ANSWER_ONLY)

/** The differences that people can see: an empty list and a missing one count as equal. */
export const visibleDifferences = (before: Raw, after: Raw): Difference[] =>
  differencesOf(before, after).filter((one) => one.before !== null || one.after !== null)

/** The change with the masked setup commands filled in again. */
function withHidden(raw: Raw, change: ProjectChange): { change: ProjectChange; faults: readonly FieldFault[] } {
  if (change.what !== 'setup') return { change, faults: [] }
  const { commands, faults } = commandsOfLines(change.commands, raw)
  return { change: { ...change, commands }, faults }
}

// Checks only what is changed: CI may have accepted other values that we do not know.
function faultsOf(raw: Raw, change: ProjectChange): FieldFault[] {
  if (change.what === 'builds') return checkFilter(change.branches)
  if (change.what !== 'rule') return []
  const rules = listOf(raw['notification_rules'])
  const at = change.at ?? rules.length - 1
  const rule = rules[at]
  return isRecord(rule)
    ? checkRule(rule, 'update').map(({ field, reason }) => ({ field: `notification_rules[${at}].${field}`, reason }))
    : []
}

/** Removes the fields that an update leaves out for a project that is not Basic: they must not seem to stay. */
function asWritten(raw: Raw): Raw {
  const sent = updateBody(raw)
  if ([...BASIC_ONLY].every((name) => !(name in raw) || name in sent)) return raw
  // Not via Object.entries, which would lose the symbol property that keeps numbers beyond 2^53 exact.
  const { setup_commands: _setup, environment_variables: _variables, ...rest } = raw
  return rest
}

/** Shown in place of a line break within one command. */
const BREAK = ' ⏎ '

/** A project's setup commands for showing and typing back: one line each, credentials masked. */
export const commandLines = (raw: Readonly<Record<string, unknown>>): string[] => commandsOf(raw).map(lineOf)

/**
 * Turns typed lines back into commands. A line that was left as it was shown stands for the existing command. Any other
 * line with a mask or a line break sign is a fault.
 */
export function commandsOfLines(
  lines: readonly string[],
  raw: Readonly<Record<string, unknown>>,
): { commands: string[]; faults: FieldFault[] } {
  const left = commandsOf(raw).map((command) => ({ command, line: lineOf(command) }))
  const faults: FieldFault[] = []
  const commands = lines.map((line, at) => {
    const kept = left.findIndex((one) => one.line === line)
    const [known] = kept < 0 ? [] : left.splice(kept, 1)
    const isBroken = !known && (line.includes(MASK) || line.includes(BREAK.trim()))
    if (isBroken) faults.push({ field: `setup_commands[${at}]`, reason: 'leave it as it was, or type all of it' })
    return known?.command ?? line
  })
  return { commands, faults }
}

const commandsOf = (raw: Readonly<Record<string, unknown>>): string[] =>
  listOf(raw['setup_commands']).flatMap((command) => textOf(command) ?? [])

const lineOf = (command: string): string =>
  withoutCredentials(command)
    .trim()
    .split(/\r\n|[\r\n]/)
    .join(BREAK)
