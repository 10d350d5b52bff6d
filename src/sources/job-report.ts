import type { Failure } from '../domain/builds/failure.ts'
import { CiError } from './http/errors.ts'
import type { Rate } from './http/exchange.ts'
import type { SourceReport } from './source.ts'
import { cleanText } from './values.ts'

/** The most failures that are kept of one job. */
const FAILURES_MAX = 50
const TEXT_CHARS_MAX = 300
const LINES_MAX = 3

/** Its source was asked, and named no failure. */
export const NOTHING_SAID: SourceReport = {
  part: null,
  tests: null,
  failed: 0,
  skipped: 0,
  flaky: 0,
  durationMs: null,
  failures: [],
  flakyTests: [],
  log: [],
}

/**
 * A report of one failed job; null if it says no more than that the job failed. A job whose steps named no failure failed
 * with the line of its log that speaks of an error, or with the last one.
 */
export function jobReport(
  job: Failure,
  failures: readonly Failure[],
  log: readonly string[] = [],
): SourceReport | null {
  const message = job.message ?? shortText(log.find((line) => /error/i.test(line)) ?? log.at(-1) ?? null)
  if (failures.length === 0 && message === null) return null
  const named = failures.length > 0 ? failures : [{ ...job, message }]
  return { ...NOTHING_SAID, part: job.job, failed: named.length, failures: named.slice(0, FAILURES_MAX), log }
}

/** A report of a job's tests, as the source counts them. */
export const testReport = (
  job: string | null,
  counts: Pick<SourceReport, 'failed' | 'skipped'> & { tests: number },
  failures: readonly Failure[],
): SourceReport => ({ ...NOTHING_SAID, part: job, ...counts, failures: failures.slice(0, FAILURES_MAX) })

/** At most three lines, in one. */
export const shortText = (text: string | null): string | null => {
  const lines = (text ?? '').split(/\r\n?|\n/).filter((line) => line.trim() !== '')
  return cleanText(lines.slice(0, LINES_MAX).join(' ').slice(0, TEXT_CHARS_MAX))
}

/**
 * What failed is read only while a tenth of the token's calls is left: others need them more. Throws a CiError of a rate
 * limit, so that it is tried again later.
 */
export function spareCalls(rate: Rate | null): void {
  if (rate !== null && rate.left < rate.limit / 10)
    throw new CiError({ kind: 'rate-limited', purpose: 'read what failed' })
}

/** Null for what the source does not show: without the right to it, or when it is gone. Any other error is thrown. */
export async function unlessUnreadable<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof CiError && UNREADABLE.has(error.kind)) return null
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['not-found', 'forbidden', 'bad-request', 'shape', 'too-large'])
