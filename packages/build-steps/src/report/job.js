// @ts-check
import { variableOf } from '../delivery/fields.js'

/**
 * The variables that a job's runner sets, by our own fields.
 * Source: GitHub, "Variables reference"; GitLab, "Predefined CI/CD variables reference".
 *
 * @type {readonly { sign: string, source: string, variables: Readonly<Record<string, string>> }[]}
 */
const RUNNERS = [
  {
    sign: 'GITHUB_ACTIONS',
    source: 'github',
    variables: {
      project_id: 'GITHUB_REPOSITORY_ID',
      build_id: 'GITHUB_RUN_ID',
      attempt: 'GITHUB_RUN_ATTEMPT',
      job: 'GITHUB_JOB',
    },
  },
  {
    sign: 'GITLAB_CI',
    source: 'gitlab',
    variables: { project_id: 'CI_PROJECT_ID', build_id: 'CI_PIPELINE_ID', job: 'CI_JOB_NAME' },
  },
]

/**
 * Where the report goes, and the environment with what the runner of a GitHub or GitLab job says of its build. What is set
 * by name counts first.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function jobIn(env) {
  const { source, variables } = RUNNERS.find(({ sign }) => env[sign] === 'true') ?? { source: null, variables: {} }
  const said = Object.entries(variables).map(([field, name]) => [variableOf(field), env[name]])
  const set = Object.entries(env).filter(([, value]) => value?.trim())
  return {
    endpoint: source === null ? '/webhooks/reports' : `/webhooks/${source}/reports`,
    env: { ...env, ...Object.fromEntries([...said, ...set]) },
  }
}
