import { refuse } from './errors.ts'
import type { Params, Reply, Route } from '../../lib/http.ts'
import { escapeXml } from '../../lib/markup.ts'
import { currentRun } from './state.ts'
import type { Build, Project } from './state.ts'
import { findBuild, findProject, idDigits, projectOf } from './world.ts'
import type { World } from './world.ts'

/** The pages that `build_url` links to, with just enough to see that the link is right. */
export const siteRoutes = (world: World): Route[] => [
  { method: 'GET', pattern: '/projects/:project/builds/:build', handle: (_, params) => buildPage(world, params) },
  { method: 'GET', pattern: '/projects/:project', handle: (_, params) => projectPage(world, params) },
]

function buildPage(world: World, params: Params): Reply {
  const build = findBuild(world, params['build']!)
  const project = build && projectOf(world, build)
  if (!build || project !== findProject(world, params['project']!)) return refuse(world.switches, 404, 'no such build')
  return page(`${project!.fields.name} #${idDigits(world, build.id)}`, buildFacts(project!, build))
}

const buildFacts = (project: Project, build: Build): [string, string][] => [
  ['Status', currentRun(build).status],
  ['Branch', build.branch],
  ['Commit', build.commitId],
  ['Message', build.message],
  ['Committer', build.committer],
  ['Attempts', String(build.runs.length)],
  ['Build', build.uuid],
  ['Project', project.fields.uuid],
]

function projectPage(world: World, params: Params): Reply {
  const project = findProject(world, params['project']!)
  if (!project) return refuse(world.switches, 404, 'no such project')
  const { name, type, repository_url: repository, uuid } = project.fields
  return page(name, [
    ['Type', type],
    ['Repository', repository],
    ['Project', uuid],
  ])
}

function page(title: string, facts: readonly (readonly [string, string])[]): Reply {
  const rows = facts.map(([name, text]) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(text)}</dd>`).join('')
  const heading = escapeXml(title)
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${heading}</title><h1>${heading}</h1><dl>${rows}</dl></html>`
  const policy = "default-src 'none'"
  return {
    statusCode: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
    body,
  }
}
