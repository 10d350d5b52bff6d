import { checkToken } from './access.ts'
import type { BuildLife } from './builds.ts'
import { refuse } from './errors.ts'
import { json } from '../../lib/http.ts'
import type { Call, Params, Reply, Route } from '../../lib/http.ts'
import { parseJson } from '../../lib/json.ts'
import { projectsPage } from './pages.ts'
import { createProject, replaceProject, resetAesKey } from './projects.ts'
import { readCreate, readUpdate } from './requests.ts'
import type { Project, ProjectFields, Scope } from './state.ts'
import { findBuild, idDigits } from './world.ts'
import type { World } from './world.ts'

/** The path of {base_url}. */
export const V2_PREFIX = '/v2'

/** E1 to E5. Every route checks token, organization and scope before it looks anything up. */
export function v2Routes(world: World, life: BuildLife): Route[] {
  const projects = `${V2_PREFIX}/organizations/:organization/projects`
  const route = (method: string, pattern: string, scope: () => Scope | 'any', handle: Route['handle']): Route => {
    const guarded = (call: Call, params: Params) =>
      checkToken(world, call, params['organization']!, scope()) ?? handle(call, params)
    return { method, pattern, handle: guarded }
  }
  const read = () => 'project.read' as const
  const write = () => 'project.write' as const
  const build = () => 'build.write' as const
  const unshown = () => world.switches.unshownScope
  return [
    route('POST', `${projects}/:project/builds/:build/stop`, build, (_, params) => stop(world, life, params)),
    route('GET', projects, read, (call, params) => list(world, call, params)),
    route('POST', projects, unshown, (call, params) => create(world, call, params)),
    route('PUT', `${projects}/:project`, write, (call, params) => update(world, call, params)),
    route('POST', `${projects}/:project/reset_aes_key`, unshown, (_, params) => reset(world, params)),
  ]
}

function stop(world: World, life: BuildLife, params: Params): Reply {
  const project = findIn(world, params)
  const build = project && findBuild(world, params['build']!)
  if (!build || build.projectId !== project.id || build.uuid !== params['build']) return notFound(world, 'build')
  const result = life.stop(build)
  return result.kind === 'changed' ? { statusCode: 202 } : refuse(world.switches, 400, result.reason)
}

function list(world: World, call: Call, params: Params): Reply {
  const type = call.query.get('type')
  if (type !== null && type !== 'basic' && type !== 'pro') return refuse(world.switches, 400, 'type: basic or pro')
  const name = call.query.get('name')
  const projects = inOrganization(world, params)
    .map(({ fields }) => fields)
    .filter((fields) => (name === null || fields.name === name) && (type === null || fields.type === type))
  return projectsPage(projects, call, world.switches, world.siteUrl)
}

function create(world: World, call: Call, params: Params): Reply {
  return withBody(world, call, (body) => {
    const read = readCreate(body, world.switches)
    if (read.kind === 'invalid') return refuse(world.switches, world.switches.invalidStatusCode, read.reasons)
    const { fields } = createProject(world, params['organization']!, read.creation)
    return projectReply(world.switches.createStatusCode, fields, world.switches.createdProjectForm)
  })
}

function update(world: World, call: Call, params: Params): Reply {
  const project = findIn(world, params)
  if (!project) return notFound(world, 'project')
  return withBody(world, call, (body) => {
    const read = readUpdate(body, world.switches)
    if (read.kind === 'invalid') return refuse(world.switches, world.switches.invalidStatusCode, read.reasons)
    replaceProject(world, project, read.changes)
    return projectReply(200, project.fields, world.switches.updatedProjectForm)
  })
}

function reset(world: World, params: Params): Reply {
  // The interface calls E5's parameter `id`, so the integer id is accepted as well as the uuid.
  const project =
    findIn(world, params) ?? inOrganization(world, params).find(({ id }) => idDigits(world, id) === params['project'])
  if (!project) return notFound(world, 'project')
  if (!resetAesKey(world, project)) return refuse(world.switches, 400, 'only a pro project has an AES key')
  const { resetAesKeyForm } = world.switches
  if (resetAesKeyForm === 'empty') return { statusCode: 200 }
  if (resetAesKeyForm === 'aes_key') return json(200, { aes_key: project.fields.aes_key })
  return projectReply(200, project.fields, resetAesKeyForm)
}

const inOrganization = (world: World, params: Params): Project[] =>
  world.state.projects.filter(({ fields }) => fields.organization_uuid === params['organization'])

const findIn = (world: World, params: Params): Project | undefined =>
  inOrganization(world, params).find(({ fields }) => fields.uuid === params['project'])

function withBody(world: World, call: Call, handle: (body: unknown) => Reply): Reply {
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) {
    return refuse(world.switches, 415, 'the content type must be application/json')
  }
  const parsed = parseJson(call.text)
  return parsed.kind === 'json' ? handle(parsed.value) : refuse(world.switches, 400, 'the body is not JSON')
}

const notFound = (world: World, what: string): Reply => refuse(world.switches, 404, `no such ${what}`)

const projectReply = (statusCode: number, project: ProjectFields, form: 'wrapped' | 'bare'): Reply =>
  json(statusCode, form === 'wrapped' ? { project } : project)
