import { stripVTControlCharacters } from 'node:util'
import type { Failure } from '../domain/builds/failure.ts'
import { CiError } from './http/errors.ts'
import type { Rate } from './http/exchange.ts'
import type { SourceReport } from './source.ts'
import { cleanText, REPORT_TEXT_CHARS_MAX } from './values.ts'
import { maskSecrets } from '../lib/secret-shapes.ts'

/** The most failures that are kept of one job. */
export const FAILURES_MAX = 50
const LINES_MAX = 3

/** Its source was asked, and named no failure. */
export const NOTHING_SAID: SourceReport = {
  part: null,
  tests: null,
  failed: 0,
  failures: [],
  flakyTests: [],
  log: [],
}

/**
 * The report of one failed job; none if it says no more than that the job failed. A job whose steps named no failure failed
 * with the line of its log that speaks of an error, or with the last one.
 */
export function jobReport(
  job: Failure,
  log: readonly string[] = [],
  failures: readonly Failure[] = [],
): SourceReport[] {
  const message = job.message ?? shortText(log.find((line) => /error/i.test(line)) ?? log.at(-1) ?? null)
  if (failures.length === 0 && message === null) return []
  const named = failures.length > 0 ? failures : [{ ...job, message }]
  return [{ ...NOTHING_SAID, part: job.job, failed: named.length, failures: named.slice(0, FAILURES_MAX), log }]
}

/** At most three lines, in one. */
export const shortText = (text: string | null): string | null => {
  const lines = (text ?? '').split(/\r\n?|\n/).filter(isNotBlank)
  return cleanText(lines.slice(0, LINES_MAX).join(' ').slice(0, REPORT_TEXT_CHARS_MAX))
}

/**
 * What failed is read only while a tenth of the token's calls is left: others need them more. Throws a CiError of a rate
 * limit, so that it is tried again later.
 */
export function spareCalls(rate: Rate | null): void {
  if (rate !== null && rate.left < rate.limit / 10)
    throw new CiError({ kind: 'rate-limited', purpose: 'read what failed' })
}

// The lines of a failed job's log that say why it failed.

/** The most lines of an excerpt. */
export const EXCERPT_LINES_MAX = 15

/** Of a line that was written over itself, such as a progress bar, what was last to be seen. */
const lastSeen = (line: string): string => line.split('\r').findLast((part) => part.trim() !== '') ?? ''

/** Secrets are hidden before anything is cut: a few lines from the middle of a private key would not be recognized. */
function cleaned(text: string): string[] {
  const lines = text.split('\n').map((line) => lastSeen(stripVTControlCharacters(line)))
  const safe = maskSecrets(lines.join('\n')).split('\n')
  return safe.map((line) => line.slice(0, REPORT_TEXT_CHARS_MAX).trimEnd())
}

/** GitHub writes the time before each line. */
const GITHUB_TIME = /^\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z ?/

const GITHUB_ERROR = '##[error]'

/** Source: GitHub's runner, after each step whose script failed. */
export const EXIT_CODE = /^(?:Error: )?Process completed with exit code \d+\.?$/

/**
 * The failed step's lines from its first error, or, if it has written none, the last lines before its script ended.
 * Source: logs of GitHub's runner.
 */
export function githubExcerpt(log: string): string[] {
  const lines = cleaned(log).map((line) => line.replace(GITHUB_TIME, ''))
  const errors = lines.flatMap((line, at) => (line.startsWith(GITHUB_ERROR) ? [at] : []))
  const isExit = (at: number) => EXIT_CODE.test(lines[at]!.slice(GITHUB_ERROR.length))
  const exit = errors.find(isExit) ?? errors.at(-1)
  if (exit === undefined) return []
  const begin = lines.slice(0, exit).findLastIndex((line) => line.startsWith('##[endgroup]')) + 1
  const first = errors.find((at) => at >= begin && !isExit(at))
  const from = first ?? Math.max(begin, exit - EXCERPT_LINES_MAX)
  const said = lines.slice(from, isExit(exit) ? exit : exit + 1).map((line) => line.replace(/^##\[\w+\]/, ''))
  return said.filter(isNotBlank).slice(0, EXCERPT_LINES_MAX)
}

/** Marks of GitLab's runner around the sections of a trace. */
const GITLAB_SECTION = /section_(?:start|end):\d+:[^\r\n]*\r?/g

/** The last lines before the runner says that the job failed. Source: traces of GitLab's runner. */
export function gitlabExcerpt(trace: string): string[] {
  const lines = cleaned(trace.replace(GITLAB_SECTION, '')).filter(isNotBlank)
  const end = lines.findLastIndex((line) => line.startsWith('ERROR: Job failed'))
  const upTo = end === -1 ? lines.length : end
  const cleanup = lines.slice(0, upTo).findLastIndex((line) => line.startsWith('Cleaning up project directory'))
  return lines.slice(0, cleanup === -1 ? upTo : cleanup).slice(-EXCERPT_LINES_MAX)
}

const isNotBlank = (line: string): boolean => line.trim() !== ''
