import type { Known } from '../../domain/rules/decide.ts'
import { mergeDetails, type BuildDetails, type BuildEvent } from '../../domain/builds/build-event.ts'
import { projectName } from '../../domain/cards/view.ts'
import { claimable } from '../../domain/handle.ts'
import { sourceOf } from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import { followersOf } from '../../projects/followers.ts'
import type { ProjectNames, Subscription } from '../../domain/rules/subscription.ts'
import { together } from '../../lib/async.ts'
import type { DueRevision } from '../../store/records.ts'
import type { Tx } from '../../store/store.ts'
import { branchWithOutcome } from './streak.ts'
import type { ReconcileDeps } from '../deps.ts'

/**
 * How long build events wait for the first read of their project's rules, and for Slack to find the author by e-mail
 * address. If CI or Slack is down or slow, an alert must not wait longer.
 */
export const INGEST_WAIT_MS = 1_000
/** How soon a waiting revision is tried again. */
export const WAITING_RECHECK_MS = 50

export type News = Exclude<Awaited<ReturnType<typeof readNews>>, 'waits'>

/** Reads a revision's news and rules. Postpones the revision while CI is being read for the rules. */
export async function readNews(
  tx: Tx,
  deps: ReconcileDeps,
  { revisionKey, buildKeys }: DueRevision,
  subscriptions: Promise<readonly Subscription[]>,
) {
  // `ingestOf` first: PostgreSQL runs these in order, so that the rest is read under the revision's lock. A later wake has
  // another stamp, and stays.
  const [mark, requests, buildEvents, newest] = await together([
    tx.ingestOf(revisionKey),
    tx.requestsOf(revisionKey),
    tx.eventsOfBuilds(buildKeys),
    tx.newestCard(revisionKey),
  ])
  const newestNumber = newest?.cardNumber ?? 0
  let earlier = newestNumber > 0 ? await tx.eventsOfCard(revisionKey, newestNumber) : []
  if (newestNumber > 1 && mergeDetails([...earlier, ...buildEvents]).projectName === null)
    earlier = [...(await tx.eventsOfCard(revisionKey, newestNumber - 1)), ...earlier]
  const project = projectOf(buildEvents, earlier)
  const [rules, names] = project
    ? await together([deps.rulesOf(project.names, tx), confirmedNames(tx, project.names)])
    : [null, null]
  const last = [...earlier, ...buildEvents].findLast((one) => one.branch !== null)
  const followers = names ? await followersOf(tx, await subscriptions, names, last?.branch ?? '') : []
  const isWaiting = rules === 'wait' || (project !== null && (await requestAuthor(tx, deps, project, followers)))
  if (isWaiting && deps.clock.now() < project!.receivedAt + INGEST_WAIT_MS) {
    await tx.postponeRevision(revisionKey, deps.clock.now() + WAITING_RECHECK_MS)
    return 'waits'
  }
  const known: Known = { subscriptions: followers, rules: rules === 'wait' ? null : rules }
  const changes = branchWithOutcome(buildEvents.filter(({ cardNumber }) => cardNumber === null))
  const branch = changes?.key ?? (last ? branchKey(last.projectId, last.branch) : revisionKey)
  return { revisionKey, mark, requests, buildEvents, newest, known, changes, branch }
}

/** A GitHub or GitLab project has its stored names: a name from a delivery may be forged, or too new. */
async function confirmedNames(tx: Tx, delivered: ProjectNames): Promise<ProjectNames> {
  if (sourceOf(delivered.projectId) === 'ci') return delivered
  const stored = await tx.project({ uuid: null, legacyId: delivered.projectId, names: [] })
  return stored ? { ...delivered, names: [stored.name, repositoryIn(stored.name)] } : delivered
}

interface Project {
  names: ProjectNames
  receivedAt: number
  /** the details of a commit that has just failed */
  failed: Pick<BuildDetails, 'committer' | 'author'> | null
}

/** @param buildEvents of the builds with news @param earlier those that are on the newest card already */
function projectOf(buildEvents: readonly BuildEvent[], earlier: readonly BuildEvent[]): Project | null {
  const first = buildEvents.find(({ cardNumber }) => cardNumber === null) ?? earlier[0]
  if (!first) return null
  // Later deliveries may lack details of earlier ones, of the same build or another build of the commit.
  const details = mergeDetails([...earlier, ...buildEvents])
  const names = [details.projectName, details.projectFullName, projectName(details, first.projectId)]
  return {
    names: { projectId: first.projectId, projectUuid: details.projectUuid, names },
    receivedAt: first.at,
    failed: buildEvents.some(isNewFailure) ? details : null,
  }
}

const isNewFailure = ({ cardNumber, status, origin }: BuildEvent): boolean =>
  cardNumber === null && status === 'failed' && origin !== 'history'

/** Asks Slack who has the author's address, unless the committer is claimed. @returns whether an answer may come */
async function requestAuthor(
  tx: Tx,
  { addresses }: ReconcileDeps,
  { failed }: Project,
  subscriptions: readonly Subscription[],
): Promise<boolean> {
  if (addresses === null || !failed?.committer || !failed.author?.email) return false
  const isMentioned = subscriptions.some(({ mention }) => mention === 'committer')
  const isClaimable = isMentioned && claimable(failed.committer).kind === 'ok'
  return isClaimable && !(await tx.isClaimed(failed.committer)) && addresses.ask(failed.author.email)
}
