import type { Call, Reply, Route } from '../../sandbox-ci/src/http.ts'
import { findProject } from './state.ts'
import type { World } from './state.ts'

/** `/{path}/badges/{branch}/pipeline.svg`: the newest pipeline of a branch as a picture, open to everybody. */
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
  return { statusCode: 200, headers, body: drawBadge(word) }
}

const COLORS: Partial<Record<string, string>> = { passed: '#4c1', failed: '#e05d44', running: '#007ec6' }

const drawBadge = (word: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="132" height="20"><rect width="132" height="20" fill="#555"/>
<rect x="62" width="70" height="20" fill="${COLORS[word] ?? '#9f9f9f'}"/>
<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11">
<text x="31" y="14">pipeline</text><text x="97" y="14">${word}</text></g></svg>`
