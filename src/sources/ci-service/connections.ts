import type { CiErrorKind } from '../http/errors.ts'

/** One way to CI. */
export interface Connection {
  name: ConnectionName
  isConfigured: boolean
  /** when it last answered without trouble (ms); null: not since the start */
  readAt: number | null
  /** what is wrong now; null: nothing is known to be */
  trouble: CiErrorKind | null
}

export type ConnectionName = 'v2' | 'legacy' | 'site'

export interface Connections {
  all(): readonly Connection[]
  /** @param trouble null: it answered as it should */
  note(name: ConnectionName, trouble: CiErrorKind | null): void
}

/** How the ways to CI are, by what this process has met on them. */
export function createConnections(configured: Record<ConnectionName, boolean>, now: () => number): Connections {
  const known = new Map<ConnectionName, Connection>(
    NAMES.map((name) => [name, { name, isConfigured: configured[name], readAt: null, trouble: null }]),
  )
  return {
    all: () => [...known.values()],
    note(name, trouble) {
      const before = known.get(name)!
      // That something is not there is an answer like any other.
      const isWell = trouble === null || trouble === 'not-found' || trouble === 'bad-request'
      known.set(name, isWell ? { ...before, readAt: now(), trouble: null } : { ...before, trouble })
    },
  }
}

const NAMES: readonly ConnectionName[] = ['v2', 'legacy', 'site']
