import type { BuildId, ProjectId, Uuid } from './ids.ts'
import type { NotificationRule } from './rule.ts'

/** A project as the v2 interface holds it. */
export interface Project {
  uuid: Uuid
  organizationUuid: Uuid | null
  /** the repository's full name; where CI gave none, the path of its address */
  name: string
  /** `basic`, `pro`, or CI's own word; `unknown` where CI gave none */
  type: string
  repositoryUrl: string | null
  /** the rules that could be read; all of them, as sent, are in `raw` */
  rules: readonly NotificationRule[]
  /** the object as CI sent it, unknown fields too; whole numbers beyond 2^53 are digit strings. It holds secrets. */
  raw: Record<string, unknown>
}

/** What a listing found, and what it could not read. */
export interface ProjectList {
  projects: Project[]
  /** how many CI says there are; null where it does not say */
  total: number | null
  /** CI has more than is listed here */
  truncated: boolean
  /** items that were no readable project */
  skipped: number
}

/** A project as the legacy interface holds it: Basic projects only. */
export interface LegacyProject {
  id: ProjectId
  uuid: Uuid | null
  name: string
  /** builds without a usable id are left out */
  builds: LegacyBuild[]
}

export interface LegacyProjectList {
  projects: LegacyProject[]
  total: number | null
  truncated: boolean
  skipped: number
}

/** What CI said about a build that it restarts: the same build again or a new one; null where it said nothing usable. */
export interface RestartedBuild {
  id: BuildId | null
  uuid: Uuid | null
}

export interface LegacyBuild {
  id: BuildId
  uuid: Uuid | null
  projectId: ProjectId
  /** CI's word as sent; `unknown` where it sent none */
  status: string
  branch: string | null
  commitId: string | null
  /** the committer's username on the repository host */
  committer: string | null
  message: string | null
  /** milliseconds since the epoch, UTC */
  startedAt: number | null
  finishedAt: number | null
  raw: Record<string, unknown>
}
