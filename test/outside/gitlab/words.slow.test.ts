import { describe, expect, test } from 'vitest'
import { SOURCES, STATUSES, type Status } from '../../../packages/sandbox-gitlab/src/state.ts'
import { pushed } from '../../../packages/sandbox-gitlab/test/support.ts'
import type { SandboxGitlab } from '../../../packages/sandbox-gitlab/src/server.ts'
import { readPipeline } from '../../../src/sources/gitlab/pipeline.ts'
import { played, WAYS, type Seen } from './stage.ts'

// What the bot makes of each word of GitLab, and of one that GitLab does not have yet. The lists are GitLab's own, from
// the source of GitLab 19 (gitlabhq/gitlabhq); each list names its file. Everything is played on the default branch.

/** `posted`: also in a channel with the default rules. */
const inWords = ({ cards, isPosted }: Seen): string =>
  `${cards.length === 0 ? 'no card' : cards.join(' and ')}${isPosted ? ', posted' : ''}`

type Play = (gitlab: SandboxGitlab, word: string, project: string) => void

/** What became of each word, after these steps in a project of its own. */
async function tableOf(way: (typeof WAYS)[number], words: readonly string[], ...steps: readonly Play[]) {
  const projects = words.map((word) => `acme/${word}`)
  const wordOf = (project: string) => words[projects.indexOf(project)]!
  const seen = await played(
    way,
    projects,
    steps.map((step) => (gitlab, project) => step(gitlab, wordOf(project), project)),
  )
  return Object.fromEntries(words.map((word, at) => [word, inWords(seen[at]!)]))
}

/**
 * Source: `app/models/concerns/ci/has_status.rb`. Each with what a card says that was there before, and what a pipeline
 * that is first seen in this state is shown as.
 */
const OF_STATUSES: Readonly<Record<Status | 'pondering', readonly [onCard: string, alone: string]>> = {
  created: ['Running', 'no card'],
  waiting_for_resource: ['Running', 'no card'],
  preparing: ['Running', 'no card'],
  waiting_for_callback: ['Running', 'Running'],
  pending: ['Running', 'no card'],
  running: ['Running', 'Running'],
  manual: ['Waiting', 'Waiting'],
  scheduled: ['Running', 'no card'],
  canceling: ['Running', 'Running'],
  success: ['Passed', 'Passed'],
  failed: ['Failed, posted', 'Failed, posted'],
  canceled: ['Stopped', 'Stopped'],
  skipped: ['Skipped', 'no card'],
  pondering: ['Unknown (pondering)', 'Unknown (pondering)'],
}

/** Source: `app/models/concerns/enums/ci/commit_status.rb`, and, for the last two, `app/presenters/commit_status_presenter.rb`. */
const OF_REASONS: Readonly<Record<string, string>> = {
  unknown_failure: 'Failed, posted',
  script_failure: 'Failed, posted',
  api_failure: 'CI machine error, posted',
  stuck_or_timeout_failure: 'CI machine error, posted',
  runner_system_failure: 'CI machine error, posted',
  missing_dependency_failure: 'Failed, posted',
  runner_unsupported: 'CI machine error, posted',
  stale_schedule: 'CI machine error, posted',
  job_execution_timeout: 'Failed, posted',
  archived_failure: 'Failed, posted',
  unmet_prerequisites: 'Failed, posted',
  scheduler_failure: 'CI machine error, posted',
  data_integrity_failure: 'CI machine error, posted',
  forward_deployment_failure: 'Failed, posted',
  user_blocked: 'Failed, posted',
  project_deleted: 'Failed, posted',
  ci_quota_exceeded: 'notice, posted',
  pipeline_loop_detected: 'Failed, posted',
  no_matching_runner: 'CI machine error, posted',
  trace_size_exceeded: 'Failed, posted',
  builds_disabled: 'Failed, posted',
  environment_creation_failure: 'Failed, posted',
  deployment_rejected: 'Failed, posted',
  failed_outdated_deployment_job: 'Failed, posted',
  job_execution_server_timeout: 'Failed, posted',
  stuck_pending_with_matching_runners: 'CI machine error, posted',
  stuck_pending_no_matching_runners: 'CI machine error, posted',
  no_updates_running: 'CI machine error, posted',
  no_updates_canceling: 'CI machine error, posted',
  server_timeout_running: 'Failed, posted',
  server_timeout_canceling: 'Failed, posted',
  runner_configuration_error: 'Failed, posted',
  runner_external_dependency_failure: 'CI machine error, posted',
  runner_interrupted: 'CI machine error, posted',
  protected_environment_failure: 'Failed, posted',
  insufficient_bridge_permissions: 'Failed, posted',
  downstream_bridge_project_not_found: 'Failed, posted',
  invalid_bridge_trigger: 'Failed, posted',
  upstream_bridge_project_not_found: 'Failed, posted',
  insufficient_upstream_permissions: 'Failed, posted',
  bridge_pipeline_is_child_pipeline: 'Failed, posted',
  downstream_pipeline_creation_failed: 'Failed, posted',
  secrets_provider_not_found: 'Failed, posted',
  reached_max_descendant_pipelines_depth: 'Failed, posted',
  ip_restriction_failure: 'Failed, posted',
  reached_max_pipeline_hierarchy_size: 'Failed, posted',
  reached_downstream_pipeline_trigger_rate_limit: 'Failed, posted',
  duo_workflow_not_allowed: 'Failed, posted',
  job_router_failure: 'CI machine error, posted',
  job_token_expired: 'Failed, posted',
  id_token_burned_project_path: 'Failed, posted',
  downstream_project_trigger_resolved_to_empty: 'Failed, posted',
  secrets_manager_access_denied: 'Failed, posted',
  duo_workflow_connection_failure: 'Failed, posted',
  moon_in_the_way: 'Failed, posted',
}

