import type { Uuid } from '../../domain/ids.ts'
import type { RequestState } from '../../domain/cards/request.ts'
import type { FieldFault } from '../../domain/ci-project/project.ts'
import type { MaskedProject } from '../../domain/ci-project/masked-project.ts'
import type { RuleInput } from '../../domain/rules/rule-input.ts'
import type { Difference, ProjectChange, VariableInput } from '../../domain/ci-project/project-change.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import type { BuildSummary, CiFailure, NotFound, Refused } from '../../projects/outcomes.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { RequestDeps } from '../../projects/requests.ts'

// Requests about projects, and their outcomes. Only one outcome holds a secret: the new AES key.

/** A project as it can be shown, with its last build. */
export interface ShownProject {
  project: ProjectRef
  /** as CI sent it, without its secrets */
  masked: MaskedProject
  /** its setup commands, one line each, as `commandLines` writes them */
  setup: readonly string[]
  build: BuildSummary | null
  /** digests of its fields, to detect later what somebody else has changed */
  base: ProjectBase
}

/** A short digest of the value of each field that an update can set. */
export type ProjectBase = Readonly<Record<string, string>>

export type ShowOutcome =
  /**
   * `stale`: CI could not be reached; then only type, filter and rules are known, as they were last read. `mayEdit`:
   * whether the requester may edit and reset it
   */
  | { kind: 'project'; shown: ShownProject; stale: CiFailure | null; mayEdit: boolean }
  | { kind: 'no-v2' }
  | NotListed
  | CiFailure
  | NotFound

/** The project is known, and CI's v2 interface does not list it. */
export interface NotListed {
  kind: 'not-listed'
  project: ProjectRef
}

/** Why nothing was sent. */
export type NotSent =
  | { kind: 'no-v2' }
  /** the input cannot be sent: the reasons, by field */
  | { kind: 'faults'; faults: readonly FieldFault[] }
  /** a repetition of this request, or another request for this project is still open */
  | { kind: 'asked-already'; by: string; at: number; state: RequestState }
  | NotListed
  | CiFailure
  | NotFound
  | Refused

/** A write that was sent, and failed or has no known outcome. */
export type SentInVain =
  /** CI has certainly done nothing */
  | {
      kind: 'ci-refused'
      code: string
      reason: string | null
      project: string
      /** the notifiers of its rules that CI does not know, if that is the reason */
      unknownNotifiers?: readonly string[]
    }
  /** CI may have done it, but does not show it or cannot be reached. It is never sent again */
  | { kind: 'unclear'; code: string; project: string; lookUp: 'not-shown' | 'away' }

export interface EditInput {
  project: Uuid
  change: ProjectChange
  /** the digests of the fields as the form showed them */
  base: ProjectBase
  /** notifiers whose rules are left out, because CI refuses them */
  without?: readonly string[]
}

/** `base` null: no form has shown it before */
export type PreviewInput = Omit<EditInput, 'base'> & { base: ProjectBase | null }

/** The change that would be sent. */
export interface Preview {
  kind: 'preview'
  project: ProjectRef
  differences: readonly Difference[]
  /** the fields that somebody else has changed since the form was opened */
  theirs: readonly string[]
  /** the fields that CI does not show, so that an update may lose them */
  unshown: readonly string[]
  /** it removes the last rule through which CI notifies Buildline of builds */
  silences: boolean
  base: ProjectBase
}

export type PreviewOutcome = Preview | { kind: 'no-difference'; project: ProjectRef } | ChangedMeanwhile | NotSent

/**
 * Somebody else changed the project before the change was sent: nothing was sent. A rule is identified by its position,
 * so for rules even the preview fails with this.
 */
export interface ChangedMeanwhile {
  kind: 'changed-meanwhile'
  project: ProjectRef
  /** the fields */
  theirs: readonly string[]
  /** the person, if they used Buildline */
  by: string | null
}

export type EditOutcome =
  /** CI accepted the change; `otherwise`: what CI saved differently; `readAgain` false: that could not be checked */
  | {
      kind: 'edited'
      project: ProjectRef
      differences: readonly Difference[]
      otherwise: readonly Difference[]
      /** the fields that CI shows neither before nor after: they may be lost */
      unshown: readonly string[]
      readAgain: boolean
    }
  | ChangedMeanwhile
  | { kind: 'no-difference'; project: ProjectRef }
  | NotSent
  | SentInVain

/** The input of the form to create a project; `more`: any further field of the interface, as JSON text. */
export interface Creation {
  repositoryUrl: string
  type: 'basic' | 'pro'
  /** digit strings */
  teams: readonly string[]
  onPullRequestsOnly: boolean
  match: 'include' | 'exclude' | null
  branches: readonly string[]
  setupCommands: readonly string[]
  /** a line `# Name` begins a pipeline of that name */
  testCommands: readonly string[]
  variables: readonly VariableInput[]
  rule: RuleInput | null
  more: string | null
}

export type CreationPreview = { kind: 'free' } | { kind: 'exists'; project: ProjectRef } | NotSent

export type CreateOutcome =
  | { kind: 'created'; project: ProjectRef; otherwise: readonly Difference[] }
  /** a project of that name exists, and the requester did not confirm a second one */
  | { kind: 'exists'; project: ProjectRef }
  | NotSent
  | SentInVain

/** Called once it is certain that CI will be called. Its errors are only logged. */
export type Begun = () => Promise<void>

export type ResetOutcome =
  /** the new key, if CI returned it: shown only to the requester, stored nowhere */
  | { kind: 'reset'; project: ProjectRef; aesKey: string | null }
  | { kind: 'not-pro'; project: ProjectRef }
  | NotSent
  | SentInVain

export interface ProjectDeps extends RequestDeps {
  /** CI's v2 interface; null: not configured */
  ci: Pick<ClientV2, 'listProjects' | 'getProject' | 'createProject' | 'updateProject' | 'resetAesKey'> | null
  /** the secret key for digests, the same after a restart, so that nobody can guess a value from its digest */
  digestKey: string
}
