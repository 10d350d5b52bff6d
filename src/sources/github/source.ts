import { isFinal, toStatus } from '../../domain/status.ts'
import type { ProjectId } from '../../domain/ids.ts'
import { isRecord } from '../../lib/json.ts'
import type { KnownProject } from '../../store/records.ts'
import type { Reads } from '../../store/store.ts'
import type { Listed, Polled } from '../poll.ts'
import { keptProject, shownProject } from '../project.ts'
import type { ShownBuild, Source } from '../source.ts'
import type { GithubClient } from './client.ts'
import { readRun } from './run.ts'

/**
 * GitHub Actions: a run of a workflow is a build, and its workflow a project.
 * @param reads know which repository a project is of
 */
export function createGithubSource(client: GithubClient, reads: Pick<Reads, 'project'>): Source {
  const repositoryOf = async (projectId: ProjectId) => repositoryIn(await keptProject(reads, projectId))

  return {
    async getProject(projectId, { branch } = {}, signal) {
      const project = await keptProject(reads, projectId)
      const workflow = projectId.split(':')[2]!
      // A branch of a fork is asked for without its owner's name.
      const named = branch?.split(':').at(-1)
      const wanted = { workflow, ...(named === undefined ? {} : { branch: named }), ...(signal ? { signal } : {}) }
      const answer = await client.runs(repositoryIn(project), wanted)
      const runs = answer === 'unchanged' ? [] : answer.runs
      return shownProject(
        projectId,
        project,
        runs.flatMap((run) => readRun(run, isRecord(run) ? run['repository'] : null) ?? []),
      )
    },
    async restart({ projectId, buildId, hasFailed }) {
      await client.rerun(await repositoryOf(projectId), buildId, hasFailed ? 'failed' : 'all')
      return { newBuildId: buildId, newBuildUuid: null }
    },
    stop: async ({ projectId, buildId }) => client.cancel(await repositoryOf(projectId), buildId),
  }
}

/** Its default branch may be renamed, which decides who is told. */
const REPOSITORY_MS = 60 * 60_000

/** The newest runs of each repository: conditional requests, which do not count for the rate limit where nothing changed. */
export const polledGithub = (client: GithubClient, repositories: readonly string[]): Polled => ({
  source: 'github',
  projects: repositories,
  watch(name) {
    let etag: string | null = null
    let repository: unknown = null
    let readAt = 0
    return {
      async look(now, signal) {
        if (repository === null || now - readAt >= REPOSITORY_MS) {
          repository = await client.repository(name, signal)
          readAt = now
        }
        const answer = await client.runs(name, { etag, signal })
        if (answer === 'unchanged') return null
        const runs = answer.runs.flatMap((run) => readRun(run, repository) ?? [])
        const done = () => void (etag = answer.etag)
        return { builds: runs.map((run) => listed(client, name, run)), isWhole: true, done }
      },
    }
  },
})

function listed(client: GithubClient, repository: string, run: ShownBuild): Listed {
  const { projectId, buildId, word, details } = run.seen
  return {
    projectId,
    buildId,
    state: `${details.attempt} ${word}`,
    isOpen: !isFinal(toStatus(word)),
    read: async () => run,
    failedJobs: () => client.failedJobs(repository, buildId, details.attempt ?? 1),
  }
}

// `acme/web CI`: a full name holds no blank.
const repositoryIn = ({ name }: KnownProject): string => name.split(' ')[0]!
