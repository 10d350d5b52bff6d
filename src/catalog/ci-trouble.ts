import { CiError } from '../sources/ci-service/errors.ts'
import type { CiTrouble } from './outcomes.ts'

/** A question that CI did not answer. Throws on what is no answer of CI's. */
export function troubleOf(error: unknown): CiTrouble {
  if (!(error instanceof CiError)) throw error
  return { kind: 'ci-trouble', code: error.kind, reason: error.reason ?? null }
}
