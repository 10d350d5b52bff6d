import type { BuildId, ProjectId, Uuid } from './ids.ts'
import { isFinal, toStatus, type Status } from './status.ts'

/** What one observation says of a build beyond its status. Times are milliseconds since the epoch, as CI gave them. */
export interface BuildDetails {
  projectName: string | null
  projectFullName: string | null
  buildUrl: string | null
  commitUrl: string | null
  shortCommitId: string | null
  message: string | null
  committer: string | null
  projectUuid: Uuid | null
  buildUuid: Uuid | null
  organizationUuid: Uuid | null
  startedAt: number | null
  finishedAt: number | null
}

/** One observation as a door reads it, before it has a place in the order of things. */
export interface Observation {
  projectId: ProjectId
  buildId: BuildId
  branch: string | null
  commitId: string | null
  /** CI's own word for the status */
  word: string
  details: BuildDetails
}

/** An observation that is stored: `seq` is the order of receipt, `at` when we received it (ms). */
export interface Fact extends Observation {
  seq: number
  at: number
  status: Status
  origin: Origin
}

/** Who said it: CI by itself, CI when it was asked, or CI's answer to what we asked it to do. */
export type Origin = 'delivery' | 'poll' | 'action'

export const toFact = (seen: Observation, seq: number, at: number, origin: Origin = 'delivery'): Fact => ({
  ...seen,
  seq,
  at,
  origin,
  status: toStatus(seen.word),
})

export const isFinalFact = (fact: Fact): boolean => isFinal(fact.status)

/** The newest known value of each detail; of a field that was only sometimes sent, the last one that was. */
export function mergeDetails(facts: readonly Pick<Observation, 'details'>[]): BuildDetails {
  let merged = NO_DETAILS
  for (const { details } of facts) {
    const known = Object.entries(details).filter(([, value]) => value !== null)
    merged = { ...merged, ...Object.fromEntries(known) }
  }
  return merged
}

export const NO_DETAILS: BuildDetails = {
  projectName: null,
  projectFullName: null,
  buildUrl: null,
  commitUrl: null,
  shortCommitId: null,
  message: null,
  committer: null,
  projectUuid: null,
  buildUuid: null,
  organizationUuid: null,
  startedAt: null,
  finishedAt: null,
}
