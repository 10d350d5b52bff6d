import { CiError } from '../../sources/http/errors.ts'
import type { BuildId } from '../../domain/ids.ts'
import { CONFIRM_WITHIN_MS, type Action, type Request, type RequestEvent } from '../../domain/cards/request.ts'
import { callCi, recordEvent, type CallResult, type RequestDeps } from '../../projects/requests.ts'
import type { ActionTarget, Decision, RestartResult, Sources } from '../../sources/source.ts'
import type { Sites } from '../../sources/build-address.ts'
import { toStatus } from '../../domain/builds/status.ts'
import type { Tx } from '../../store/store.ts'
import { ACTING, ownOf } from './acting.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import { insertSnapshot } from '../../ci-sync/ci-snapshot.ts'
import { NO_DETAILS, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import { cardNumberOf } from '../../domain/builds/revision.ts'
import { readRevision } from '../../store/revision.ts'

/** After an unclear answer, Buildline looks the build up in CI after this time. */
const UNCLEAR_LOOK_MS = 5_000

export interface ActDeps extends RequestDeps {
  sources: Sources
  sites: Sites
  /** The person's name; null if Slack does not say. */
  nameOf: (user: string) => Promise<string | null>
}

/** A recorded request. CI has to be called for it, once. */
export interface Ready {
  kind: 'ready'
  request: Request
  actedOn: ActionTarget
  decision?: Decision | undefined
  build: BuildSummary
}

/** `requested`: CI accepted it. */
export type CallOutcome = { action: Action; build: BuildSummary } & (
  | { kind: 'requested'; newBuildId: BuildId | null }
  /** CI has certainly done nothing */
  | { kind: 'ci-refused'; code: string; reason: string | null }
  /** CI may have done it: the bot reads CI to find out, and never repeats the call */
  | { kind: 'unclear'; code: string }
)

/**
 * Calls CI once for a recorded request and records the outcome. If the outcome cannot be recorded, `confirm` looks it
 * up in CI later, as it does after a crash.
 */
export async function callForBuild(deps: ActDeps, { request, actedOn, decision, build }: Ready): Promise<CallOutcome> {
  const { id, action } = request
  const source = deps.sources(request.projectId)!
  const about = { action, build }
  const call = async () => (await ACTING[action].call(source, actedOn, decision)) ?? NO_NEW_BUILD
  const called = await callCi(deps.log, request, call)
  try {
    await recordAnswer(deps, request, called)
  } catch (error) {
    deps.log.error({ err: error, request: id }, "CI's answer could not be recorded; CI will be read instead")
    return { kind: 'unclear', ...about, code: called.kind === 'answered' ? 'fault' : called.code }
  }
  if (called.kind === 'answered') return { kind: 'requested', ...about, newBuildId: called.answer.newBuildId }
  const { code, reason } = called
  if (called.kind === 'unclear') return { kind: 'unclear', ...about, code }
  // CI's state of the build differs from ours: a delivery was lost or is still on its way.
  if (code === 'bad-request' || code === 'not-found') await refreshBuild(deps, request)
  return { kind: 'ci-refused', ...about, code, reason }
}

const NO_NEW_BUILD: RestartResult = { newBuildId: null, newBuildUuid: null }

async function recordAnswer(
  { store, clock }: ActDeps,
  request: Request,
  called: CallResult<RestartResult>,
): Promise<void> {
  const at = clock.now()
  const answer = called.kind === 'answered' ? called.answer : NO_NEW_BUILD
  await store.write(async (tx) => {
    await tx.ingestOf(request.revisionKey)
    const isChanged = await recordEvent(tx, request, eventOf(request, called, at), { at, ...answer })
    // The request has been ended meanwhile. The build that CI named is stored anyway.
    if (!isChanged) await tx.updateRequest(request.id, { ...answer, answeredAt: at })
    if (called.kind === 'answered') await linkRestart(tx, request, answer, at)
    await tx.wakeRevision(request.revisionKey, at, 0)
  })
}

function eventOf({ requestedAt, action }: Request, called: CallResult<RestartResult>, at: number): RequestEvent {
  const { looksAfterMs } = ACTING[action]
  const lookAt = looksAfterMs === undefined ? requestedAt + CONFIRM_WITHIN_MS : at + looksAfterMs
  if (called.kind === 'answered') return { kind: 'accepted', lookAt }
  return called.kind === 'unclear' ? { ...called, lookAt: at + UNCLEAR_LOOK_MS } : called
}

type AskedAbout = Pick<Request, 'projectId' | 'buildId' | 'revisionKey'> & { target: Pick<Request['target'], 'branch'> }

/** The builds that the source shows beside this one. No source: it has no call for that. */
export async function shownWith(sources: Sources, { projectId, buildId, target: { branch } }: AskedAbout) {
  const source = sources(projectId)
  if (!source?.getProject) return { source: null, builds: [] }
  const { builds } = await source.getProject(projectId, { builds: [buildId], ...(branch !== null && { branch }) })
  return { source, builds }
}

/** Reads the build's state from CI, if CI shows it, and stores it as a build event. Best effort: never rejects. */
export async function refreshBuild(deps: ActDeps, request: AskedAbout): Promise<void> {
  const { store, clock, log, sources } = deps
  try {
    const { builds } = await shownWith(sources, request)
    const build = ownOf(request, builds)
    // An unknown status would only hide the one that we have.
    if (!build || toStatus(build.rawStatus) === 'unknown') return
    const at = clock.now()
    await store.write(async (tx) => {
      await insertSnapshot(tx, request, { build, begunAgain: false, at })
      await tx.wakeRevision(request.revisionKey, at, 0)
    })
  } catch (error) {
    // The legacy interface does not have Pro projects.
    if (error instanceof CiError && error.kind === 'not-found') return
    log.warn({ err: error, build: request.buildId }, 'could not read the state of a build from CI')
  }
}

/**
 * CI answered that this build runs now. Stores a build event with the origin `action`, which links the build to the
 * revision; nothing if CI reported on the build since (that may even be its end) or links it to another revision.
 */
async function linkRestart(tx: Tx, request: Request, { newBuildId, newBuildUuid }: RestartResult, at: number) {
  if (newBuildId === null) return
  const known = await tx.eventsOfBuild(request.projectId, newBuildId)
  const { requestedAt, revisionKey } = request
  if (known.some((buildEvent) => buildEvent.at >= requestedAt || buildEvent.revisionKey !== revisionKey)) return
  const { attempts } = await readRevision(tx, revisionKey, cardNumberOf(request.subject))
  const attempt = attempts.findLast((one) => one.buildId === request.buildId && one.n === request.attempt)
  if (!attempt) return
  const own = attempt.details
  const { branch, commitId } =
    attempt.buildEvents.findLast((buildEvent) => buildEvent.commitId !== null) ?? attempt.buildEvents[0]!
  const isSame = newBuildId === request.buildId
  const event: ReceivedEvent = {
    projectId: request.projectId,
    buildId: newBuildId,
    branch: branch ?? request.target.branch,
    commitId,
    rawStatus: 'initiated',
    details: {
      ...NO_DETAILS,
      projectName: own.projectName,
      projectFullName: own.projectFullName,
      commitUrl: own.commitUrl,
      shortCommitId: own.shortCommitId,
      message: own.message,
      committer: own.committer,
      projectUuid: own.projectUuid,
      buildUrl: isSame ? own.buildUrl : null,
      buildUuid: newBuildUuid,
      number: own.number,
      attempt: own.attempt === null ? null : own.attempt + 1,
      lastEndAt: own.lastEndAt,
    },
  }
  await tx.insertBuildEvent(event, { at, origin: 'action', priority: 0, revisionKey })
}
