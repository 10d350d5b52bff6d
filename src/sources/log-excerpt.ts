import { maskSecrets } from '../lib/secret-shapes.ts'

// The lines of a failed job's log that say why it failed.

/** The most lines of an excerpt. */
export const EXCERPT_LINES_MAX = 15
const LINE_CHARS_MAX = 300

/** Colours and other commands to a terminal. */
const ESCAPES = new RegExp(
  String.raw`\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-_]`,
  'g',
)

/** Of a line that was written over itself, such as a progress bar, what was last to be seen. */
const lastSeen = (line: string): string => line.split('\r').findLast((part) => part.trim() !== '') ?? ''

/** Secrets are looked for before anything is cut: of a key in several lines, a few lines do not look like one. */
function cleaned(text: string): string[] {
  const lines = text.split('\n').map((line) => lastSeen(line.replace(ESCAPES, '')))
  const safe = maskSecrets(lines.join('\n')).split('\n')
  return safe.map((line) => line.slice(0, LINE_CHARS_MAX).trimEnd())
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
  return shown(lines.slice(from, isExit(exit) ? exit : exit + 1).map((line) => line.replace(/^##\[\w+\]/, '')))
}

/** Marks of GitLab's runner around the sections of a trace. */
const GITLAB_SECTION = /section_(?:start|end):\d+:[^\r\n]*\r?/g

/** The last lines before the runner says that the job failed. Source: traces of GitLab's runner. */
export function gitlabExcerpt(trace: string): string[] {
  const lines = cleaned(trace.replace(GITLAB_SECTION, '')).filter((line) => line.trim() !== '')
  const end = lines.findLastIndex((line) => line.startsWith('ERROR: Job failed'))
  const upTo = end === -1 ? lines.length : end
  const cleanup = lines.slice(0, upTo).findLastIndex((line) => line.startsWith('Cleaning up project directory'))
  return shown(lines.slice(0, cleanup === -1 ? upTo : cleanup).slice(-EXCERPT_LINES_MAX))
}

const shown = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.trim() !== '').slice(0, EXCERPT_LINES_MAX)
