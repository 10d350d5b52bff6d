/**
 * The state of a build according to its source, with synonyms merged; every other word is `unknown`. Source: interface,
 * "States and transitions"; `queued` and `skipped` are GitHub's and GitLab's, and `quota_exceeded` is GitLab's: no
 * compute minutes are left.
 */
export type Status =
  | 'queued'
  | 'started'
  | 'waiting'
  | 'success'
  | 'failed'
  | 'stopped'
  | 'infrastructure_failure'
  | 'ignored'
  | 'blocked'
  | 'quota_exceeded'
  | 'skipped'
  | 'unknown'

/** GitHub holds such a run until a person approves it there. For GitHub it has ended and cannot be cancelled. */
export const HELD_STATUS = 'action_required'

const BY_RAW_STATUS = new Map<string, Status>([
  ['queued', 'queued'],
  ['initiated', 'started'],
  ['testing', 'started'],
  ['waiting', 'waiting'],
  [HELD_STATUS, 'waiting'],
  ['success', 'success'],
  ['error', 'failed'],
  ['failed', 'failed'],
  ['stopped', 'stopped'],
  ['infrastructure_failure', 'infrastructure_failure'],
  ['ignored', 'ignored'],
  ['blocked', 'blocked'],
  ['quota_exceeded', 'quota_exceeded'],
  ['skipped', 'skipped'],
])

/** Every known word, with synonyms. */
export const RAW_STATUSES: readonly string[] = [...BY_RAW_STATUS.keys()]

/** The status for CI's word. Case and outer blanks do not matter; any other word is `unknown`, never an error. */
export const toStatus = (rawStatus: string): Status => BY_RAW_STATUS.get(rawStatus.trim().toLowerCase()) ?? 'unknown'

const FINAL: ReadonlySet<Status> = new Set<Status>([
  'success',
  'failed',
  'stopped',
  'infrastructure_failure',
  'ignored',
  'blocked',
  'quota_exceeded',
  'skipped',
])

/** An attempt ends with a final status. `unknown` is not final, so that whatever follows it still counts. */
export const isFinal = (status: Status): boolean => FINAL.has(status)

/** Red: what a later success recovers from. */
export const isRed = (status: Status): boolean => status === 'failed' || status === 'infrastructure_failure'

/** Passed or red. Builds that were stopped, ignored, blocked or skipped neither break nor fix a branch. */
export const isVerdict = (status: Status): boolean => status === 'success' || isRed(status)

/** Problems of the account, not of the build, which never ran: channels get one notice a day about them. */
export const ACCOUNT_STATUSES = ['ignored', 'blocked', 'quota_exceeded'] as const satisfies readonly Status[]

export type AccountStatus = (typeof ACCOUNT_STATUSES)[number]

export const isAccountNotice = (status: Status): status is AccountStatus =>
  ACCOUNT_STATUSES.some((one) => one === status)
