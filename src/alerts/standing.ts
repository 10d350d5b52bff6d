import { mergeDetails } from '../domain/fact.ts'
import type { BuildId } from '../domain/ids.ts'
import type { PlacedFact } from '../domain/revision.ts'
import { shownBy, type Request } from '../domain/request.ts'
import type { Run } from '../domain/run.ts'
import { revisionSubject } from '../domain/subject.ts'
import { buildView, projectName } from '../domain/view.ts'
import type { Tx } from '../store/store.ts'
import type { Episode } from './decisions.ts'

// What follows from the facts beside cards: where each build stands, and what became of requests.

/** Keeps where each build with news stands, and what its project is called. */
export async function keepBuilds(
  tx: Tx,
  news: Episode & { runs: readonly Run[]; fresh: readonly PlacedFact[]; requests: readonly Request[] },
): Promise<void> {
  const { revisionKey, episode, runs, fresh, requests } = news
  const newest = new Map(runs.map((run) => [run.buildId, run]))
  const withFacts = new Set(fresh.filter((fact) => fact.episode === episode).map(({ buildId }) => buildId))
  for (const buildId of new Set([...withFacts, ...restartedOn(news)])) {
    const run = newest.get(buildId)
    if (!run) continue
    const { projectId } = run.facts[0]!
    // Without new facts only what stands on this card already may change.
    if (!withFacts.has(buildId) && (await tx.build(projectId, buildId))?.episode !== episode) continue
    const at = Math.max(
      run.facts.at(-1)!.at,
      ...fresh.filter((fact) => fact.buildId === buildId).map((fact) => fact.at),
    )
    const { branch } = buildView(run, runs)
    const { n, status, word } = run
    const { buildUuid, committer } = run.details
    const where = { projectId, buildId, run: n, revisionKey, episode, branch }
    await tx.keepBuild({ ...where, status, word, at, buildUuid, committer })
    const details = mergeDetails([...runs, run])
    const { projectFullName: fullName, projectUuid } = details
    await tx.hearProject({ projectId, name: projectName(details, projectId), fullName, projectUuid, at })
  }
  for (const { projectId, newBuildId, code } of requests)
    if (code === 'not-restarted' && newBuildId && !newest.has(newBuildId)) await tx.forgetBuild(projectId, newBuildId)
}

/** The builds whose runs may change as the request to restart them goes on. */
function restartedOn({ revisionKey, episode, requests }: Episode & { requests: readonly Request[] }): Set<BuildId> {
  const subject = revisionSubject(revisionKey, episode)
  const restarts = requests.filter((request) => request.subject === subject && request.action === 'restart')
  return new Set(restarts.map(({ buildId }) => buildId))
}

// Each card counts its runs from one: a stop is about a run of its own card, a restart may have begun the next one.
const requestsOn = (subject: string, requests: readonly Request[]): Request[] =>
  requests.filter((request) => request.subject === subject || request.action === 'restart')

/** What the facts show of requests confirms them, even after we had given up on it. */
export async function settleRequests(
  tx: Tx,
  { subject, all, runs, now }: { subject: string; all: readonly Request[]; runs: readonly Run[]; now: number },
): Promise<void> {
  for (const request of requestsOn(subject, all)) {
    // While CI is being called, whoever called it has the last word.
    if (request.state === 'calling' || request.state === 'confirmed' || !shownBy(request, runs, all)) continue
    await tx.updateRequest(request.id, { state: 'confirmed', endedAt: now, lookAt: null })
  }
}
