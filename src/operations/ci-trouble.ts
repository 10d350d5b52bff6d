import { CiError } from '../ci/errors.ts'
import type { CiTrouble } from './asked.ts'

/** A question that CI did not answer. Throws on what is no answer of CI's. */
export function troubleOf(error: unknown): CiTrouble {
  if (!(error instanceof CiError)) throw error
  return { kind: 'ci-trouble', code: error.kind, reason: error.reason ?? null }
}
