import type { ReceivedEvent } from '../builds/build-event.ts'
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

export interface ProjectList<Item> {
  projects: Item[]
  /** CI has more projects than are listed here */
  truncated: boolean
  /** how many items could not be read */
  skipped: number
}

/** A project with its builds, as its source shows them when asked. Of the CI service: a Basic project. */
export interface ProjectWithBuilds {
  id: ProjectId
  uuid: Uuid | null
  name: string
  /** builds without a usable id are left out */
  builds: ReceivedEvent[]
}

/** The build that CI named when it restarted one: the same or a new one. Null: it named none in a readable form. */
export interface RestartedBuild {
  id: BuildId | null
  uuid: Uuid | null
}

/** CI may deliver a build by its uuid and list it by its number. A build known by its uuid gets the uuid as its id. */
export function knownAs(ids: readonly BuildId[], shown: readonly ReceivedEvent[]): ReceivedEvent[] {
  const known = new Set(ids)
  return shown.map((build) => {
    const id = build.details.buildUuid && uuidBuildId(build.details.buildUuid)
    if (id === null || id === build.buildId || !known.has(id)) return build
    return { ...build, buildId: id, details: { ...build.details, number: build.buildId } }
  })
}
