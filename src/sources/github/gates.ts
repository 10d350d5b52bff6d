import * as z from 'zod'
import { GATES_MAX, type Gate, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import { HELD_STATUS, toStatus } from '../../domain/builds/status.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import { unlessGone } from '../http/errors.ts'
import type { Decision } from '../source.ts'
import { cleanTextOrNull, idDigits, timeMsOrNull } from '../values.ts'
import type { GithubClient } from './client.ts'

/** The run with its gates, if it waits: the environments whose reviewers or timers it waits for, or its own approval. */
export async function withGates(
  client: GithubClient,
  repository: string,
  shown: ReceivedEvent,
  signal?: AbortSignal,
): Promise<ReceivedEvent> {
  if (toStatus(shown.rawStatus) !== 'waiting') return shown
  const gates =
    shown.rawStatus === HELD_STATUS
      ? [heldBy(await unlessGone(client.repository(repository, signal)))]
      : ((await unlessGone(client.pendingDeployments(repository, shown.buildId, signal))) ?? []).flatMap(
          (one) => PENDING.safeParse(one).data ?? [],
        )
  return { ...shown, details: { ...shown.details, gates: gates.slice(0, GATES_MAX) } }
}

/**
 * GitHub does not say who may approve such a run: everybody with write access may. If it does not say what the token
 * may do, the approval is offered, and GitHub refuses it.
 */
const heldBy = (repository: unknown): Gate => ({
  kind: 'run',
  id: 'run',
  name: '',
  reviewers: [],
  isOurs: fieldOf(fieldOf(repository, 'permissions'), 'push') !== false,
  until: null,
})

const MINUTE_MS = 60_000

const REVIEWER = z
  .object({ reviewer: z.object({ login: cleanTextOrNull, slug: cleanTextOrNull }) })
  .transform(({ reviewer: { login, slug } }) => (login === null ? slug && `team/${slug}` : `@${login}`))

/** Source: GitHub REST API, "Get pending deployments for a workflow run". The timer is in minutes. */
const PENDING = z
  .object({
    environment: z.object({ id: idDigits, name: cleanTextOrNull }),
    wait_timer: z.number().min(0).catch(0),
    wait_timer_started_at: timeMsOrNull.nullable().catch(null),
    current_user_can_approve: z.boolean().catch(false),
    reviewers: z.array(REVIEWER.nullable().catch(null)).catch([]),
  })
  .transform(({ environment: { id, name }, reviewers, wait_timer: minutes, ...read }): Gate => ({
    kind: 'environment',
    id,
    name: name ?? id,
    reviewers: reviewers.filter((one) => one !== null),
    isOurs: read.current_user_can_approve,
    until: minutes > 0 && read.wait_timer_started_at !== null ? read.wait_timer_started_at + minutes * MINUTE_MS : null,
  }))

/** Tells GitHub what a person decided. */
export const decide = (
  client: GithubClient,
  repository: string,
  run: string,
  { action, gate: { kind, id: environment }, comment }: Decision,
): Promise<void> =>
  kind === 'run'
    ? client.approve(repository, run)
    : client.review(repository, run, { environment, state: action === 'reject' ? 'rejected' : 'approved', comment })

/** The comments of an environment's reviews. GitHub keeps none about the approval of a run. */
export async function readDecisions(
  client: GithubClient,
  repository: string,
  run: string,
  gate: Pick<Gate, 'kind' | 'id'>,
): Promise<readonly string[] | null> {
  if (gate.kind !== 'environment') return null
  const reviews = (await client.reviews(repository, run)).flatMap((one) => REVIEW.safeParse(one).data ?? [])
  return reviews.filter((one) => one.environments.some(({ id }) => id === gate.id)).map(({ comment }) => comment)
}

/** Source: GitHub REST API, "Get the review history for a workflow run". `pending` is a comment without a decision. */
const REVIEW = z.object({
  state: z.enum(['approved', 'rejected']),
  comment: z.string(),
  environments: z.array(z.object({ id: idDigits })),
})
