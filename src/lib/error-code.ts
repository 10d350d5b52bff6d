/** The `code` of an error from the system or a library, such as `ENOENT`; null if it has none. */
export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

const CAUSES_MAX = 8

/** An error, its cause, the cause of that, and so on. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < CAUSES_MAX; cause = cause.cause) causes.push(cause)
  return causes
}
