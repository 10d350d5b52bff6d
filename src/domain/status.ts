/**
 * What a source says of a build, after synonyms; `unknown` carries every other word. Source: interface, "States and
 * transitions"; `queued` and `skipped` are GitHub's.
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
  | 'skipped'
  | 'unknown'

/** A run that GitHub holds back until somebody approves it there: to GitHub it has ended, and cannot be cancelled. */
export const HELD_WORD = 'action_required'

const BY_WORD = new Map<string, Status>([
  ['queued', 'queued'],
  ['initiated', 'started'],
  ['testing', 'started'],
  ['waiting', 'waiting'],
  [HELD_WORD, 'waiting'],
  ['success', 'success'],
  ['error', 'failed'],
  ['failed', 'failed'],
  ['stopped', 'stopped'],
  ['infrastructure_failure', 'infrastructure_failure'],
  ['ignored', 'ignored'],
  ['blocked', 'blocked'],
  ['skipped', 'skipped'],
])

/** Every word that is known, synonyms too. */
export const WORDS: readonly string[] = [...BY_WORD.keys()]

/** The status that CI's word names. Case and outer blanks are forgiven; any other word is `unknown`, never an error. */
export const toStatus = (word: string): Status => BY_WORD.get(word.trim().toLowerCase()) ?? 'unknown'

const FINAL: ReadonlySet<Status> = new Set<Status>([
  'success',
  'failed',
  'stopped',
  'infrastructure_failure',
  'ignored',
  'blocked',
  'skipped',
])

/** An attempt ends in a final status; `unknown` is not final, so that whatever follows an unknown word still counts. */
export const isFinal = (status: Status): boolean => FINAL.has(status)

/** Red: what a later success recovers from. */
export const isRed = (status: Status): boolean => status === 'failed' || status === 'infrastructure_failure'

/** Finished with a verdict on the commit or the machine; stopped, ignored and blocked neither break nor fix a branch. */
export const isVerdict = (status: Status): boolean => status === 'success' || isRed(status)

/** The account's trouble, not the build's: told in one notice per channel and day. */
export const isAccountNotice = (status: Status): boolean => status === 'ignored' || status === 'blocked'
