import type { Uuid } from '../../domain/ids.ts'
import type { RequestState } from '../../domain/request.ts'
import type { FieldFault } from '../../domain/project.ts'
import type { MaskedProject } from '../../domain/masked-project.ts'
import type { RuleInput } from '../../domain/rule-input.ts'
import type { Difference, ProjectChange, VariableInput } from '../../domain/project-change.ts'
import type { ProjectRef } from '../../domain/project-names.ts'
import type { BuildSummary, CiTrouble, NotFound, Refused } from '../../catalog/outcomes.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { RequestDeps } from '../../catalog/requests.ts'

// What people ask about projects, and how it can end. Secrets are in none of these answers but one: the new AES key.

/** A project as it can be shown, and where it stands. */
export interface ShownProject {
  project: ProjectRef
  /** as CI sent it, without its secrets; null where only its name is known */
  masked: MaskedProject | null
  /** its setup commands, a line for each as `commandLines` writes it */
  setup: readonly string[]
  build: BuildSummary | null
  /** the version of each field, to tell later what somebody else changed meanwhile */
  base: ProjectBase
}

/** For each field that an update can set a short digest of its value. */
export type ProjectBase = Readonly<Record<string, string>>

export type ShowOutcome =
  /**
   * `stale`: CI could not be asked now; then only type, filter and rules are known, as they were last read. `mayEdit`:
   * whether the requester may edit and reset it
   */
  | { kind: 'project'; shown: ShownProject; stale: CiTrouble | null; mayEdit: boolean }
  | { kind: 'no-v2' }
  | NotListed
  | CiTrouble
  | NotFound

/** The project is known, and CI's v2 interface does not list it. */
export interface NotListed {
  kind: 'not-listed'
  project: ProjectRef
}

/** Why a write was not made: nothing was sent. */
export type NotSent =
  | { kind: 'no-v2' }
  /** what was typed cannot be sent: by field, in words */
  | { kind: 'faults'; faults: readonly FieldFault[] }
  /** the same person's same request, or somebody's open one for this project */
  | { kind: 'asked-already'; by: string; at: number; state: RequestState }
  | NotListed
  | CiTrouble
  | NotFound
  | Refused

/** How a write that was sent ended badly. */
export type SentInVain =
  /** CI has surely done nothing */
  | {
      kind: 'ci-refused'
      code: string
      reason: string | null
      project: string
      /** the notifiers of its rules that CI does not know, where that is why */
      unknownNotifiers?: readonly string[]
    }
  /** CI may have done it, and it was looked up: it does not show, or CI cannot be asked. It is never simply sent again */
  | { kind: 'unclear'; code: string; project: string; looked: 'not-shown' | 'away' }

export interface EditQuestion {
  project: Uuid
  change: ProjectChange
  /** as the form showed it */
  base: ProjectBase
  /** notifiers whose rules are left away, because CI does not take them back */
  without?: readonly string[]
}

/** `base` null: no form has shown it before */
export type PreviewQuestion = Omit<EditQuestion, 'base'> & { base: ProjectBase | null }

export type PreviewOutcome =
  /**
   * what would be sent; `theirs`: what somebody else has changed since the form was opened, as it is now; `unshown`: what
   * CI does not show of the project, and an update may so take away
   */
  | {
      kind: 'preview'
      project: ProjectRef
      differences: readonly Difference[]
      theirs: readonly string[]
      unshown: readonly string[]
      base: ProjectBase
    }
  | { kind: 'no-difference'; project: ProjectRef }
  | ChangedMeanwhile
  | NotSent

/**
 * Somebody else changed the project between the look at it and the sending: nothing was sent. Of rules, which go by their
 * places, this is told before the difference is.
 */
export interface ChangedMeanwhile {
  kind: 'changed-meanwhile'
  project: ProjectRef
  /** the fields */
  theirs: readonly string[]
  /** who, where it was done through us */
  by: string | null
}

export type EditOutcome =
  /** CI took it, and read again it is so; `otherwise`: what CI made of it differently */
  | {
      kind: 'edited'
      project: ProjectRef
      differences: readonly Difference[]
      otherwise: readonly Difference[]
      /** what CI shows neither before nor after: whether it is still there is not known */
      unshown: readonly string[]
      readAgain: boolean
    }
  | ChangedMeanwhile
  | { kind: 'no-difference'; project: ProjectRef }
  | NotSent
  | SentInVain

/** What the form to create a project asks for; `more`: any further field of the interface, as JSON text. */
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

export type CreationPreview = { kind: 'free'; name: string } | { kind: 'exists'; project: ProjectRef } | NotSent

export type CreateOutcome =
  | { kind: 'created'; project: ProjectRef; otherwise: readonly Difference[] }
  /** there is one of that name, and nobody said that a second one is wanted */
  | { kind: 'exists'; project: ProjectRef }
  | NotSent
  | SentInVain

/** Called once it is sure that CI will be asked; what it throws is not minded. */
export type Begun = () => Promise<void>

export type ResetOutcome =
  /** the new key, if CI returned it: for the requester's eyes, kept nowhere */
  | { kind: 'reset'; project: ProjectRef; aesKey: string | null }
  | { kind: 'not-pro'; project: ProjectRef }
  | NotSent
  | SentInVain

export interface ProjectDeps extends RequestDeps {
  /** CI's v2 interface; null: not configured */
  ci: Pick<ClientV2, 'listProjects' | 'getProject' | 'createProject' | 'updateProject' | 'resetAesKey'> | null
  /** the key for digests of values, the same after a restart: someone who sees a digest must be unable to try values */
  digestKey: string
}
