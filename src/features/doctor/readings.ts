import { CiError } from '../../sources/ci-service/errors.ts'
import type { LegacyProjectList, ProjectList } from '../../domain/project.ts'
import type { SlackIdentity } from '../../slack/api/examiner.ts'
import type { DoctorDeps } from './deps.ts'

/** What CI answered to one question: what it was asked for, or why not. */
export type Reading<Value> = { kind: 'read'; value: Value } | { kind: 'trouble'; error: CiError } | { kind: 'none' }

/** What several checks look at, asked once for all of them. */
export interface Readings {
  identity(): Promise<SlackIdentity>
  projects(): Promise<Reading<ProjectList>>
  legacyProjects(): Promise<Reading<LegacyProjectList>>
}

/** One examination: what it stands on, what was read for it, and the signal that ends it. */
export interface Examination extends DoctorDeps, Readings {
  signal: AbortSignal
}

export function beginExamination(deps: DoctorDeps, signal: AbortSignal): Examination {
  const { slack, v2, legacy } = deps
  return {
    ...deps,
    signal,
    identity: once(() => slack.identity(signal)),
    projects: once(() => reading(v2 && (() => v2.listProjects({}, signal)))),
    legacyProjects: once(() => reading(legacy && (() => legacy.listProjects(signal)))),
  }
}

function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asked: Promise<Value> | null = null
  return () => (asked ??= ask())
}

async function reading<Value>(ask: (() => Promise<Value>) | null): Promise<Reading<Value>> {
  if (!ask) return { kind: 'none' }
  try {
    return { kind: 'read', value: await ask() }
  } catch (error) {
    if (error instanceof CiError) return { kind: 'trouble', error }
    throw error
  }
}
