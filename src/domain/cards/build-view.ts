import { mergeDetails, type BuildDetails, type BuildEvent } from '../builds/build-event.ts'
import { shortId } from '../ids.ts'
import type { Attempt } from '../builds/attempt.ts'
import { type BuildView, NOTICE_BUILDS_MAX, type NoticeView } from './view.ts'
import { isAccountNotice, toStatus, type AccountStatus } from '../builds/status.ts'

/** The build of an attempt. Details that its own events lack come from other events of the revision. */
export function buildView(attempt: Attempt, attempts: readonly Attempt[]): BuildView {
  const all = togetherOf(attempts)
  const shared = mergeDetails([all, attempt])
  const own: BuildDetails = attempt.details
  const commitId = firstOf('commitId', attempt.buildEvents) ?? all.commitId
  const { requestedBy } = shared
  const commitUrl = own.commitUrl ?? shared.commitUrl
  return {
    project: projectName({ ...shared, commitUrl }, attempt.buildEvents[0]!.projectId),
    buildId: own.number ?? shortId(attempt.buildId),
    branch: firstOf('branch', attempt.buildEvents) ?? all.branch,
    // All attempts of a build share one URL. An attempt that was found by asking CI does not have one.
    buildUrl: own.buildUrl ?? mergeDetails(attempts.filter(({ buildId }) => buildId === attempt.buildId)).buildUrl,
    commitUrl,
    commit: own.shortCommitId ?? shared.shortCommitId ?? commitId?.slice(0, 7) ?? null,
    message: own.message ?? shared.message,
    committer: requestedBy === null ? (own.committer ?? shared.committer) : null,
    ...(requestedBy !== null && { requestedBy }),
    ...(shared.requestUrl !== null && { requestUrl: shared.requestUrl }),
  }
}

interface Together {
  details: BuildDetails
  branch: string | null
  commitId: string | null
}

/** The merged details of a revision's attempts. Cached by list, since a thread shows each attempt of a long one. */
function togetherOf(attempts: readonly Attempt[]): Together {
  const known = TOGETHER.get(attempts)
  if (known) return known
  const buildEvents = attempts.flatMap((attempt) => attempt.buildEvents)
  const together = {
    details: mergeDetails(attempts),
    branch: firstOf('branch', buildEvents),
    commitId: firstOf('commitId', buildEvents),
  }
  TOGETHER.set(attempts, together)
  return together
}

const TOGETHER = new WeakMap<readonly Attempt[], Together>()

const firstOf = (name: 'branch' | 'commitId', buildEvents: readonly BuildEvent[]): string | null =>
  buildEvents.find((buildEvent) => buildEvent[name] !== null)?.[name] ?? null

/** A project's display name: its name, its full name, the path of its commits, or its number. */
export function projectName(
  {
    projectName: name,
    projectFullName,
    commitUrl,
  }: Pick<BuildDetails, 'projectName' | 'projectFullName' | 'commitUrl'>,
  projectId: string,
): string {
  return name ?? projectFullName ?? repositoryPath(commitUrl) ?? `project ${projectId}`
}

function repositoryPath(commitUrl: string | null): string | null {
  if (!commitUrl || !URL.canParse(commitUrl)) return null
  const path = /^\/(.+)\/commits?\//.exec(new URL(commitUrl).pathname)?.[1]
  return path === undefined ? null : decoded(path.replace(/\/-$/, ''))
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The day a notice belongs to: `YYYY-MM-DD`, UTC. */
export const noticeDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/**
 * The account notice of one day, from the attempts that were not built, in order of receipt.
 * @param counts how many attempts there are, by CI's word: `attempts` may be only the first of them
 */
export function noticeView(
  day: string,
  attempts: readonly Attempt[],
  counts: ReadonlyMap<string, number> = new Map(),
): NoticeView {
  const builds = attempts.flatMap((attempt) => {
    const shown = attempt.status
    return isAccountNotice(shown) ? { ...buildView(attempt, [attempt]), shown } : []
  })
  const countOf = (status: AccountStatus): number => {
    const counted = [...counts].reduce((sum, [word, count]) => (toStatus(word) === status ? sum + count : sum), 0)
    return Math.max(counted, builds.filter(({ shown }) => shown === status).length)
  }
  return {
    kind: 'notice',
    day,
    ignored: countOf('ignored'),
    blocked: countOf('blocked'),
    quota_exceeded: countOf('quota_exceeded'),
    builds: builds.slice(0, NOTICE_BUILDS_MAX),
  }
}
