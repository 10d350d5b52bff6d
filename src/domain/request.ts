import { idOrder, isBuildId, isProjectId, type BuildId, type ChannelId, type ProjectId, type Uuid } from './ids.ts'
import type { Fact } from './fact.ts'
import type { Run } from './run.ts'
import { isFinal } from './status.ts'

// What people ask of CI. Acting is at most once: the record comes first, the call after it, and what is unclear is looked up.

export type Action = 'stop' | 'restart'

/**
 * How far a request has come. `calling`: recorded, and CI is being called (or whoever called has died). `accepted`: CI
 * said yes, no fact shows it yet. `unclear`: how the call ended is not known. `confirmed`: a fact shows that it happened.
 * `refused`: CI has surely done nothing. `unconfirmed`: nothing showed within CONFIRM_WITHIN_MS that it happened.
 */
export type RequestState = 'calling' | 'accepted' | 'unclear' | 'confirmed' | 'refused' | 'unconfirmed'

/** While a request is open, nobody else can ask the same of the same run. */
export const OPEN_STATES = ['calling', 'accepted', 'unclear'] as const satisfies readonly RequestState[]

export const isOpen = ({ state }: Pick<Request, 'state'>): boolean =>
  state === 'calling' || state === 'accepted' || state === 'unclear'

/** CI has so long to show what it was asked for; then it is asked itself, and what is still unknown is said. */
export const CONFIRM_WITHIN_MS = 2 * 60_000

/** Of several processes, one heard of the run and another one confirmed the request: their clocks differ by so much. */
export const CLOCKS_DIFFER_MS = 60_000

/** One execution of a build, by name: what a button is about. */
export interface RunRef {
  projectId: ProjectId
  buildId: BuildId
  run: number
}

/** `41/512.1`: what a button carries. */
export const runRefText = ({ projectId, buildId, run }: RunRef): string => `${projectId}/${buildId}.${run}`

export function parseRunRef(text: string): RunRef | null {
  const [, projectId = '', buildId = '', run] = /^(\d{1,20})\/(\d{1,20})\.(\d{1,9})$/.exec(text) ?? []
  return isProjectId(projectId) && isBuildId(buildId) ? { projectId, buildId, run: Number(run) } : null
}

/** What was asked about, in words and ids, as it was known when it was asked. */
export interface RequestTarget {
  project: string
  branch: string | null
  projectUuid: Uuid | null
  buildUuid: Uuid | null
}

export interface Request extends RunRef {
  id: string
  /** what Slack calls this one ask: a repetition of it is the same request */
  askKey: string
  action: Action
  state: RequestState
  revisionKey: string
  subject: string
  target: RequestTarget
  /** a Slack user */
  askedBy: string
  askedTeam: string | null
  channel: ChannelId | null
  via: 'command' | 'button' | 'shortcut' | 'mention' | 'modal'
  askedAt: number
  /** the process that calls CI */
  claimedBy: string
  /** why it was refused or is unclear: CI's kind of answer, such as `not-found` */
  code: string | null
  /** CI's own words, cleaned */
  reason: string | null
  answeredAt: number | null
  /** what CI answered to a restart */
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
  /** when CI is to be asked how it went (ms) */
  lookAt: number | null
  endedAt: number | null
}

/**
 * The run that shows what became of a request, when the facts show it.
 * @param all the requests of the revision: what one of them brought about is not another one's
 */
export function shownBy(request: Request, runs: readonly Run[], all: readonly Request[] = []): Run | null {
  // What happens after a refusal is somebody else's doing.
  if (request.state === 'refused') return null
  return (request.action === 'stop' ? endOf(request, runs) : startedBy(request, runs, all)) ?? null
}

function endOf({ buildId, run: n }: Request, runs: readonly Run[]): Run | undefined {
  return runs.find((run) => run.buildId === buildId && run.n >= n && isFinal(run.status))
}

// Our own word that it runs again confirms nothing: CI's must.
function startedBy(request: Request, runs: readonly Run[], all: readonly Request[]): Run | undefined {
  return runs.find((run) => isAttempt(request, run, all) && run.isHeard)
}

/** Is this the run that the restart brought about? */
export function isAttempt(
  request: Request,
  run: Pick<Run, 'buildId' | 'n' | 'firstAt'>,
  all: readonly Request[] = [],
): boolean {
  if (request.action !== 'restart' || request.state === 'refused' || wasDoneBefore(request, run)) return false
  // On a card of its own, after a long rest, runs are counted from one again.
  const isNext = run.n === request.run + 1 || run.n === 1
  if (run.buildId === request.buildId) return isNext && run.firstAt >= request.askedAt
  if (request.newBuildId !== null) return run.buildId === request.newBuildId && run.n === 1
  // CI's answer was lost or named no build: a newer build of the same commit that began after we asked is the one,
  // unless CI named it in answer to somebody else, before this request was taken to be done.
  if (request.state !== 'confirmed' && all.some((other) => isNamedFor(other, run))) return false
  return idOrder(run.buildId) > idOrder(request.buildId) && run.n === 1 && run.firstAt >= request.askedAt
}

/** What confirmed it had begun by then; the same build, or another one of the commit, may run for other reasons later. */
const wasDoneBefore = ({ state, endedAt }: Request, { firstAt }: Pick<Run, 'firstAt'>): boolean =>
  state === 'confirmed' && endedAt !== null && firstAt > endedAt + CLOCKS_DIFFER_MS

// Whoever restarts a newer build itself is answered with its name too: that is about its next run.
const isNamedFor = (other: Request, run: Pick<Run, 'buildId' | 'n' | 'firstAt'>): boolean =>
  other.newBuildId === run.buildId && isAttempt(other, run)

/** The latest request that says something of this run: asked about it, or brought it about. */
export const lastRequestOf = (run: Run, requests: readonly Request[]): Request | null =>
  requests.findLast(
    (request) => (request.buildId === run.buildId && request.run === run.n) || isAttempt(request, run, requests),
  ) ?? null

/** Restarts that make the next start of the same build a new run: not those of which CI says that they never happened. */
export const restartsAsked = (requests: readonly Request[]) =>
  requests
    .filter(({ action, state, code }) => action === 'restart' && state !== 'refused' && code !== 'not-restarted')
    .map(({ buildId, askedAt }) => ({ buildId, at: askedAt }))

/** The facts that count: our own word of another build that CI then never showed stands for nothing. */
export function credible<One extends Fact>(facts: readonly One[], requests: readonly Request[]): readonly One[] {
  const neverShown = requests.filter(({ state, code }) => state === 'unconfirmed' && code === 'not-restarted')
  if (neverShown.length === 0) return facts
  return facts.filter(
    ({ origin, buildId }) => origin !== 'action' || !neverShown.some(({ newBuildId }) => newBuildId === buildId),
  )
}
