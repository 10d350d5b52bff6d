import type { Known } from '../domain/decide.ts'
import { mergeDetails, type BuildDetails } from '../domain/build-event.ts'
import { projectName } from '../domain/build-view.ts'
import { claimable } from '../domain/handle.ts'
import { branchKey, type PlacedEvent } from '../domain/revision.ts'
import { following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import type { DueRevision } from '../store/records.ts'
import type { Tx } from '../store/store.ts'
import { branchOf } from './breakage.ts'
import type { ReconcileDeps } from './deps.ts'

/**
 * How long build events wait for a first reading of the project's rules, and for whose the author's address is; CI or
 * Slack being down or slow must not delay an alert.
 */
export const PATIENCE_MS = 1_000
export const LOOK_AGAIN_MS = 50

export type News = Exclude<Awaited<ReturnType<typeof readNews>>, 'waits'>

/** Reads what is new of a revision, and by what it is judged; puts the revision off where that is not known yet. */
export async function readNews(
  tx: Tx,
  deps: ReconcileDeps,
  { revisionKey, buildKeys }: DueRevision,
  subscriptions: readonly Subscription[],
) {
  const mark = await tx.ingestOf(revisionKey)
  const requests = await tx.requestsOf(revisionKey)
  const buildEvents = await tx.eventsOfBuilds(buildKeys)
  const newest = await tx.newestCard(revisionKey)
  const newestNumber = newest?.cardNumber ?? 0
  let told = newestNumber > 0 ? await tx.eventsOfCard(revisionKey, newestNumber) : []
  if (newestNumber > 1 && mergeDetails([...told, ...buildEvents]).projectName === null)
    told = [...(await tx.eventsOfCard(revisionKey, newestNumber - 1)), ...told]
  const project = projectOf(buildEvents, told)
  const rules = project ? await deps.rulesOf(project.names) : null
  const followers = project ? following(subscriptions, project.names) : []
  const isWaiting = rules === 'wait' || (project !== null && (await isAskedFor(tx, deps, project, followers)))
  if (isWaiting && deps.clock.now() < project!.receivedAt + PATIENCE_MS) {
    await tx.postponeRevision(revisionKey, deps.clock.now() + LOOK_AGAIN_MS)
    return 'waits'
  }
  const known: Known = { subscriptions: followers, rules: rules === 'wait' ? null : rules }
  const changes = branchOf(buildEvents.filter(({ cardNumber }) => cardNumber === null))
  const last = [...told, ...buildEvents].findLast((one) => one.branch !== null)
  const branch = changes?.key ?? (last ? branchKey(last.projectId, last.branch) : revisionKey)
  return { revisionKey, mark, requests, buildEvents, newest, known, changes, branch }
}

interface Project {
  names: ProjectNames
  receivedAt: number
  /** of a commit that has just failed */
  failed: Pick<BuildDetails, 'committer' | 'author'> | null
}

/** @param own the events of builds with news */
function projectOf(own: readonly PlacedEvent[], told: readonly PlacedEvent[]): Project | null {
  const first = own.find(({ cardNumber }) => cardNumber === null) ?? told[0]
  if (!first) return null
  // Later deliveries may leave out what the first ones said, of the same build or of another one of the commit.
  const details = mergeDetails([...told, ...own])
  const names = [details.projectName, details.projectFullName, projectName(details, first.projectId)]
  return {
    names: { projectId: first.projectId, projectUuid: details.projectUuid, names },
    receivedAt: first.at,
    failed: own.some(isNewFailure) ? details : null,
  }
}

const isNewFailure = ({ cardNumber, status, origin }: PlacedEvent): boolean =>
  cardNumber === null && status === 'failed' && origin !== 'history'

/** Whether Slack is being asked whose the author's address is: it is where nobody has claimed the committer's name. */
async function isAskedFor(
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
