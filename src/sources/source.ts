import type { BranchEnd } from '../domain/builds/streak.ts'
import type { Gate, ReceivedEvent } from '../domain/builds/build-event.ts'
import type { FailureReport } from '../domain/builds/failure.ts'
import type { BuildId, ProjectId, Uuid } from '../domain/ids.ts'
import type { GateAction } from '../domain/cards/request.ts'
import type { ProjectWithBuilds } from '../domain/ci-project/project.ts'
import type { KnownProject } from '../store/records.ts'

/**
 * A service that runs builds, as commands and jobs use it. A method is null if the service cannot do it. Calls throw a
 * CiError, and each write is sent once. Deliveries come through an `Endpoint`, polling uses a `PolledSource`.
 */
export interface Source {
  /** Only builds that the source itself assigns to this project. */
  getProject: ((id: ProjectId, query?: BuildQuery, signal?: AbortSignal) => Promise<ProjectWithBuilds>) | null
  /**
   * Reads the build that a person saw, with its gates, under the project name that the person saw. Each write comes after it and goes
   * to what it returned. Null: the source does not show this build there.
   */
  readBuild: (seen: SeenBuild, signal?: AbortSignal) => Promise<ReadBuild | null>
  /**
   * Reads a project, under these names if the source does not know it by its id. Null: the source shows no project with
   * this id. The call is null if the source lists its projects.
   */
  readProject: ((id: ProjectId, names: readonly string[], signal?: AbortSignal) => Promise<KnownProject | null>) | null
  /**
   * Reads a build with who opened its pull or merge request, if it waits, with its gates, and if it has ended, with its
   * jobs: see `EndDetails`. Null: the source no longer shows this end in this project. The call is null if the status alone
   * says everything.
   */
  readEnd: ((read: UnreadBuild, signal?: AbortSignal) => Promise<ReceivedEvent | null>) | null
  /**
   * Reads what failed in one attempt that ended red: a report for each failed job, at most ten calls. What the source
   * does not show is left out. The call is null if the source cannot say.
   * @param logs whether excerpts of logs are wanted
   */
  readFailures: ((failed: UnreadBuild, logs: boolean, signal?: AbortSignal) => Promise<readonly SourceReport[]>) | null
  /**
   * Whether the branch, pull or merge request of a stream is still there. Null: the source does not say. The call is
   * null if the source has no interface for it.
   */
  readBranch: ((stream: NamedStream, signal?: AbortSignal) => Promise<BranchState | null>) | null
  /** Restarts a build that has ended. */
  restart: ((build: ActionTarget) => Promise<RestartResult>) | null
  stop: ((build: ActionTarget) => Promise<void>) | null
  starter: Starter | null
  /** Lets a waiting build through a gate that `readBuild` showed, or not. The call is null if builds have no gates. */
  decide: ((build: ActionTarget, decision: Decision) => Promise<void>) | null
  /**
   * Resolves to the comments of all decisions about a gate, whoever made them; null: the source keeps none for such a
   * gate. Throws a CiError. The function itself is null for a source whose builds have no gates.
   */
  readDecisions:
    | ((
        build: Pick<ActionTarget, 'projectId' | 'project' | 'buildId'>,
        gate: Pick<Gate, 'kind' | 'id'>,
      ) => Promise<readonly string[] | null>)
    | null
  /** The address of the badge of a branch, or of the project; null: the source has none. */
  badge: ((id: ProjectId, branch: string | null) => Promise<string | null>) | null
}

/** Starts builds by hand. */
export interface Starter {
  /** What can be started on this branch or tag (null: the default branch), and its inputs. Only reads. */
  read(project: NamedProject, ref: string | null): Promise<Startable>
  /** @returns the started build; null: the source does not name it */
  start(place: StartPlace, inputs: readonly StartValue[]): Promise<BuildId | null>
  /**
   * The builds that the bot's own account has started there like this since then (ms, by the source's clock). They may
   * also be of somebody else with the same account.
   */
  startedSince(place: StartPlace, since: number): Promise<BuildId[]>
}

export interface NamedProject {
  projectId: ProjectId
  project: string
}

/** A branch or tag of a project. */
export interface StartPlace extends NamedProject {
  ref: string
}

/** `no-trigger`: the project cannot be started by hand there. `unreadable`: its file cannot be read. */
export type Startable =
  | { kind: 'no-ref' | 'no-trigger' | 'unreadable'; ref: string }
  | {
      kind: 'startable'
      place: StartPlace
      inputs: readonly StartInput[]
      /** it also takes variables that its file does not name */
      takesVariables: boolean
    }

/** An input as the project's file describes it; outside text. */
export interface StartInput {
  name: string
  description: string | null
  type: 'text' | 'number' | 'boolean'
  /** the only possible values; empty: any */
  options: readonly string[]
  /** what counts if none is given; null: nothing */
  initial: string | null
  isRequired: boolean
  /** GitLab: a variable, and no input */
  isVariable: boolean
}

export interface StartValue extends Pick<StartInput, 'name' | 'type' | 'isVariable'> {
  value: string
}

/** The source of a project's builds; null if it is not configured. */
export type Sources = (projectId: ProjectId) => Source | null

interface BuildQuery {
  /** all branches if left out */
  branch?: string
  /** the builds that the caller needs; the source need not show others */
  builds?: readonly BuildId[]
}

/** A build as a card or answer shows it. Fields that were not shown are null. */
export interface SeenBuild {
  projectId: ProjectId
  project: string
  projectUuid: Uuid | null
  buildId: BuildId
  buildUuid: Uuid | null
  branch: string | null
  /** the number, where it is not the id */
  number: string | null
  /** the first digits of its hash */
  commit: string | null
}

export interface NamedStream extends NamedProject {
  /** see `streamOf` */
  stream: string
}

/** `tag`: not a branch, so no later build can fix it. */
export type BranchState = 'there' | 'tag' | BranchEnd

/** One attempt of a build. */
export interface UnreadBuild extends NamedProject {
  /** see `streamOf` */
  stream: string | null
  buildId: BuildId
  attempt: number
  /** when it last ended, where that tells attempts apart: see `BuildDetails` */
  lastEndAt?: number | null
}

export type SourceReport = Omit<FailureReport, 'by' | 'attempt'>

export interface ReadBuild {
  project: KnownProject
  /** null: the source has no call that shows builds of this project */
  event: ReceivedEvent | null
}

/** The target of a write, as the source has just shown it. */
export interface ActionTarget {
  projectId: ProjectId
  /** the project's current name at the source */
  project: string
  buildId: BuildId
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  /** the attempt has failed jobs; restarting only those is enough */
  hasFailed: boolean
}

/** What a person decided about a gate. */
export interface Decision {
  action: GateAction
  gate: Gate
  /** for the source: who decided, and what they said */
  comment: string
}

/** A source's answer to a restart: the build that runs now; fields that it did not name are null. */
export interface RestartResult {
  newBuildId: BuildId | null
  newBuildUuid: Uuid | null
}

/** A build as a source shows it. With its project, if the source has no other interface for projects. */
export interface ShownBuild {
  event: ReceivedEvent
  project: KnownProject
}
