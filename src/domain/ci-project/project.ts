import type { Gate } from '../builds/build-event.ts'
import { uuidBuildId, type BuildId, type ProjectId, type Uuid } from '../ids.ts'
import type { NotificationRule } from '../rules/rule.ts'

/** A project in CI's v2 interface. */
export interface Project {
  uuid: Uuid
  /** the integer id that deliveries carry, if CI sends it; the interface's description does not mention it */
  id: ProjectId | null
  /** the repository's full name, else the path of its URL */
  name: string
  /** `basic` or `pro`, in any spelling of CI's, or CI's own word; `unknown` if CI gave none */
  type: string
  /** the rules that could be read; all of them, as sent, are in `raw` */
  rules: readonly NotificationRule[]
  /** the object as CI sent it, with unknown fields; whole numbers beyond 2^53 are digit strings. Contains secrets. */
  raw: Record<string, unknown>
}

/** A list of projects, and how much of it is missing. */
export interface ProjectList<Item> {
  projects: Item[]
  /** CI has more projects than are listed here */
  truncated: boolean
  /** how many items could not be read */
  skipped: number
}

/** A project in CI's legacy interface, which has Basic projects only. */
export interface LegacyProject {
  id: ProjectId
  uuid: Uuid | null
  name: string
  /** builds without a usable id are left out */
  builds: LegacyBuild[]
}

/** The build that CI named when it restarted one: the same or a new one. Null: it named none in a readable form. */
export interface RestartedBuild {
  id: BuildId | null
  uuid: Uuid | null
}

export interface LegacyBuild {
  id: BuildId
  uuid: Uuid | null
  projectId: ProjectId
  /** CI's word as sent; `unknown` if it sent none */
  status: string
  /** the full name of its project, if the source says it with each build */
  projectFullName?: string | null
  branch: string | null
  commitId: string | null
  /** the committer's username on the repository host */
  committer: string | null
  message: string | null
  /** milliseconds since the epoch, UTC */
  startedAt: number | null
  finishedAt: number | null
  /** see BuildDetails */
  number?: string | null
  attempt?: number | null
  lastEndAt?: number | null
  gates?: readonly Gate[] | null
}

/** CI may deliver a build by its uuid and list it by its number. A build known by its uuid gets the uuid as its id. */
export function knownAs(ids: readonly BuildId[], shown: readonly LegacyBuild[]): LegacyBuild[] {
  const known = new Set(ids)
  return shown.map((build) => {
    const id = build.uuid && uuidBuildId(build.uuid)
    return id !== null && id !== build.id && known.has(id) ? { ...build, id, number: build.id } : build
  })
}
