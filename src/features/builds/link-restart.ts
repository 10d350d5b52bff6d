import { NO_DETAILS, type Observation } from '../../domain/fact.ts'
import type { Request } from '../../domain/request.ts'
import { parseSubject } from '../../domain/subject.ts'
import { readRevision } from '../../store/history.ts'
import type { Tx } from '../../store/store.ts'
import type { Answered } from './deed.ts'

/**
 * CI answered that this build runs now: that is a fact, from our own action, and it ties the build to the revision. Unless
 * CI has spoken of it since: its own word counts more, and may already say how it ended.
 */
export async function linkRestart(tx: Tx, request: Request, { newBuildId, newBuildUuid }: Answered, at: number) {
  if (newBuildId === null) return
  const known = await tx.factsOfBuild(request.projectId, newBuildId)
  if (known.some((fact) => fact.at >= request.askedAt || fact.revisionKey !== request.revisionKey)) return
  const parsed = parseSubject(request.subject)
  if (parsed.kind !== 'revision') return
  const { runs } = await readRevision(tx, parsed.revisionKey, parsed.episode)
  const run = runs.findLast((one) => one.buildId === request.buildId && one.n === request.run)
  if (!run) return
  const own = run.details
  const { branch, commitId } = run.facts.findLast((fact) => fact.commitId !== null) ?? run.facts[0]!
  const isSame = newBuildId === request.buildId
  const seen: Observation = {
    projectId: request.projectId,
    buildId: newBuildId,
    branch: branch ?? request.target.branch,
    commitId,
    word: 'initiated',
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
    },
  }
  await tx.insertFact(seen, {
    at,
    origin: 'action',
    priority: 0,
    revisionKey: request.revisionKey,
    branch: seen.branch,
    commitId,
  })
}
