import type { CiErrorKind } from '../http/errors.ts'

/** The state of one interface of CI. */
export interface Connection {
  name: ConnectionName
  isConfigured: boolean
  /** when it last answered properly (ms); null: not since the start */
  readAt: number | null
  /** what is wrong now; null if nothing is known to be wrong */
  failure: CiErrorKind | null
}

export type ConnectionName = 'v2' | 'legacy' | 'site'

export interface Connections {
  all(): readonly Connection[]
  /** @param trouble null if it answered properly */
  record(name: ConnectionName, trouble: CiErrorKind | null): void
}

/** The state of each interface of CI, from what this process has seen. */
export function createConnections(configured: Record<ConnectionName, boolean>, now: () => number): Connections {
  const known = new Map<ConnectionName, Connection>(
    NAMES.map((name) => [name, { name, isConfigured: configured[name], readAt: null, failure: null }]),
  )
  return {
    all: () => [...known.values()],
    record(name, failure) {
      const before = known.get(name)!
      // `not-found` and `bad-request` are normal answers: the interface works.
      const isWell = failure === null || failure === 'not-found' || failure === 'bad-request'
      known.set(name, isWell ? { ...before, readAt: now(), failure: null } : { ...before, failure })
    },
  }
}

const NAMES: readonly ConnectionName[] = ['v2', 'legacy', 'site']
