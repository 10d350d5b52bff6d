import type { ChannelId, Uuid } from './ids.ts'
import type { Request, RequestState } from './request.ts'

// What people ask CI to do with a project. As with builds: the record comes first, the call after it, and what is unclear
// is looked up, never simply asked again. The audit.

export const PROJECT_ACTIONS = ['create-project', 'edit-project', 'reset-aes-key'] as const

export type ProjectAction = (typeof PROJECT_ACTIONS)[number]

/** While one is open, there is no other of the same project. */
export interface ProjectRequest {
  id: string
  /** what Slack calls this one ask: a repetition of it is the same request */
  askKey: string
  action: ProjectAction
  state: RequestState
  /** the project's name */
  project: string
  /** null while it is being created */
  projectUuid: Uuid | null
  /** the fields that were to change: their names, never their values */
  what: readonly string[]
  /** how CI's values stood before, by field: digests, to tell later whether anything has come of it */
  before: Readonly<Record<string, string>>
  /** a Slack user */
  askedBy: string
  askedTeam: string | null
  channel: ChannelId | null
  via: Request['via']
  /** ms since the epoch, as all times here */
  askedAt: number
  /** the process that calls CI */
  claimedBy: string
  /** why it was refused or is unclear: CI's kind of answer, such as `not-found` */
  code: string | null
  /** CI's own words, cleaned */
  reason: string | null
  answeredAt: number | null
  /** when CI is to be asked how it went */
  lookAt: number | null
  endedAt: number | null
}

export const isProjectRequest = (request: Request | ProjectRequest): request is ProjectRequest =>
  PROJECT_ACTIONS.some((action) => action === request.action)
