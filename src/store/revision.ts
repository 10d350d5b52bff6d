import { mergeDetails, type BuildEvent } from '../domain/builds/build-event.ts'
import { revisionSubject } from '../domain/builds/revision.ts'
import { capabilitiesOf, type Capabilities, type Configured } from '../domain/cards/capabilities.ts'
import { branchKeyOf, openStreakTo } from '../domain/builds/history.ts'
import { extentOf, ownershipOf, type Ownership } from '../domain/builds/streak.ts'
import { credible, isResultOf, restartRequests, type Request } from '../domain/cards/request.ts'
import { foldAttempts, type Attempt } from '../domain/builds/attempt.ts'
import type { CardView } from '../domain/cards/view.ts'
import { together } from '../lib/async.ts'
import type { CardKey } from './records.ts'
import type { Reads } from './store.ts'

/** One card of a revision: its build events, the attempts folded from them, and the requests about them. */
export interface Revision {
  subject: string
  buildEvents: readonly BuildEvent[]
  attempts: readonly Attempt[]
  requests: readonly Request[]
}

export async function readRevision(reads: Reads, revisionKey: string, cardNumber: number): Promise<Revision> {
  const subject = revisionSubject(revisionKey, cardNumber)
  const [all, stored] = await together([reads.requestsOf(revisionKey), reads.eventsOfCard(revisionKey, cardNumber)])
  const buildEvents = credible(stored, all)
  const attempts = foldAttempts(buildEvents, restartRequests(all))
  // A request from another card counts if its result is on this card, but not while CI may still refuse it.
  const isHere = (request: Request) =>
    request.subject === subject ||
    (request.state !== 'calling' && attempts.some((attempt) => isResultOf(request, attempt, all)))
  return { subject, buildEvents, attempts, requests: all.filter(isHere) }
}

/** What can be done with one attempt of a card. */
export async function readCapabilities(
  reads: Reads,
  attempt: Attempt,
  { attempts, requests }: Pick<Revision, 'attempts' | 'requests'>,
  configured: Configured,
): Promise<Capabilities> {
  if (!Object.values(configured).includes(true)) return capabilitiesOf(attempt, requests, configured, null)
  const details = mergeDetails(attempts)
  const { projectId } = attempts[0]!.buildEvents[0]!
  const names = [details.projectName, details.projectFullName].filter((name) => name !== null)
  const project = await reads.project({ uuid: details.projectUuid, legacyId: projectId, names })
  return capabilitiesOf(attempt, requests, configured, project)
}

/** The branch's open streak with its owner, if this attempt is of its newest failure or of a later build. */
export async function ownershipAt(reads: Reads, attempt: Attempt, now: number): Promise<Ownership | null> {
  const open = await openStreakTo(reads, attempt)
  return open && ownershipOf(open, now)
}

/** The same for a card. Only the newest card with a failure in each channel shows it, with what has failed since. */
export async function ownershipOn(
  reads: Reads,
  attempt: Attempt,
  { subject, channel }: CardKey,
  now: number,
): Promise<CardView['ownership'] | null> {
  const branch = branchKeyOf(attempt)
  const open = branch === null ? null : await reads.openStreak(branch)
  if (!open || attempt.buildOrder < open.beganOrder) return null
  if (subject === revisionSubject(open.revisionKey, open.cardNumber)) return ownershipOf(open, now)
  const [newest] = await reads.streakCards(open, channel)
  return newest?.subject === subject ? { ...ownershipOf(open, now), grown: extentOf(open) } : null
}
