import type { Observation } from '../domain/build-event.ts'
import type { BuildId, ProjectId, Uuid } from '../domain/ids.ts'
import type { LegacyProject } from '../domain/project.ts'
import type { KnownProject } from '../store/records.ts'

/**
 * A service that runs builds, as commands and jobs use it. What it cannot do is null. Calls throw a CiError, and each
 * write is sent once. Deliveries come through an `Endpoint`, polling uses a `PolledSource`.
 */
export interface Source {
  getProject: ((id: ProjectId, query?: BuildQuery, signal?: AbortSignal) => Promise<LegacyProject>) | null
  /** Restarts a build that has ended. */
  restart: ((build: ActionTarget) => Promise<RestartResult>) | null
  stop: ((build: ActionTarget) => Promise<void>) | null
  /** The address of the badge of a branch, or of the project; null: the source has none. */
  badge: ((id: ProjectId, branch: string | null) => Promise<string | null>) | null
}

/** The source of a project's builds; null if it is not configured. */
export type Sources = (projectId: ProjectId) => Source | null

interface BuildQuery {
  /** all branches if left out */
  branch?: string
  /** the builds that the caller needs; the source need not show others */
  builds?: readonly BuildId[]
}

export interface ActionTarget {
  projectId: ProjectId
  buildId: BuildId
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  /** the attempt has failed jobs; restarting only those is enough */
  hasFailed: boolean
}

/** A source's answer to a restart: the build that runs now, null for what it did not say. */
export interface RestartResult {
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}

/** A build as a source shows it, with its project, for sources that have no other interface for projects. */
export interface ShownBuild {
  observation: Observation
  project: KnownProject
}
