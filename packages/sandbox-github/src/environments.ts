import { z } from 'zod'
import { each, repositoryUrl, user } from './repository.ts'
import type { Json } from './repository.ts'
import { currentAttempt, isoTime } from './world.ts'
import type { Environment, Review, Run, World } from './world.ts'

/** The body of a review. Source: GitHub REST API, "Review pending deployments for a workflow run". */
export const reviewSchema = z.strictObject({
  environment_ids: z.array(z.int()),
  state: z.enum(['approved', 'rejected']),
  comment: z.string(),
})

/** The environments that hold a waiting run. */
export const pendingIn = (run: Run): readonly Environment[] =>
  currentAttempt(run).status === 'waiting'
    ? run.environments.filter(({ id }) => !currentAttempt(run).approved.has(id))
    : []

/** What waits for a review, as the token's owner sees it. */
export function pendingBody(world: World, run: Run, reviewer: string): Json[] {
  return pendingIn(run).map((environment) => pendingDeployment(world, run, environment, reviewer))
}

function pendingDeployment(
  world: World,
  run: Run,
  { id, name, mayReview, reviewers, waitMinutes }: Environment,
  reviewer: string,
): Json {
  const began = isoTime(currentAttempt(run).startedAt)
  const named = [...(mayReview ? [reviewer] : []), ...reviewers]
  return {
    environment: environmentBody(world, run, { id, name }),
    wait_timer: waitMinutes,
    wait_timer_started_at: waitMinutes === 0 ? null : began,
    current_user_can_approve: mayReview,
    reviewers: named.map((one) =>
      one.startsWith('team/')
        ? { type: 'Team', reviewer: teamBody(world, one.slice('team/'.length)) }
        : { type: 'User', reviewer: user(world, one) },
    ),
  }
}

function environmentBody(world: World, run: Run, { id, name }: Pick<Environment, 'id' | 'name'>): Json {
  const html_url = `${world.url}/${run.repository.name}/deployments/activity_log?environments_filter=${encodeURIComponent(name)}`
  const url = `${repositoryUrl(world, run.repository)}/environments/${encodeURIComponent(name)}`
  return { id, node_id: `EN_${id}`, name, url, html_url }
}

/** Source: GitHub REST API, "Get the review history for a workflow run". */
export function reviewBody(world: World, run: Run, { by, state, comment, environments }: Review): Json {
  const times = each('created_at updated_at', isoTime(run.createdAt))
  return {
    state,
    comment,
    environments: environments.map((one) => ({ ...environmentBody(world, run, one), ...times })),
    user: user(world, by),
  }
}

const teamBody = ({ url }: World, slug: string): Json => ({
  id: slug.length,
  node_id: `T_${slug}`,
  name: slug,
  slug,
  description: null,
  privacy: 'closed',
  permission: 'push',
  type: 'organization',
  url: `${url}/teams/${slug}`,
  html_url: `${url}/orgs/acme/teams/${slug}`,
  members_url: `${url}/teams/${slug}/members{/member}`,
  repositories_url: `${url}/teams/${slug}/repos`,
  parent: null,
})

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
