import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { commitTitle } from '../domain/builds/build-event.ts'
import { listOf } from '../lib/raw-values.ts'
import { NO_FAILURE, type FailureReport } from '../domain/builds/failure.ts'
import { isRecord } from '../lib/json.ts'
import { gitlabProjectId, repositoryProjectId, type ProjectId, type SourceName } from '../domain/ids.ts'
import { createSecretCheck, readJsonBody, refusal, type BodyReading, type Endpoint } from './endpoint.ts'
import { basicPassword, secretPath, type IsSecret } from './secret-path.ts'
import { buildId, ciBuildId, cleanText, countOrNull, projectId, REPORT_TEXT_CHARS_MAX } from './values.ts'

/** The largest report that is read. */
const REPORT_BYTES_MAX = 64 * 1024

/** Failed tests, and flaky tests, kept of one report. */
const REPORTED_TESTS_MAX = 200

/** The last lines of a log that are kept. */
const LOG_LINES_MAX = 20

/** Where the CI service's build steps send test reports, with the secret of its deliveries. */
export const createReportEndpoint = (isSecret: IsSecret): Endpoint => ({
  what: 'report',
  ...secretPath('reports', isSecret),
  bodyBytesMax: REPORT_BYTES_MAX,
  read: (body) => readReport('ci', body),
})

/**
 * Where jobs of GitHub or GitLab send test reports, with the report secret of their repository or project as HTTP Basic
 * password. A report about another one is refused.
 */
export function createJobReportEndpoint(source: 'github' | 'gitlab', webhookSecrets: readonly string[]): Endpoint {
  function provenProject({ authorization }: IncomingHttpHeaders): string | null {
    const presented = basicPassword(authorization)
    const named = presented?.split('.')[0] ?? ''
    return createSecretCheck(webhookSecrets.map((secret) => reportSecret(secret, named)))(presented) ? named : null
  }
  return {
    what: 'report',
    matches: (pathname) => pathname === `/webhooks/${source}/reports`,
    bodyBytesMax: REPORT_BYTES_MAX,
    unauthorizedStatus: 401,
    senderOf: ({ headers }) => (provenProject(headers) === null ? 'stranger' : 'proven'),
    read(body, headers) {
      const reading = readReport(source, body)
      const isOther = reading.kind === 'report' && reading.projectId !== provenProject(headers)
      return isOther
        ? refusal('the report secret belongs to another repository or project than build.project_id')
        : reading
    },
  }
}

/**
 * The secret with which jobs of one repository or project report tests: `github:12.<HMAC>`. No delivery can be
 * made with it: it is neither the webhook's secret nor the signature of a delivery.
 * @param project `github:<repository>` or `gitlab:<project>`
 */
export const reportSecret = (webhookSecret: string, project: string): string =>
  `${project}.${createHmac('sha256', webhookSecret).update(`buildline report ${project}`).digest('hex')}`

/**
 * Reads a report: `{"build":{…},"report":{…}}` with usable `build.project_id` and `build.build_id`. Any other field that is
 * not understood counts as missing. A step at GitHub knows the id of its repository, but not that of its workflow.
 */
function readReport(source: SourceName, body: Uint8Array): BodyReading {
  const read = readJsonBody(body)
  if (read.kind === 'refusal') return read
  const { build, report } = isRecord(read.value) ? read.value : {}
  if (!isRecord(build)) return refusal('the body has no object "build"')
  if (!isRecord(report)) return refusal('the body has no object "report"')
  const project = projectId.safeParse(build['project_id'])
  if (!project.success) return refusal('build.project_id is not an integer id')
  const id = (source === 'ci' ? ciBuildId : buildId).safeParse(build['build_id'])
  if (!id.success)
    return refusal(`build.build_id is ${source === 'ci' ? 'neither an integer id nor a UUID' : 'not an integer id'}`)
  // Only GitHub's steps know which attempt they are in.
  const attempt = source === 'github' ? countOrNull.parse(build['attempt']) : null
  return {
    kind: 'report',
    projectId: PROJECTS[source](project.data),
    buildId: id.data,
    report: { attempt, ...toReport(report, textOf(build['job'])) },
  }
}

const PROJECTS = { ci: (id: ProjectId) => id, github: repositoryProjectId, gitlab: gitlabProjectId } as const

function toReport(value: Record<string, unknown>, job: string | null): Omit<FailureReport, 'attempt'> {
  const [failures, flakyTests, log] = [listOf(value['failures']), listOf(value['flaky_tests']), listOf(value['log'])]
  const failed = Math.max(countOrNull.parse(value['failed']) ?? 0, failures.length)
  return {
    by: 'step',
    part: [job, textOf(value['shard'])].filter((part) => part !== null).join(' ') || null,
    tests: Math.max(countOrNull.parse(value['tests']) ?? 0, failed),
    failed,
    failures: failures.slice(0, REPORTED_TESTS_MAX).flatMap((one) => failureOf(one, job)),
    flakyTests: flakyTests.slice(0, REPORTED_TESTS_MAX).flatMap((name) => textOf(name) ?? []),
    log: log.slice(-LOG_LINES_MAX).map((line) => textOf(line) ?? ''),
  }
}

// Not a schema: for some hundred texts that leaves 70 KB in the old part of the heap, and collecting it delays deliveries.
const textOf = (value: unknown): string | null =>
  typeof value === 'string' || Number.isFinite(value) ? cleanText(String(value).slice(0, REPORT_TEXT_CHARS_MAX)) : null

function failureOf(value: unknown, job: string | null): FailureReport['failures'] {
  const { name, message } = isRecord(value) ? value : { name: value }
  const known = textOf(name)
  const first = typeof message === 'string' ? commitTitle(message) : null
  return known === null ? [] : [{ ...NO_FAILURE, job, test: known, message: textOf(first) }]
}
