import type { FieldFault } from '../../domain/rules/rule.ts'
import type { MaskedProject } from '../../domain/ci-project/masked-project.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'
import type { BuildSummary, CiFailure, NotFound, Refused } from '../../projects/outcomes.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { AlreadyRequested, RequestDeps } from '../../projects/requests.ts'
import type { SendText } from '../../slack/api/send-text.ts'

// What the requests about projects share. No outcome but that of a reset holds a secret.

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
  | AlreadyRequested
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

export interface ProjectDeps extends RequestDeps {
  /** CI's v2 interface; null: not configured */
  ci: Pick<ClientV2, 'listProjects' | 'getProject' | 'createProject' | 'updateProject' | 'resetAesKey'> | null
  /** the secret key for digests, the same after a restart, so that nobody can guess a value from its digest */
  digestKey: string
  sendText: SendText
}
