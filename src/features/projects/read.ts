import { commandLines, maskedProject } from '../../domain/ci-project/masked-project.ts'
import type { Project } from '../../domain/ci-project/project.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import { sourceOf, type Uuid } from '../../domain/ids.ts'
import {
  type BuildSummary,
  type CiFailure,
  ciFailureOf,
  refusalOf,
  type Requester,
  type Refused,
  type NotFound,
} from '../../projects/outcomes.ts'
import { newestSummary } from '../../projects/find-build.ts'
import { findProject } from '../../projects/projects.ts'
import type { NotListed, ProjectDeps, ShownProject, ProjectBase } from './outcomes.ts'
import { createHmac } from 'node:crypto'
import { isNullish } from '../../lib/raw-values.ts'
import { ANSWER_ONLY, canonicalField } from '../../domain/ci-project/project-fields.ts'

export type ShowOutcome =
  /** `mayEdit`: whether the requester may edit and reset it */
  { kind: 'project'; shown: ShownProject; mayEdit: boolean } | { kind: 'no-v2' } | NotListed | CiFailure | NotFound

type Read = { kind: 'read'; project: Project; ref: ProjectRef }

/** Reads the project from CI now, and updates the cache with it. */
export async function readAfresh(
  deps: ProjectDeps,
  ref: ProjectRef,
): Promise<Read | { kind: 'no-v2' } | NotListed | CiFailure> {
  // The CI service lists its own projects only.
  if (sourceOf(ref.projectId) !== 'ci') return { kind: 'not-listed', project: ref }
  if (!deps.ci) return { kind: 'no-v2' }
  try {
    const project = await ask(deps.ci, ref)
    if (!project) return { kind: 'not-listed', project: ref }
    await cacheProject(deps, project)
    const { id, uuid, name, type } = project
    return { kind: 'read', project, ref: { projectId: ref.projectId ?? id, uuid, name, type } }
  } catch (error) {
    return ciFailureOf(error)
  }
}

/** The project of that uuid, with the id, name and type in the cache. */
export async function refOf({ store }: Pick<ProjectDeps, 'store'>, uuid: Uuid): Promise<ProjectRef> {
  const known = await store.read.project({ uuid, legacyId: '', names: [] })
  return { projectId: known?.legacyId ?? null, uuid, name: known?.name ?? uuid, type: known?.type ?? null }
}

/** Stores the project in the cache, whose rules decide which channels get its builds. */
export async function cacheProject(
  { store, clock }: Pick<ProjectDeps, 'store' | 'clock'>,
  project: Project,
): Promise<void> {
  const { uuid, id, name, type, rules } = project
  const stored = { uuid, name, type, rules, legacyId: id, readAt: clock.now() }
  await store.write((tx) => tx.saveProject(stored))
}

async function ask(ci: NonNullable<ProjectDeps['ci']>, { uuid, name }: ProjectRef): Promise<Project | null> {
  if (uuid !== null) return ci.getProject({ uuid, name })
  // Known only from deliveries, without a uuid: it is found if exactly one project has its name.
  const { projects } = await ci.listProjects({ name })
  return projects.length === 1 && projects[0]!.name === name ? projects[0]! : null
}

/** Why this person may not create, edit or reset; null: they may. */
export const refusalToAdminister = (
  { permits }: Pick<ProjectDeps, 'permits'>,
  by: Pick<Requester, 'user' | 'team'>,
): Promise<Refused | null> => refusalOf(permits, 'administer', by, 'administer')

/** The project as CI has it now, without its secrets. */
export async function showProject(
  deps: ProjectDeps,
  text: string,
  by: Pick<Requester, 'user' | 'team'>,
): Promise<ShowOutcome> {
  const found = await findProject(deps.store.read, text)
  if (found.kind !== 'project') return found
  const [read, refusal] = await Promise.all([readAfresh(deps, found.project), refusalToAdminister(deps, by)])
  if (read.kind !== 'read') return read
  const { project, ref } = read
  const shown = {
    project: ref,
    masked: maskedProject(project.raw),
    setup: commandLines(project.raw),
    build: await newestOf(deps, ref),
    base: baseOf(project.raw, deps.digestKey),
  }
  return { kind: 'project', shown, mayEdit: refusal === null }
}

const newestOf = ({ store, configured, clock }: ProjectDeps, project: ProjectRef): Promise<BuildSummary | null> =>
  newestSummary({ store, configured, clock }, project)

/** At most this many fields have their own digest. All other fields that CI sends share one. */
export const BASE_FIELDS_MAX = 30
/** The longest name of a field with its own digest, in characters of JSON: a form has to carry all of them. */
export const BASE_NAME_CHARS_MAX = 40

/** The name of the shared digest. */
export const OTHER_FIELDS = '…'

const DIGEST_CHARS = 8

type Raw = Readonly<Record<string, unknown>>

/** A digest of each field that an update can set. Equal for values that mean the same. */
export function baseOf(raw: Raw, key: string): ProjectBase {
  const names = Object.keys(raw).filter((name) => !ANSWER_ONLY.has(name) && !isNullish(raw[name]))
  const sorted = names.sort()
  const own = sorted.filter((name) => charsOf(name) <= BASE_NAME_CHARS_MAX).slice(0, BASE_FIELDS_MAX)
  const others = sorted.filter((name) => !own.includes(name))
  return Object.fromEntries([
    ...own.map((name) => [name, fieldDigest(name, raw[name], key)] as const),
    ...(others.length === 0 ? [] : [[OTHER_FIELDS, fieldDigest('', pick(raw, others), key)] as const]),
  ])
}

const charsOf = (name: string): number => JSON.stringify(name).length - QUOTES

const QUOTES = 2

export function changedSince(base: ProjectBase, now: ProjectBase): string[] {
  const names = new Set([...Object.keys(base), ...Object.keys(now)])
  return [...names].filter((name) => base[name] !== now[name]).sort()
}

/** A short digest of a value. @param name the field's name, which decides whether the order of its items matters */
export const fieldDigest = (name: string, value: unknown, key: string): string =>
  createHmac('sha256', key)
    .update(`${name}:${canonicalField(name, value)}`)
    .digest('base64url')
    .slice(0, DIGEST_CHARS)

const pick = (raw: Raw, names: readonly string[]): Raw => Object.fromEntries(names.map((name) => [name, raw[name]]))
