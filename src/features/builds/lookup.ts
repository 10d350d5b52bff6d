import { CiError } from '../../sources/ci-service/errors.ts'
import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import { isFinalFact, mergeDetails, type Fact } from '../../domain/fact.ts'
import { idOrder } from '../../domain/ids.ts'
import type { LegacyBuild } from '../../domain/project.ts'
import { restartsAsked, type Request } from '../../domain/request.ts'
import { foldBuild } from '../../domain/run.ts'
import { isFinal, toStatus } from '../../domain/status.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/store.ts'
import { isSameCommit } from '../../catalog/ci-snapshot.ts'

/** CI's clock may be behind ours by so much. */
const CLOCKS_DIFFER_MS = 60_000

export interface LookUp {
  store: Pick<Store, 'read'>
  log: Log
  legacy: Pick<ClientLegacy, 'getProject'> | null
}

/** What CI showed of a request. */
export type Seen =
  /** CI shows that it happened */
  | { kind: 'shown'; build: LegacyBuild }
  /** it does not; `own`: what it says of the build that was asked about */
  | { kind: 'not-shown'; own: LegacyBuild }
  /** CI did not answer */
  | { kind: 'away' }
  /** there is no interface that could tell, or it does not show the build */
  | { kind: 'blind' }

/** Asks CI what became of a request; changes nothing. */
export async function lookUp(deps: LookUp, request: Request): Promise<Seen> {
  const { legacy, log } = deps
  if (!legacy) return { kind: 'blind' }
  try {
    const { branch } = request.target
    const { builds } = await legacy.getProject(request.projectId, branch === null ? {} : { branch })
    const build = request.action === 'stop' ? ended(request, builds) : await restarted(deps, request, builds)
    if (build) return { kind: 'shown', build }
    // CI shows only so many builds: of one that it does not show, nothing can be said.
    const own = ownOf(request, builds)
    return own ? { kind: 'not-shown', own } : { kind: 'blind' }
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    log.warn({ err: error, request: request.id }, 'CI could not be asked what became of a request')
    // Pro projects are not there: asking again would not help.
    return error.kind === 'not-found' || error.kind === 'bad-request' ? { kind: 'blind' } : { kind: 'away' }
  }
}

const ownOf = ({ buildId }: Request, builds: readonly LegacyBuild[]): LegacyBuild | undefined =>
  builds.find(({ id }) => id === buildId)

function ended(request: Request, builds: readonly LegacyBuild[]): LegacyBuild | undefined {
  const own = ownOf(request, builds)
  return own && isFinal(toStatus(own.status)) ? own : undefined
}

/** The build that CI itself named; the same one, begun again; or where its answer was lost, the one it must have been. */
async function restarted(
  { store }: LookUp,
  request: Request,
  builds: readonly LegacyBuild[],
): Promise<LegacyBuild | undefined> {
  const { projectId, buildId, newBuildId, newBuildUuid } = request
  const isNamed = ({ id, uuid }: LegacyBuild) =>
    id === newBuildId || (newBuildId === null && uuid !== null && uuid === newBuildUuid)
  const named = builds.find(isNamed)
  if (named && named.id !== buildId) return named
  const facts = await store.read.factsOfBuild(projectId, buildId)
  const before = facts.filter(({ at }) => at <= request.askedAt)
  const asked = restartsAsked(await store.read.restartsOf(projectId, buildId))
  const heard = facts.filter(({ at }) => at < request.askedAt)
  const known = foldBuild(heard, asked).runs.at(-1)
  const own = ownOf(request, builds)
  if (own && hasBegunAgain(own, request, { before, wasOver: !known || isFinal(known.status) })) return own
  return newBuildId === null && newBuildUuid === null ? successorOf({ store }, request, before, builds) : undefined
}

interface Before {
  before: readonly Fact[]
  /** as far as we had heard when somebody asked */
  wasOver: boolean
}

function hasBegunAgain(build: LegacyBuild, request: Request, { before, wasOver }: Before): boolean {
  const status = toStatus(build.status)
  if (wasOver && (status === 'started' || status === 'waiting')) return true
  const { startedAt: known } = mergeDetails(before)
  // Both times are CI's own: no clocks to compare.
  if (known !== null) return build.startedAt !== null && build.startedAt > known
  // CI had begun it again by itself: what it shows is that.
  return wasOver && beganSince(build, request, before)
}

// CI's clock may be behind ours; but what began before the run ended that was asked about is that run.
function beganSince({ startedAt }: LegacyBuild, { askedAt }: Request, before: readonly Fact[]): boolean {
  const endedAt = before.findLast(isFinalFact)?.at ?? 0
  return startedAt !== null && startedAt >= Math.max(askedAt - CLOCKS_DIFFER_MS, endedAt)
}

/** The first newer build of the same commit that began after the ask, and that no other ask brought about. */
async function successorOf(
  { store: { read } }: Pick<LookUp, 'store'>,
  request: Request,
  before: readonly Fact[],
  builds: readonly LegacyBuild[],
): Promise<LegacyBuild | undefined> {
  const commitId = before.findLast((fact) => fact.commitId !== null)?.commitId ?? null
  const others = new Set((await read.requestsOf(request.revisionKey)).map(({ newBuildId }) => newBuildId))
  const newer = builds
    .filter((build) => idOrder(build.id) > idOrder(request.buildId) && !others.has(build.id))
    .filter((build) => isSameCommit(build.commitId, commitId) && beganSince(build, request, before))
    .sort((a, b) => (idOrder(a.id) < idOrder(b.id) ? -1 : 1))
  for (const build of newer) {
    const [first] = await read.factsOfBuild(request.projectId, build.id)
    if (!first || first.at >= request.askedAt) return build
  }
  return undefined
}
