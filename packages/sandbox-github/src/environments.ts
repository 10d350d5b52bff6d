import { z } from 'zod'
import { each, repositoryUrl, user } from './repository.ts'
import type { Json } from './repository.ts'
import { currentAttempt, isoTime } from './world.ts'
import type { Environment, Run, World } from './world.ts'

/** The body of a review. Source: GitHub REST API, "Review pending deployments for a workflow run". */
export const reviewSchema = z.strictObject({
  environment_ids: z.array(z.int()),
  state: z.enum(['approved', 'rejected']),
  comment: z.string(),
})

/** The environment whose reviewer a run waits for. */
export const pendingIn = (run: Run): Environment | null =>
  currentAttempt(run).status === 'waiting' ? run.environment : null

/** What waits for a review, as the token's owner sees it. */
export function pendingBody(world: World, run: Run, reviewer: string): Json[] {
  const environment = pendingIn(run)
  if (!environment) return []
  const { id, name, mayReview } = environment
  const api = repositoryUrl(world, run.repository)
  const html = `${world.url}/${run.repository.name}/deployments/activity_log?environments_filter=${encodeURIComponent(name)}`
  const url = `${api}/environments/${encodeURIComponent(name)}`
  return [
    {
      environment: { id, node_id: `EN_${id}`, name, url, html_url: html },
      wait_timer: 0,
      wait_timer_started_at: null,
      current_user_can_approve: mayReview,
      reviewers: [{ type: 'User', reviewer: user(world, mayReview ? reviewer : 'ada') }],
    },
  ]
}

/** The deployment that was reviewed. */
export function deploymentBody(world: World, run: Run, { id, name }: Environment): Json {
  const api = repositoryUrl(world, run.repository)
  const url = `${api}/deployments/${id}`
  return {
    id,
    node_id: `DE_${id}`,
    url,
    sha: run.sha,
    ref: run.branch ?? run.sha,
    task: 'deploy',
    payload: {},
    ...each('environment original_environment', name),
    description: null,
    creator: user(world, currentAttempt(run).actor),
    ...each('created_at updated_at', isoTime(currentAttempt(run).updatedAt)),
    statuses_url: `${url}/statuses`,
    repository_url: api,
  }
}
