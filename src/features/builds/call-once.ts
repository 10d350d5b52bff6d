import { CiError } from '../../sources/http/errors.ts'
import type { BuildId } from '../../domain/ids.ts'
import { CONFIRM_WITHIN_MS, type Action, type Request, type RequestEvent } from '../../domain/cards/request.ts'
import { callCi, recordEvent, type CallResult, type RequestDeps } from '../../projects/requests.ts'
import type { ActionTarget, Decision, RestartResult, Sources } from '../../sources/source.ts'
import type { Sites } from '../../sources/build-address.ts'
import { toStatus } from '../../domain/builds/status.ts'
import type { Tx } from '../../store/store.ts'
import { ACTING, NO_NEW_BUILD } from './acting.ts'
import { insertSnapshot } from '../../ci-sync/ci-snapshot.ts'
import { NO_DETAILS, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import { parseSubject } from '../../domain/builds/revision.ts'
import { readRevision } from '../../store/revision.ts'

/** After an unclear answer, Buildline looks the build up in CI after this time. */
const UNCLEAR_LOOK_MS = 5_000

type CallOutcome =
  | { kind: 'requested'; action: Action; newBuildId: BuildId | null }
  | { kind: 'ci-refused'; action: Action; code: string; reason: string | null }
  | { kind: 'unclear'; action: Action; code: string }

export interface ActDeps extends RequestDeps {
  sources: Sources
  sites: Sites
  /** The person's name; null if Slack does not say. */
  nameOf: (user: string) => Promise<string | null>
}

/**
 * Calls CI once for a recorded request and records the outcome. If the outcome cannot be recorded, `confirm` looks it
 * up in CI later, as it does after a crash.
 */
export async function callForBuild(
  deps: ActDeps,
  request: Request,
  { actedOn, decided }: { actedOn: ActionTarget; decided?: Omit<Decision, 'action'> | undefined },
): Promise<CallOutcome> {
  const { id, action, projectId: project, buildId: build, requestedBy: by } = request
  const source = deps.sources(project)!
  const fields = { request: id, action, project, build, by }
  const called = await callCi(deps.log, fields, () => ACTING[action].call(source, actedOn, decided))
  try {
    await recordAnswer(deps, request, called)
  } catch (error) {
    deps.log.error({ err: error, request: id }, "CI's answer could not be recorded; CI will be read instead")
    return { kind: 'unclear', action, code: called.kind === 'answered' ? 'fault' : called.code }
  }
  if (called.kind === 'answered') return { kind: 'requested', action, newBuildId: called.answer.newBuildId }
  const { code, reason } = called
  if (called.kind === 'unclear') return { kind: 'unclear', action, code }
  // CI's state of the build differs from ours: a delivery was lost or is still on its way.
  if (code === 'bad-request' || code === 'not-found') await refreshBuild(deps, request)
  return { kind: 'ci-refused', action, code, reason }
}

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

/** Reads the build's state from CI, if CI shows it, and stores it as a build event. Best effort: never rejects. */
export async function refreshBuild(
  deps: ActDeps,
  request: Pick<Request, 'projectId' | 'buildId' | 'revisionKey'> & { target: Pick<Request['target'], 'branch'> },
): Promise<void> {
  const { store, clock, log, sources } = deps
  try {
    const { projectId, buildId, target } = request
    const query = { builds: [buildId], ...(target.branch === null ? {} : { branch: target.branch }) }
    const project = await sources(projectId)?.getProject?.(projectId, query)
    const build = project?.builds.find((shown) => shown.buildId === buildId)
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
  if (
    known.some((buildEvent) => buildEvent.at >= request.requestedAt || buildEvent.revisionKey !== request.revisionKey)
  )
    return
  const parsed = parseSubject(request.subject)
  if (parsed.kind !== 'revision') return
  const { attempts } = await readRevision(tx, parsed.revisionKey, parsed.cardNumber)
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
  await tx.insertBuildEvent(event, { at, origin: 'action', priority: 0, revisionKey: request.revisionKey })
}
