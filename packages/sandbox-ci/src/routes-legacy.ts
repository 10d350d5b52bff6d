import { checkApiKey } from './access.ts'
import type { BuildLife } from './builds.ts'
import { refuse } from './errors.ts'
import { json } from '../../lib/http.ts'
import type { Call, Params, Reply, Route } from '../../lib/http.ts'
import { statusWord } from './payload.ts'
import { buildsOf, currentRun } from './state.ts'
import type { Build, Project } from './state.ts'
import { findBuild, idDigits, isoTime, projectOf, wireId } from './world.ts'
import type { World } from './world.ts'

/** How many builds of a project E7 and E8 show at most. */
export const LEGACY_BUILDS_MAX = 100

/** E7 to E9, for Basic projects only. The API key is checked first. */
export function legacyRoutes(world: World, life: BuildLife): Route[] {
  const route = (method: string, pattern: string, handle: (call: Call, params: Params) => Reply): Route => {
    return { method, pattern, handle: (call, params) => checkApiKey(world, call) ?? handle(call, params) }
  }
  return [
    route('GET', '/api/v1/projects.json', () => list(world)),
    route('GET', '/api/v1/projects/:project.json', (call, params) => show(world, call, params)),
    route('POST', '/api/v1/builds/:build/restart.json', (_, params) => restart(world, life, params)),
  ]
}

const list = (world: World): Reply =>
  json(200, { projects: world.state.projects.filter(isBasic).map((project) => legacyProject(world, project, null)) })

function show(world: World, call: Call, params: Params): Reply {
  const project = world.state.projects.find(({ id }) => idDigits(world, id) === params['project'])
  if (!project || !isBasic(project)) return refuse(world.switches, 404, 'no such project')
  const shown = legacyProject(world, project, call.query.get('branch'))
  return json(200, world.switches.legacyProjectForm === 'wrapped' ? { project: shown } : shown)
}

function restart(world: World, life: BuildLife, params: Params): Reply {
  const build = findBuild(world, params['build']!)
  const project = build && projectOf(world, build)
  if (!build || !project || !isBasic(project)) return refuse(world.switches, 404, 'no such build')
  const result = life.restart(build)
  if (result.kind === 'not-possible') return refuse(world.switches, 400, result.reason)
  return json(world.switches.restartStatusCode, { id: wireId(world, result.build.id), uuid: result.build.uuid })
}

const isBasic = (project: Project): boolean => project.fields.type === 'basic'

function legacyProject(world: World, project: Project, branch: string | null) {
  const builds = buildsOf(world.state, project.id)
    .filter((build) => branch === null || branch === '' || build.branch === branch)
    .slice(-LEGACY_BUILDS_MAX)
  const ordered = world.switches.legacyBuildsOrder === 'newest-first' ? builds.toReversed() : builds
  return {
    id: wireId(world, project.id),
    repository_name: project.fields.name,
    uuid: project.fields.uuid,
    builds: ordered.map((build) => legacyBuild(world, build)),
  }
}

function legacyBuild(world: World, build: Build) {
  const run = currentRun(build)
  return {
    id: wireId(world, build.id),
    uuid: build.uuid,
    project_id: wireId(world, build.projectId),
    status: statusWord(run.status, world.switches.legacyStatusWords),
    branch: build.branch,
    commit_id: build.commitId,
    repository_host_username: build.committer,
    message: build.message,
    started_at: run.startedAt === null ? null : isoTime(run.startedAt),
    finished_at: run.finishedAt === null ? null : isoTime(run.finishedAt),
    debug_connection: null,
  }
}
