import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from '../../lib/http.ts'
import { closeServer, openServer } from '../../lib/server.ts'
import type { Attempt, Job, Run, World } from './world.ts'
import { zipOf } from './zip.ts'

/** GitHub's links to logs work this long. */
const LINK_MS = 60_000

export type Logs = ReturnType<typeof createLogs>

/**
 * The logs of jobs and runs. As on GitHub, the REST interface redirects to signed links of another origin, which need no
 * token and accept none. Source: GitHub REST API, "Download job logs for a workflow run".
 */
export function createLogs(world: World) {
  const key = randomBytes(32)
  const deleted = new WeakSet<Attempt>()
  const files = new Map<string, () => { type: string; body: string | Buffer }>()
  const server = createServer(answer)
  let origin = ''

  function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'http://logs')
    const expires = searchParams.get('urlExpires') ?? ''
    const isSigned = searchParams.get('urlSignature') === signatureOf(pathname, expires)
    const file = files.get(pathname)
    if (headers.authorization !== undefined || !isSigned || !file || Date.parse(expires) < world.clock.now())
      return void response.writeHead(403).end('Server failed to authenticate the request.')
    const { type, body } = file()
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
  }

  const signatureOf = (path: string, expires: string): string =>
    createHmac('sha256', key).update(`${path} ${expires}`).digest('base64url')

  function linkTo(path: string, file: () => { type: string; body: string | Buffer }): Reply {
    files.set(path, file)
    const urlExpires = new Date(world.clock.now() + LINK_MS).toISOString()
    const query = new URLSearchParams({ urlExpires, urlSignature: signatureOf(path, urlExpires) })
    return {
      statusCode: 302,
      headers: { 'content-type': 'text/html;charset=utf-8', location: `${origin}${path}?${query}` },
    }
  }

  /** Null while the job runs, or if it has none. */
  function ofJob(run: Run, attempt: Attempt, job: Job): Reply | null {
    if (!hasLog(job) || deleted.has(attempt)) return null
    return linkTo(`/jobs/${job.id}`, () => ({ type: 'text/plain; charset=utf-8', body: logOf(run, job) }))
  }

  /** A zip archive with a file for each job. */
  function ofAttempt(run: Run, attempt: Attempt): Reply | null {
    const jobs = attempt.jobs.filter(hasLog)
    if (attempt.status !== 'completed' || jobs.length === 0 || deleted.has(attempt)) return null
    const body = () => zipOf(jobs.map((job, at) => ({ name: `${at}_${job.name}.txt`, text: logOf(run, job) })))
    return linkTo(`/runs/${run.id}/${attempt.n}`, () => ({ type: 'application/zip', body: body() }))
  }

  return {
    ofJob,
    ofAttempt,
    remove: (run: Run): void => run.attempts.forEach((attempt) => deleted.add(attempt)),
    start: async (host: string): Promise<void> => void (origin = await openServer(server, 0, host)),
    stop: (): Promise<void> => closeServer(server),
  }
}

const hasLog = ({ conclusion }: Job): boolean => conclusion !== null && conclusion !== 'skipped'

/** Each line with its time, which GitHub writes with seven digits of a second. */
function logOf(run: Run, job: Job): string {
  const at = `${new Date(job.completedAt ?? job.startedAt).toISOString().slice(0, -1)}0000Z`
  const text = run.logs[job.name] ?? usualLog(job)
  return text
    .split('\n')
    .map((line) => `${at} ${line}\n`)
    .join('')
}

const usualLog = ({ name, conclusion }: Job): string =>
  [
    `##[group]Run npm run ${name}`,
    `npm run ${name}`,
    'shell: /usr/bin/bash -e {0}',
    '##[endgroup]',
    ...(conclusion === 'success' ? ['done'] : ['##[error]Process completed with exit code 1.']),
  ].join('\n')
