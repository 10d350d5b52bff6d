import { checkCreation as checkInput } from '../../sources/ci-service/check-creation.ts'
import { PRO_IGNORES } from '../../domain/project-fields.ts'
import type { FieldFault, ProjectCreation } from '../../domain/project.ts'
import { isRecord } from '../../domain/raw-values.ts'
import type { Creation } from './outcomes.ts'

/** What the commands of the form are called in CI. */
const PIPELINE_NAME = 'Tests'

/** The creation in CI's words, or what is wrong with it. Faults are by the form's fields where it has them. */
export function readCreation(
  creation: Creation,
): { kind: 'creation'; creation: ProjectCreation } | { kind: 'faults'; faults: readonly FieldFault[] } {
  const more = readMore(creation.more)
  if (more.kind === 'faults') return more
  const fields = fieldsOf(creation)
  const taken = Object.keys(more.fields).filter((name) => FORM_FIELDS.has(name))
  if (taken.length > 0) return faultOf('more', `${taken.join(', ')}: the form has a field of its own for this`)
  const forbidden = creation.type === 'pro' && creation.setupCommands.length > 0
  if (forbidden) return faultOf('setup_commands', 'only Basic projects have setup commands')
  const ignored = creation.type === 'pro' ? Object.keys(more.fields).filter((name) => PRO_IGNORES.has(name)) : []
  if (ignored.length > 0) return faultOf('more', `${ignored.join(', ')}: only Basic projects have this`)
  const isTwice = creation.testCommands.length > 0 && Object.hasOwn(more.fields, 'test_pipelines')
  if (isTwice) return faultOf('more', 'test_pipelines: the test commands above are one already')
  return checkInput({ ...more.fields, ...fields })
}

/** The names that CI may give a project of this repository. */
export function namesOf(repositoryUrl: string): string[] {
  const path = /^(?:[\w+.-]+:\/\/[^/]+\/|[^/:]+:)(.+?)(?:\.git)?\/?$/.exec(repositoryUrl.trim())?.[1] ?? repositoryUrl
  return [...new Set([path.split('/').slice(-2).join('/'), path])]
}

function fieldsOf(creation: Creation): Record<string, unknown> {
  const { repositoryUrl, type, teams, onPullRequestsOnly, match, branches, setupCommands, testCommands } = creation
  return {
    repository_url: repositoryUrl,
    type,
    team_ids: teams,
    build_on_pr_only: onPullRequestsOnly,
    ...(match && { branch_match: match }),
    ...(branches.length > 0 && { branches }),
    ...(setupCommands.length > 0 && { setup_commands: setupCommands }),
    ...(testCommands.length > 0 && { test_pipelines: [{ name: PIPELINE_NAME, commands: testCommands }] }),
  }
}

/** What the form has a field for. */
export const FORM_FIELDS: ReadonlySet<string> = new Set([
  'repository_url',
  'type',
  'team_ids',
  'build_on_pr_only',
  'branch_match',
  'branches',
  'setup_commands',
])

function readMore(
  more: string | null,
): { kind: 'fields'; fields: Record<string, unknown> } | { kind: 'faults'; faults: readonly FieldFault[] } {
  if (more === null || more.trim() === '') return { kind: 'fields', fields: {} }
  try {
    const fields: unknown = JSON.parse(more)
    return isRecord(fields) ? { kind: 'fields', fields } : faultOf('more', 'is no JSON object: begin with {')
  } catch {
    return faultOf('more', 'is no JSON')
  }
}

const faultOf = (field: string, reason: string) => ({ kind: 'faults' as const, faults: [{ field, reason }] })
