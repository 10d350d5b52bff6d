import { drawBadge, GREY } from '../../lib/badge.ts'
import type { Look } from '../../lib/badge.ts'
import type { Call, Params, Reply, Route } from '../../lib/http.ts'
import { refuse } from './errors.ts'
import { buildsOf, currentRun } from './state.ts'
import type { BuildStatus } from './state.ts'
import type { World } from './world.ts'

/** `GET {site_url}/projects/<project_uuid>/status?branch=<branch_name>`: an SVG, open to everybody, never cached. */
export const badgeRoutes = (world: World): Route[] => [
  { method: 'GET', pattern: '/projects/:project/status', handle: (call, params) => badge(world, call, params) },
]

const LOOKS: Record<BuildStatus, Look> = {
  initiated: { word: 'testing', color: '#007ec6' },
  waiting: { word: 'waiting', color: '#dfb317' },
  success: { word: 'passing', color: '#2e9e3e' },
  error: { word: 'failing', color: '#d1402f' },
  infrastructure_failure: { word: 'machine error', color: '#d1402f' },
  stopped: { word: 'stopped', color: GREY },
  ignored: { word: 'not built', color: GREY },
  blocked: { word: 'blocked', color: GREY },
}

function badge(world: World, call: Call, params: Params): Reply {
  const project = world.state.projects.find(({ fields }) => fields.uuid === params['project'])
  if (project) return svg(200, branchLook(world, project.id, call.query.get('branch')))
  const { badgeUnknownProject } = world.switches
  return badgeUnknownProject === 404
    ? refuse(world.switches, 404, 'no such project')
    : svg(200, { word: 'project unknown', color: GREY })
}

/** The newest build of the branch; without a branch, of the project. A branch that never built is `unknown`. */
function branchLook(world: World, projectId: number, branch: string | null): Look {
  const builds = buildsOf(world.state, projectId).filter((build) => !branch || build.branch === branch)
  const newest = builds.at(-1)
  if (!newest) return { word: 'unknown', color: GREY }
  const { status } = currentRun(newest)
  return world.switches.badgeWords === 'words' ? LOOKS[status] : { ...LOOKS[status], word: status }
}

const svg = (statusCode: number, look: Look): Reply => ({
  statusCode,
  headers: { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'no-cache, no-store' },
  body: drawBadge('build', look),
})
