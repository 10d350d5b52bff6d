import type { Observation } from '../domain/build-event.ts'
import type { BuildId, ProjectId, Uuid } from '../domain/ids.ts'
import type { LegacyProject } from '../domain/project.ts'
import type { KnownProject } from '../store/records.ts'

/**
 * A service that builds: how commands and jobs ask it and act on it. What it cannot do is null. Each call throws a CiError,
 * and each write is sent once. How it delivers is an `Endpoint`, how it is polled a `Polled`.
 */
export interface Source {
  getProject: ((id: ProjectId, wanted?: WantedBuilds, signal?: AbortSignal) => Promise<LegacyProject>) | null
  /** Runs a build that has ended again. */
  restart: ((build: ActedOn) => Promise<Answered>) | null
  stop: ((build: ActedOn) => Promise<void>) | null
  /** The address of the badge of a branch, or of the project; null: the source has none. */
  badge: ((id: ProjectId, branch: string | null) => Promise<string | null>) | null
}

/** Which source a project's builds are of; null: it cannot be asked. */
export type Sources = (projectId: ProjectId) => Source | null

interface WantedBuilds {
  /** left out: of all branches */
  branch?: string
  /** the builds that count, where the source need not show others */
  builds?: readonly BuildId[]
}

export interface ActedOn {
  projectId: ProjectId
  buildId: BuildId
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  /** the attempt has failed jobs, and they are enough */
  hasFailed: boolean
}

/** What a source answered to a restart: the build that runs now, as far as it said. */
export interface Answered {
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}

/** A build as a source shows it, with what it says of its project, where it has no other interface for that. */
export interface ShownBuild {
  seen: Observation
  project: KnownProject
}
