import { mergeDetails, type BuildDetails } from './build-event.ts'
import { shortId } from './ids.ts'
import type { Attempt } from './attempt.ts'
import type { BuildView } from './view.ts'

/** The build of an attempt. Details that its own events lack come from other events of the revision. */
export function buildView(attempt: Attempt, attempts: readonly Attempt[]): BuildView {
  const shared = mergeDetails([...attempts, attempt])
  const own: BuildDetails = attempt.details
  const buildEvents = [...attempt.buildEvents, ...attempts.flatMap((other) => other.buildEvents)]
  const commitId = buildEvents.find((buildEvent) => buildEvent.commitId !== null)?.commitId ?? null
  const commitUrl = own.commitUrl ?? shared.commitUrl
  return {
    project: projectName({ ...shared, commitUrl }, attempt.buildEvents[0]!.projectId),
    buildId: own.number ?? shortId(attempt.buildId),
    branch: buildEvents.find((buildEvent) => buildEvent.branch !== null)?.branch ?? null,
    // All attempts of a build share one URL. An attempt that was found by asking CI has none of its own.
    buildUrl: own.buildUrl ?? mergeDetails(attempts.filter(({ buildId }) => buildId === attempt.buildId)).buildUrl,
    commitUrl,
    commit: own.shortCommitId ?? shared.shortCommitId ?? commitId?.slice(0, 7) ?? null,
    message: own.message ?? shared.message,
    committer: own.committer ?? shared.committer,
  }
}

/** What to call a project: its name, its full name, the path of its commits, or its number. */
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
