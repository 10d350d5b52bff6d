import { hasStreak, shownStream, streamOf } from '../../../../src/domain/builds/stream.ts'
import { triggerOf as githubTrigger } from '../../../../src/sources/github/run.ts'
import { triggerOf as gitlabTrigger } from '../../../../src/sources/gitlab/pipeline.ts'
import type { Person, Trigger } from '../../../../src/sources/trigger.ts'

/** Everything that starts a run at GitHub or a pipeline at GitLab, and what that means for its stream, card and person. */
export const triggerTable = (): string =>
  [
    '| started by | stream | card | about |',
    '|---|---|---|---|',
    ...GITHUB_EVENTS.map((event) => row('GitHub', event, 'main', githubTriggerOf(event))),
    ...GITLAB_SOURCES.map((source) => row('GitLab', source, branchOf(source), gitlabTriggerOf(source))),
    row('GitLab', 'a tag', 'v1.0', gitlabTrigger({ source: 'push', ref: 'v1.0', isTag: true })),
  ].join('\n')

/** Source: GitHub, "Events that trigger workflows", and `dynamic`, which GitHub's own workflows have. */
const GITHUB_EVENTS = [
  'push pull_request schedule workflow_dispatch merge_group',
  'branch_protection_rule check_run check_suite create delete deployment deployment_status discussion',
  'discussion_comment dynamic fork gollum image_version issue_comment issues label milestone page_build public',
  'pull_request_review pull_request_review_comment pull_request_target registry_package release',
  'repository_dispatch status watch workflow_run',
].flatMap((line) => line.split(' '))

/** Source: GitLab, `app/models/concerns/enums/ci/pipeline.rb`. A child pipeline (`parent_pipeline`) is a job of its parent. */
const GITLAB_SOURCES = [
  'push merge_request_event schedule web',
  'api chat container_registry_push duo_workflow external external_pull_request_event ondemand_dast_scan',
  'ondemand_dast_validation pipeline pipeline_execution_policy_schedule security_orchestration_policy trigger',
  'unknown webide',
].flatMap((line) => line.split(' '))

const githubTriggerOf = (event: string): Trigger =>
  githubTrigger({
    event,
    branch: event === 'merge_group' ? 'gh-readonly-queue/main/pr-87-a1b2c' : 'main',
    pullRequests: ['87'],
  })

const gitlabTriggerOf = (source: string): Trigger => gitlabTrigger({ source, ref: 'main', isTag: false })

const branchOf = (source: string): string => (source === 'merge_request_event' ? '!12' : 'main')

function row(service: string, word: string, branch: string, { stream, person, sharesCard }: Trigger): string {
  const name = streamOf(branch, stream)!
  const streak = hasStreak(name) ? '' : ', without a streak'
  const card = sharesCard ? 'one for each commit' : 'one for each run'
  return `| ${service}: \`${word}\` | \`${shownStream(name)}\`${streak} | ${card} | ${PEOPLE[person]} |`
}

const PEOPLE: Record<Person, string> = {
  author: "the commit's author",
  opener: 'who opened the request',
  starter: 'who started it',
  nobody: 'nobody',
}
