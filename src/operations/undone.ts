/**
 * An ask that failed before anything was asked of CI: nothing was done, and it may be asked again. Its `cause` is what
 * failed, for the log.
 */
export class Undone extends Error {
  readonly code = 'undone'

  constructor(why: string, cause?: unknown) {
    super(`nothing was asked of CI: ${why}`, { cause })
  }
}
