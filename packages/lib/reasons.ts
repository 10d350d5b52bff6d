import type { z } from 'zod'

/** One message for each invalid field of `body`, such as `team_ids is required`. No message quotes a value. */
export const faultReasons = (error: z.ZodError, body: unknown): string[] =>
  error.issues.map(({ path, message }) => {
    const field = path.length === 0 ? 'the body' : path.map(String).join('.')
    if (valueAt(body, path) === undefined) return `${field} is required`
    return `${field}: ${message.replace(/^Invalid (input|option): /, '')}`
  })

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return value
}
