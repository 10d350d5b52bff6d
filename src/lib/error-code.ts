/** The `code` of an error from the system or a library, such as `ENOENT`; null if it has none. */
export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
