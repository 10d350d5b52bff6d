import type { Happening } from './builds.ts'
import { toJson } from '../../lib/json.ts'
import type { Build, BuildStatus, Project } from './state.ts'
import { idDigits, wireId } from './world.ts'
import type { World } from './world.ts'

/** The length of a short commit hash. */
const SHORT_COMMIT_LENGTH = 5

/** The body of a delivery: `{"build":{…}}` with the interface's twelve fields. Switches can add or remove fields. */
export function deliveryBody(world: World, happening: Happening): string {
  const build = { ...documentedFields(world, happening), ...extraFields(world, happening) }
  return toJson({ build: withoutFields(build, world.switches.missingFields, world.switches.nullFields) })
}

function documentedFields(world: World, { project, build, run }: Happening): Record<string, unknown> {
  return {
    build_url: buildUrl(world, project, build),
    commit_url: `${project.fields.repository_url.replace(/\.git$/, '')}/commit/${build.commitId}`,
    project_id: wireId(world, project.id),
    build_id: world.switches.buildIdForm === 'uuid' ? build.uuid : wireId(world, build.id),
    status: statusWord(run.status, world.switches.deliveryStatusWords),
    project_full_name: project.fields.name,
    project_name: project.fields.name,
    commit_id: build.commitId,
    short_commit_id: build.commitId.slice(0, SHORT_COMMIT_LENGTH),
    message: build.message,
    committer: build.committer,
    branch: build.branch,
  }
}

/** The URL of a build's page, with integer ids or with uuids. */
export function buildUrl(world: World, project: Project, build: Build): string {
  return world.switches.buildUrlForm === 'uuids'
    ? `${world.siteUrl}/projects/${project.fields.uuid}/builds/${build.uuid}`
    : `${world.siteUrl}/projects/${idDigits(world, project.id)}/builds/${idDigits(world, build.id)}`
}

function extraFields(world: World, { project, build, run }: Happening): Record<string, unknown> {
  if (!world.switches.extraFields) return {}
  return {
    organization_uuid: project.fields.organization_uuid,
    project_uuid: project.fields.uuid,
    build_uuid: build.uuid,
    started_at: timestamp(world, run.startedAt),
    finished_at: timestamp(world, run.finishedAt),
  }
}

function timestamp(world: World, ms: number | null): string | null {
  if (ms === null) return null
  const iso = new Date(ms).toISOString()
  return world.switches.timestampForm === 'iso' ? iso : `${iso.slice(0, 19).replace('T', ' ')} UTC`
}

function withoutFields(build: Record<string, unknown>, missing: readonly string[], empty: readonly string[]) {
  const kept = Object.entries(build).filter(([name]) => !missing.includes(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, empty.includes(name) ? null : value]))
}

/** The status, or its older synonym: `testing` for `initiated`, `failed` for `error`. */
export function statusWord(status: BuildStatus, words: 'documented' | 'synonyms'): string {
  if (words === 'documented') return status
  if (status === 'initiated') return 'testing'
  return status === 'error' ? 'failed' : status
}