/**
 * Source: `app/models/concerns/enums/ci/pipeline.rb`. A push passes, then a pipeline of this source fails for the same
 * commit: one card with the second attempt, or one for each.
 */
const OF_SOURCES: Readonly<Record<(typeof SOURCES)[number] | 'moonlight', string>> = {
  unknown: 'Passed and Failed, posted',
  push: 'Failed, posted',
  web: 'Passed and Failed, posted',
  trigger: 'Passed and Failed, posted',
  schedule: 'Passed and Failed, posted',
  api: 'Passed and Failed, posted',
  external: 'Passed and Failed, posted',
  pipeline: 'Passed and Failed, posted',
  chat: 'Passed and Failed, posted',
  webide: 'Passed and Failed, posted',
  merge_request_event: 'Passed and Failed',
  external_pull_request_event: 'Passed and Failed, posted',
  parent_pipeline: 'Passed',
  ondemand_dast_scan: 'Passed and Failed, posted',
  ondemand_dast_validation: 'Passed and Failed, posted',
  security_orchestration_policy: 'Passed and Failed, posted',
  container_registry_push: 'Passed and Failed, posted',
  duo_workflow: 'Passed and Failed, posted',
  pipeline_execution_policy_schedule: 'Passed and Failed, posted',
  moonlight: 'Passed and Failed, posted',
}

const running: Play = (gitlab, _, project) => void pushed(gitlab, { outcome: 'none' }, project)
const queued: Play = (gitlab, _, project) => void pushed(gitlab, { outcome: 'none', queuedMs: 3_600_000 }, project)

const lastIn = (gitlab: SandboxGitlab, project: string) =>
  gitlab.state().pipelines.findLast((pipeline) => pipeline.project === project)!

describe.each(WAYS)('by %s', (way) => {
  test('each status of a pipeline has its word on a card', async () => {
    const words = Object.keys(OF_STATUSES)
    const becomes: Play = (gitlab, word, project) => void gitlab.advance(lastIn(gitlab, project).id, word as Status)
    expect(words).toEqual([...STATUSES, 'pondering'])
    expect(await tableOf(way, words, running, becomes)).toEqual(columnOf(OF_STATUSES, 0))
    expect(await tableOf(way, words, queued, becomes)).toEqual(columnOf(OF_STATUSES, 1))
  })

  test('each reason why a job failed decides whose fault it is', async () => {
    const fails: Play = (gitlab, reason, project) => {
      queued(gitlab, reason, project)
      gitlab.finish(lastIn(gitlab, project).id, 'failed', [{ name: 'unit', reason }])
    }
    expect(await tableOf(way, Object.keys(OF_REASONS), fails)).toEqual(OF_REASONS)
  })

  test('each source has its card, or shares that of a push', async () => {
    const passes: Play = (gitlab, _, project) => void gitlab.finish(lastIn(gitlab, project).id, 'success')
    const another: Play = (gitlab, source, project) => {
      const mergeRequest = source === 'merge_request_event' ? { iid: 1 } : null
      const { sha } = lastIn(gitlab, project)
      gitlab.finish(pushed(gitlab, { sha, source, mergeRequest, outcome: 'none' }, project).id, 'failed')
    }
    expect(Object.keys(OF_SOURCES)).toEqual([...SOURCES, 'moonlight'])
    expect(await tableOf(way, Object.keys(OF_SOURCES), running, passes, another)).toEqual(OF_SOURCES)
  })
})

/** Source: `lib/gitlab/ci/status/`. */
const LABELS = [
  'created',
  'waiting for resource',
  'preparing',
  'waiting for callback',
  'pending',
  'running',
  'waiting for manual action',
  'waiting for delayed job',
  'canceling',
  'passed',
  'passed with warnings',
  'failed',
  'canceled',
  'skipped',
  'shining',
]

test('the status counts, whatever detailed_status says, in a delivery or in the REST interface', () => {
  const project = { id: 71, path_with_namespace: 'acme/web' }
  const read = (more: object) => {
    const { event } = readPipeline({ pipeline: { id: 31, status: 'success', ...more }, project })!
    // That jobs failed which may is told beside the status.
    return { ...event, details: { ...event.details, end: null } }
  }
  for (const label of LABELS)
    for (const detailed_status of [label, { label, text: label, group: label }])
      expect(read({ detailed_status })).toEqual(read({}))
})

test.each(WAYS)('a pipeline that passed with warnings has passed, by %s', async (way) => {
  const warns: Play = (gitlab, _, project) => {
    const jobs = [{ name: 'lint', allowFailure: true }, { name: 'unit' }]
    gitlab.finish(pushed(gitlab, { jobs, outcome: 'none' }, project).id, 'success', ['lint'])
  }
  expect(await tableOf(way, ['warnings'], warns)).toEqual({ warnings: 'Passed' })
})

const columnOf = <Column>(table: Readonly<Record<string, readonly Column[]>>, at: number) =>
  Object.fromEntries(Object.entries(table).map(([word, columns]) => [word, columns[at]]))
