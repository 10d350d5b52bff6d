import type { Claimable } from '../../domain/handle.ts'
import type { Refused } from '../../catalog/outcomes.ts'

/** What a person has set for mentions. */
export interface Me {
  user: string
  /** the committer names that mean this person, oldest claim first; `at` in ms */
  handles: readonly { handle: string; at: number }[]
  mentions: boolean
}

/** Names that mean one person: nobody commits under more. */
export const HANDLES_MAX = 20

export type MeOutcome =
  | { kind: 'me'; me: Me }
  /** it means the asker now, or did already */
  | { kind: 'claimed'; handle: string; me: Me }
  /** it is another person's; `isGone`: who has left the workspace */
  | { kind: 'taken'; handle: string; by: string; isGone: boolean }
  | { kind: 'not-claimable'; handle: string; why: NotClaimable }
  | { kind: 'too-many'; user: string; max: number }
  /** an admin decided whose it is; `was`: whose it was; `untold`: those of both who could not be told */
  | { kind: 'given'; handle: string; user: string; was: string | null; untold: readonly string[] }
  /** whom a handle was to be given is nobody who can be mentioned */
  | { kind: 'not-a-person'; handle: string; user: string; why: NotAPerson }
  | { kind: 'released'; handle: string; me: Me }
  /** `by`: whose it is; null: nobody's */
  | { kind: 'not-yours'; handle: string; by: string | null }
  | { kind: 'mentions'; me: Me }
  | Refused

export type NotClaimable = Extract<Claimable, { kind: 'no' }>['why']

/** `unknown`: Slack did not say. */
export type NotAPerson = 'deactivated' | 'bot' | 'outsider' | 'unknown'
