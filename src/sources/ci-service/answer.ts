import { CiError } from './errors.ts'
import type { CiResponse } from './exchange.ts'
import { parseJson } from '../../lib/json.ts'

/** What `read` makes of the answer's JSON; a CiError `shape` when it is no JSON, or `read` finds nothing that it knows. */
export function readAnswer<T>({ text, status }: CiResponse, purpose: string, read: (json: unknown) => T | null): T {
  const value = read(parsed(text, { status, purpose }))
  if (value === null) throw new CiError({ kind: 'shape', purpose, status })
  return value
}

/** The answer's JSON, or null when it is none: for answers of which the status has said what matters. */
export function findJson({ text }: CiResponse): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

function parsed(text: string, { status, purpose }: { status: number; purpose: string }): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CiError({ kind: 'shape', purpose, status, cause })
  }
}
