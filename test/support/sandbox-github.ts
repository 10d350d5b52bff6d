import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export const GITHUB_TOKEN = 'github_pat_of_the_sandbox'
export const GITHUB_SECRET = 'signs-what-github-sends'

/** One run of a workflow; what is not said here is as GitHub has it for a push to `main`. */
export interface SandboxRun {
  id: number
  attempt: number
  status: string
  conclusion: string | null
  failedJobs: readonly string[]
}

export interface SandboxGithub {
  apiUrl: string
  /** where deliveries go; null: nowhere, as where nobody has made a webhook */
  webhookUrl: string | null
  push(how?: { branch?: string; message?: string; author?: string; fork?: string; event?: string }): SandboxRun
  /** `completed` with a conclusion, or another status. Resolves when the delivery was answered. */
  advance(run: SandboxRun, status: string, conclusion?: string | null, failedJobs?: readonly string[]): Promise<void>
  /** The answer to one delivery. */
  deliver(event: string, body: unknown, secret?: string): Promise<{ status: number; text: string }>
  payload(run: SandboxRun): Record<string, unknown>
  /** The calls that were answered: `POST /repos/acme/web/actions/runs/1/cancel 202` */
  calls: string[]
  /** how many of the next calls are refused for their rate, and for how long (s) */
  limited: { calls: number; retryAfterS: number }
}

const REPOSITORY = {
  id: 4_001,
  full_name: 'acme/web',
  html_url: 'https://github.example/acme/web',
  default_branch: 'main',
  private: true,
}

const WORKFLOW = 77

/** GitHub Actions as far as Buildline asks it, in memory, with one repository and one workflow. */
export async function openSandboxGithub(): Promise<SandboxGithub> {
  const runs = new Map<number, SandboxRun & { details: Record<string, unknown> }>()
  let version = 0

  const server = createServer((request, response) => {
    const answer = async () => {
      const { status, body, headers = {} } = await answerTo(request)
      sandbox.calls.push(`${request.method} ${request.url} ${status}`)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body && JSON.stringify(body))
    }
    answer().catch(() => response.destroy())
  })

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    if (request.headers.authorization !== `Bearer ${GITHUB_TOKEN}`)
      return { status: 401, body: { message: 'Bad credentials' } }
    if (sandbox.limited.calls-- > 0) {
      const headers = { 'retry-after': String(sandbox.limited.retryAfterS) }
      return { status: 403, body: { message: 'API rate limit exceeded' }, headers }
    }
    await text(request)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
    const [, id = '', what = ''] = /^\/repos\/acme\/web\/actions\/runs\/(\d+)\/(.+)$/.exec(pathname) ?? []
    if (pathname === '/repos/acme/web') return { status: 200, body: REPOSITORY }
    if (/^\/repos\/acme\/web\/actions\/(?:workflows\/77\/)?runs$/.test(pathname)) return list(request, searchParams)
    const run = runs.get(Number(id))
    if (!run) return { status: 404, body: { message: 'Not Found' } }
    return request.method === 'POST' ? act(run, what) : jobsOf(run)
  }

  function list(request: IncomingMessage, query: URLSearchParams): Answer {
    const etag = `W/"${version}"`
    if (request.headers['if-none-match'] === etag) return { status: 304 }
    const branch = query.get('branch')
    const shown = [...runs.values()].map(shownOf).filter(({ head_branch: head }) => branch === null || head === branch)
    return { status: 200, headers: { etag }, body: { total_count: shown.length, workflow_runs: shown.toReversed() } }
  }

  function act(run: SandboxRun, what: string): Answer {
    const isOver = run.status === 'completed'
    if (what === 'cancel') {
      if (isOver) return { status: 409, body: { message: 'Cannot cancel a workflow run that is completed.' } }
      void sandbox.advance(run, 'completed', 'cancelled')
      return { status: 202, body: {} }
    }
    if (!isOver) return { status: 403, body: { message: 'This workflow is already running' } }
    run.attempt++
    void sandbox.advance(run, 'in_progress', null)
    return { status: 201, body: {} }
  }

  const jobsOf = ({ failedJobs }: SandboxRun): Answer => ({
    status: 200,
    body: {
      jobs: [{ name: 'build', conclusion: 'success' }, ...failedJobs.map((name) => ({ name, conclusion: 'failure' }))],
    },
  })

  // The list names less of the repository than a delivery does.
  const shownOf = (run: SandboxRun & { details: Record<string, unknown> }): Record<string, unknown> => ({
    id: run.id,
    workflow_id: WORKFLOW,
    name: 'CI',
    path: '.github/workflows/ci.yml',
    run_number: run.id - 9_000_000_000,
    run_attempt: run.attempt,
    status: run.status,
    conclusion: run.conclusion,
    html_url: `${REPOSITORY.html_url}/actions/runs/${run.id}`,
    repository: { id: REPOSITORY.id, full_name: REPOSITORY.full_name, html_url: REPOSITORY.html_url },
    ...run.details,
  })

  const sandbox: SandboxGithub = {
    apiUrl: '',
    webhookUrl: null,
    calls: [],
    limited: { calls: 0, retryAfterS: 0 },
    push({ branch = 'main', message = 'Fix login', author = 'Ada', fork, event = 'push' } = {}) {
      // GitHub's ids are beyond 32 bits.
      const id = 9_000_000_001 + runs.size
      const details = {
        event,
        head_branch: branch,
        head_sha: id.toString(16).padStart(40, 'a'),
        head_commit: { message, author: { name: author, email: 'ada@example.com' } },
        head_repository: fork ? { id: 5_001, owner: { login: fork } } : { id: REPOSITORY.id, owner: { login: 'acme' } },
        actor: { login: 'somebody-else' },
        run_started_at: new Date().toISOString(),
      }
      const run = { id, attempt: 1, status: 'queued', conclusion: null, failedJobs: [], details }
      runs.set(id, run)
      version++
      return run
    },
    async advance(run, status, conclusion = null, failedJobs = []) {
      Object.assign(run, { status, conclusion, failedJobs })
      Object.assign(runs.get(run.id)!.details, { updated_at: new Date().toISOString() })
      version++
      if (sandbox.webhookUrl !== null) await sandbox.deliver('workflow_run', sandbox.payload(run))
    },
    payload: (run) => ({
      action: run.status === 'completed' ? 'completed' : 'in_progress',
      workflow_run: shownOf(runs.get(run.id)!),
      repository: REPOSITORY,
      sender: { login: 'somebody-else' },
    }),
    async deliver(event, body, secret = GITHUB_SECRET) {
      const bytes = JSON.stringify(body)
      const response = await fetch(sandbox.webhookUrl!, {
        method: 'POST',
        body: bytes,
        headers: {
          'content-type': 'application/json',
          'x-github-event': event,
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`,
        },
      })
      return { status: response.status, text: await response.text() }
    },
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  sandbox.apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return sandbox
}

interface Answer {
  status: number
  body?: unknown
  headers?: Record<string, string>
}
