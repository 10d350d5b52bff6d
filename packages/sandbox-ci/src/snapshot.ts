import type { Build, Run } from './state.ts'
import { currentRun } from './state.ts'
import { idDigits, isoTime, projectOf } from './world.ts'
import type { World } from './world.ts'

/** A build as people, tests and panels see it. Ids are strings of digits, because a number could be rounded. */
export interface BuildSnapshot {
  id: string
  uuid: string
  project: string
  branch: string
  commitId: string
  message: string
  committer: string
  status: string
  /** how long its run takes from start to end (ms), if nobody ends it earlier; null: until somebody ends it */
  runMs: number | null
  runs: { status: string; startedAt: string | null; finishedAt: string | null }[]
}

export const buildSnapshot = (world: World, build: Build): BuildSnapshot => ({
  id: idDigits(world, build.id),
  uuid: build.uuid,
  project: projectOf(world, build)?.fields.name ?? '',
  branch: build.branch,
  commitId: build.commitId,
  message: build.message,
  committer: build.committer,
  status: currentRun(build).status,
  runMs: build.plan.outcome === 'none' ? null : build.plan.ms * world.switches.timeScale,
  runs: build.runs.map(runSnapshot),
})

const runSnapshot = ({ status, startedAt, finishedAt }: Run) => ({
  status,
  startedAt: startedAt === null ? null : isoTime(startedAt),
  finishedAt: finishedAt === null ? null : isoTime(finishedAt),
})

/** Everything in the sandbox except the deliveries. Includes the credentials, which are public. */
export const stateSnapshot = (world: World) => ({
  organizations: world.state.organizations,
  projects: world.state.projects.map((project) => ({ id: idDigits(world, project.id), ...project.fields })),
  builds: [...world.state.builds.values()].map((build) => buildSnapshot(world, build)),
  apiKey: world.state.apiKey,
  clientId: world.state.clientId,
  clientSecret: world.state.clientSecret,
  tokens: world.state.tokens,
  switches: world.switches,
})
export type StateSnapshot = ReturnType<typeof stateSnapshot>
