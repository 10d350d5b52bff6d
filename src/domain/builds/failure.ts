/**
 * One thing that failed in an attempt of a build. All texts are from outside: they are masked before they are stored, and
 * escaped where they are shown.
 */
export interface Failure {
  job: string | null
  step: string | null
  test: string | null
  /** a file's path in the repository */
  path: string | null
  /** from 1 */
  line: number | null
  /** the address (http or https) of that line in the build's commit; null: unknown */
  url: string | null
  /** one to three lines */
  message: string | null
}

/** What one build step, one shard of its tests, or one failed job says of what failed. */
export interface FailureReport {
  /** which shard, such as `2/4`, or which job; null: the report has all of the build */
  part: string | null
  /** how many tests ran; null: the report does not count tests */
  tests: number | null
  /** how many failed; `failures` may hold fewer */
  failed: number
  skipped: number
  flaky: number
  durationMs: number | null
  failures: readonly Failure[]
  flakyTests: readonly string[]
  /** the lines of the log that matter, at most 15; without time stamps, colours and secrets */
  log: readonly string[]
}
