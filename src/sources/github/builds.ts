import type { BuildId, ProjectId } from '../../domain/ids.ts'
import type { LegacyBuild, LegacyProject } from '../../domain/project.ts'
import { isRecord } from '../../lib/json.ts'
import type { KnownProject } from '../../store/records.ts'
import type { Reads } from '../../store/store.ts'
import type { ClientLegacy } from '../ci-service/client-legacy.ts'
import { CiError } from '../http/errors.ts'
import type { GithubClient } from './client.ts'
import { readRun } from './run.ts'

interface BuildRef {
  projectId: ProjectId
  buildId: BuildId
}

/** GitHub's runs by the ids that Buildline gives them. Each call throws a CiError; a write is sent once. */
export interface GithubBuilds extends Pick<ClientLegacy, 'getProject'> {
  /** Runs all jobs of a run again, or those that failed. */
  rerun(build: BuildRef, jobs: 'all' | 'failed'): Promise<void>
  cancel(build: BuildRef): Promise<void>
}

/** @param reads know which repository a project is of */
export function createGithubBuilds(client: GithubClient, reads: Pick<Reads, 'project'>): GithubBuilds {
  async function projectOf(projectId: ProjectId): Promise<KnownProject> {
    const project = await reads.project({ uuid: null, legacyId: projectId, names: [] })
    if (!project) throw new CiError({ kind: 'not-found', purpose: 'find a repository', isUndone: true })
    return project
  }

  const repositoryOf = async (projectId: ProjectId) => repositoryIn(await projectOf(projectId))

  return {
    async getProject(projectId, { branch } = {}): Promise<LegacyProject> {
      const project = await projectOf(projectId)
      const workflow = projectId.split(':')[2]!
      // A branch of a fork is asked for without its owner's name.
      const named = branch?.split(':').at(-1)
      const answer = await client.runs(repositoryIn(project), {
        workflow,
        ...(named === undefined ? {} : { branch: named }),
      })
      const runs = answer === 'unchanged' ? [] : answer.runs
      const { uuid, name } = project
      return { id: projectId, uuid, name, builds: runs.flatMap((run) => buildOf(run) ?? []) }
    },
    rerun: async ({ projectId, buildId }, jobs) => client.rerun(await repositoryOf(projectId), buildId, jobs),
    cancel: async ({ projectId, buildId }) => client.cancel(await repositoryOf(projectId), buildId),
  }
}

// `acme/web CI`: a full name holds no blank.
const repositoryIn = ({ name }: KnownProject): string => name.split(' ')[0]!

function buildOf(value: unknown): LegacyBuild | null {
  const run = readRun(value, isRecord(value) ? value['repository'] : null)
  if (!run) return null
  const { projectId, buildId: id, branch, commitId, word: status, details } = run.seen
  const { committer, message, startedAt, finishedAt, number, attempt } = details
  const told = { committer, message, startedAt, finishedAt, number, attempt }
  return { id, uuid: null, projectId, status, branch, commitId, ...told, raw: {} }
}
