import { maskedProject } from '../../domain/masked-project.ts'
import type { ProjectRef } from '../../domain/project-names.ts'
import type { KnownProject } from '../../store/records.ts'
import type { Requester, BuildSummary, CiTrouble } from '../../catalog/outcomes.ts'
import { newestSummary } from '../../catalog/find-build.ts'
import { findProject } from '../../catalog/projects.ts'
import type { ShownProject, ShowOutcome, ProjectDeps } from './outcomes.ts'
import { baseOf } from './base.ts'
import { commandLines } from './prepare.ts'
import { refusalOf, readAfresh } from './read.ts'

/** The project as CI has it now, without its secrets; if CI cannot be reached, as it was last read. */
export async function showProject(
  deps: ProjectDeps,
  text: string,
  by: Pick<Requester, 'user' | 'team'>,
): Promise<ShowOutcome> {
  const found = await findProject(deps.store.read, text)
  if (found.kind !== 'project') return found
  const [read, refusal] = await Promise.all([readAfresh(deps, found.project), refusalOf(deps, by)])
  const mayEdit = refusal === null
  if (read.kind === 'ci-trouble') return asLastRead(deps, found.project, read, mayEdit)
  if (read.kind !== 'read') return read
  const { project, ref } = read
  const shown = {
    project: ref,
    masked: maskedProject(project.raw),
    setup: commandLines(project.raw),
    build: await newestOf(deps, ref),
    base: baseOf(project.raw, deps.digestKey),
  }
  return { kind: 'project', shown, stale: null, mayEdit }
}

async function asLastRead(
  deps: ProjectDeps,
  project: ProjectRef,
  stale: CiTrouble,
  mayEdit: boolean,
): Promise<ShowOutcome> {
  const { uuid } = project
  const known = uuid === null ? null : await deps.store.read.project({ uuid, legacyId: '', names: [] })
  if (!known) return stale
  const build = await newestOf(deps, project)
  const shown: ShownProject = { project, masked: maskedProject(rawOf(known)), setup: [], build, base: {} }
  return { kind: 'project', shown, stale, mayEdit }
}

/** The cached project in the format of CI's answer. */
const rawOf = ({ type, rules, filter }: KnownProject): Record<string, unknown> => ({
  type,
  branch_match: filter?.mode,
  branches: filter?.entries,
  notification_rules: rules?.map(({ notifier, target, branch, branchMatch, buildStatuses }) => ({
    notifier,
    target,
    branch,
    branch_match: branchMatch,
    build_statuses: buildStatuses,
  })),
})

const newestOf = ({ store, interfaces, clock }: ProjectDeps, project: ProjectRef): Promise<BuildSummary | null> =>
  newestSummary({ reads: store.read, interfaces, clock }, project)
