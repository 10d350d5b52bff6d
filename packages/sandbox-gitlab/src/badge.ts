import { drawBadge, GREY } from '../../lib/badge.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import { findProject } from './state.ts'
import type { World } from './state.ts'

/** `/{path}/badges/{branch}/pipeline.svg`: a badge of the branch's newest pipeline. It needs no token. */
export const badgeRoute = (world: World, prefix: string): Route => ({
  method: 'GET',
  pattern: `${prefix}/:project*/badges/:branch*/pipeline.svg`,
  handle: (call, { project, branch }) => badge(world, call, project!, branch!),
})

function badge(world: World, { query }: Call, path: string, branch: string): Reply {
  const project = findProject(world, path)
  if (!project) return { statusCode: 404 }
  const shown = world.pipelines.filter(({ status }) => status !== 'skipped' || query.get('ignore_skipped') !== 'true')
  const newest = shown.findLast((one) => one.projectId === project.id && one.branch === branch)
  const word = newest?.status === 'success' ? 'passed' : (newest?.status ?? 'unknown')
  const headers = { 'content-type': 'image/svg+xml', 'cache-control': 'private, no-store' }
  return { statusCode: 200, headers, body: drawBadge('pipeline', { word, color: COLORS[word] ?? GREY }) }
}

const COLORS: Partial<Record<string, string>> = { passed: '#4c1', failed: '#e05d44', running: '#007ec6' }
