import type { Creation, ProjectChanges } from './requests.ts'
import { repositoryName } from './requests.ts'
import { newAesKey, newProjectFields } from './seed.ts'
import type { Project, ProjectFields } from './state.ts'
import { isoTime } from './world.ts'
import type { World } from './world.ts'

/** Creates a project. A repository can have several. */
export function createProject(world: World, organizationUuid: string, creation: Creation): Project {
  const { random, state, clock } = world
  const nextId = () => state.nextPipelineId++
  const fields: ProjectFields = {
    ...newProjectFields(random, clock.now()),
    ...creation.changes,
    organization_uuid: organizationUuid,
    name: repositoryName(creation.repositoryUrl) ?? creation.repositoryUrl,
    repository_url: creation.repositoryUrl,
    aes_key: creation.changes.type === 'pro' ? newAesKey(random) : null,
    test_pipelines: creation.testPipelines.map((pipeline) => ({ id: nextId(), ...pipeline })),
    deployment_pipelines: creation.deployments.map((pipeline) => ({ id: nextId(), ...pipeline })),
  }
  const project = { id: state.nextProjectId++, fields }
  state.projects.push(project)
  return project
}

/** Replaces a project's fields. Those not given get a new project's defaults; identity and pipelines stay. */
export function replaceProject(world: World, project: Project, changes: ProjectChanges): void {
  const old = project.fields
  project.fields = {
    ...newProjectFields(world.random, world.clock.now()),
    ...identityOf(old),
    ...changes,
    aes_key: changes.type === 'pro' ? (old.aes_key ?? newAesKey(world.random)) : null,
  }
}

const identityOf = (old: ProjectFields) => ({
  uuid: old.uuid,
  organization_uuid: old.organization_uuid,
  name: old.name,
  repository_url: old.repository_url,
  repository_provider: old.repository_provider,
  authentication_user: old.authentication_user,
  ssh_key: old.ssh_key,
  created_at: old.created_at,
  test_pipelines: old.test_pipelines,
  deployment_pipelines: old.deployment_pipelines,
})

/** Makes a new AES key. False for a Basic project, which has none. */
export function resetAesKey(world: World, project: Project): boolean {
  if (project.fields.type !== 'pro') return false
  project.fields = { ...project.fields, aes_key: newAesKey(world.random), updated_at: isoTime(world.clock.now()) }
  return true
}
