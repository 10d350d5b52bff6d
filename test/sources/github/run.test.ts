import { createHmac } from 'node:crypto'
import Examples from '@octokit/webhooks-examples' with { type: 'json' }
import { describe, expect, it } from 'vitest'
import { createGithubEndpoint } from '../../../src/sources/github/endpoint.ts'
import { readRun } from '../../../src/sources/github/run.ts'

interface Example {
  name: string
  examples: readonly { workflow_run?: unknown; repository?: unknown; workflow?: unknown }[]
}

const examples = (name: string) =>
  (Examples as unknown as readonly Example[]).find((example) => example.name === name)!.examples

const REPOSITORY = { id: 1, full_name: 'acme/web', html_url: 'https://github.example/acme/web', default_branch: 'main' }

const RUN = {
  id: 9_000_000_001,
  workflow_id: 77,
  // The name of this one run, from the workflow's `run-name`.
  name: 'Deploy by Ada',
  path: '.github/workflows/ci.yml',
  event: 'push',
  status: 'completed',
  conclusion: 'failure',
  head_branch: 'main',
  head_sha: 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334',
  head_commit: { message: 'Fix login\n\nfor good', author: { name: 'Ada', email: 'ada@example.com' } },
  head_repository: { id: 1, owner: { login: 'acme' } },
  html_url: 'https://github.example/acme/web/actions/runs/9000000001',
  run_number: 512,
  run_attempt: 2,
  run_started_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:11:05Z',
}

const WORKFLOW = { name: 'CI' }

const seen = (changes: object = {}) => readRun({ ...RUN, ...changes }, REPOSITORY, WORKFLOW)?.event ?? null

describe('a run', () => {
  it('is read as a build', () => {
    expect(seen()).toEqual({
      projectId: 'github:1:77',
      buildId: '9000000001',
      branch: 'main',
      commitId: RUN.head_sha,
      rawStatus: 'error',
      details: {
        projectName: 'acme/web CI',
        projectFullName: 'acme/web',
        buildUrl: `${RUN.html_url}/attempts/2`,
        commitUrl: `https://github.example/acme/web/commit/${RUN.head_sha}`,
        shortCommitId: 'a1b2c3d',
        message: 'Fix login',
        committer: 'Ada',
        projectUuid: null,
        buildUuid: null,
        startedAt: Date.parse(RUN.run_started_at),
        finishedAt: Date.parse(RUN.updated_at),
        number: '512',
        attempt: 2,
        durationMs: null,
        lastEndAt: null,
        failedJobs: null,
        author: { email: 'ada@example.com', login: null },
        requestUrl: null,
        end: null,
        startedBy: null,
        requestedBy: null,
        gates: null,
      },
    })
  })

  it.each([
    ['requested', null, 'queued'],
    ['pending', null, 'queued'],
    ['in_progress', null, 'initiated'],
    ['waiting', null, 'waiting'],
    ['completed', 'success', 'success'],
    ['completed', 'timed_out', 'error'],
    ['completed', 'cancelled', 'stopped'],
    ['completed', 'startup_failure', 'infrastructure_failure'],
    ['completed', 'neutral', 'skipped'],
    ['completed', 'stale', 'skipped'],
    ['completed', 'action_required', 'action_required'],
    ['completed', 'something_new', 'something_new'],
    ['completed', null, 'completed'],
    ['something_new', null, 'something_new'],
  ])('that is %s and %s has the status %s', (status, conclusion, word) => {
    expect(seen({ status, conclusion })).toMatchObject({ rawStatus: word })
  })

  it('that waits for approval has not ended', () => {
    expect(seen({ conclusion: 'action_required' })?.details.finishedAt).toBeNull()
  })

  it('from a fork is on the branch of the fork', () => {
    expect(seen({ head_repository: { id: 2, owner: { login: 'mallory' } } })?.branch).toBe('mallory:main')
    expect(seen({ head_repository: { id: 2, owner: null } })?.branch).toBe('fork:main')
    expect(seen({ head_repository: null, event: 'pull_request' })?.branch).toBe('fork:main · pull request')
    expect(seen({ head_repository: null })?.branch).toBe('main')
  })

  it('for a pull request from the default branch is not on that branch, since it tests the merge', () => {
    expect(seen({ event: 'pull_request' })?.branch).toBe('acme:main · pull request')
    expect(seen({ event: 'pull_request', head_branch: 'feature' })?.branch).toBe('feature · pull request')
  })

  const QUEUED = 'gh-readonly-queue/main/pr-87-a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'

  it.each<[event: string, changes: object, stream: string, sharesCard: boolean, committer: string | null]>([
    ['push', {}, 'main', true, 'Ada'],
    ['pull_request', { pull_requests: [{ number: 87 }] }, 'acme:main · #87', false, null],
    ['pull_request', { pull_requests: [{ number: 87 }, { number: 88 }] }, 'acme:main · pull request', false, null],
    ['merge_group', { head_branch: QUEUED }, `${QUEUED} · #87 · merge queue`, false, null],
    ['push', { head_branch: QUEUED }, `${QUEUED} · #87 · merge queue`, false, null],
    ['schedule', {}, 'main · nightly', false, null],
    ['workflow_dispatch', { actor: { login: 'grace-h' } }, 'main · by hand', false, 'grace-h'],
    ['workflow_run', {}, 'main · workflow run', false, null],
    ['issue_comment', {}, 'main · issue comment', false, null],
    ['dynamic', {}, 'main · dynamic', false, null],
    ['a_trigger_of_tomorrow', {}, 'main · a trigger of tomorrow', false, null],
  ])('that %s started, with %o, belongs to the stream %s', (event, changes, stream, sharesCard, committer) => {
    const build = seen({ event, ...changes })!
    expect(build).toMatchObject({ branch: stream, details: { committer } })
    expect(build.commitId !== null).toBe(sharesCard)
    if (committer === null) expect(build.details.author).toBeNull()
  })

  it('of a pull request has its title and its address', () => {
    const pulled = { event: 'pull_request', pull_requests: [{ number: 87 }], display_title: 'Log in without e-mail' }
    expect(seen(pulled)?.details).toMatchObject({
      message: 'Log in without e-mail',
      requestUrl: 'https://github.example/acme/web/pull/87',
    })
  })

  it.each([
    ['CI', null, 'CI'],
    [null, '.github/workflows/ci.yml', 'ci.yml'],
    [null, '.github/workflows/ci.yml@refs/heads/main', 'ci.yml'],
    // GitHub calls a workflow without a name by its path.
    ['.github/workflows/ci.yml', '.github/workflows/ci.yml', 'ci.yml'],
    ['', null, 'workflow'],
    ['deploy @ night', null, 'deploy @ night'],
  ])('of the workflow %s at %s belongs to the project of %s', (name, path, called) => {
    const { event, project } = readRun({ ...RUN, path }, REPOSITORY, { name })!
    expect(event.details.projectName).toBe(`acme/web ${called}`)
    expect(project.name).toBe(`acme/web ${called}`)
  })

  it.each(['schedule', 'workflow_dispatch', 'workflow_run', 'dynamic', 'pull_request'])(
    'that began with %s belongs to no commit',
    (event) => {
      expect(seen({ event })).toMatchObject({ commitId: null, details: { shortCommitId: 'a1b2c3d' } })
    },
  )

  it('that lacks everything but its ids is not refused', () => {
    const bare = readRun({ id: '18446744073709551615', workflow_id: 77 }, { id: 1, full_name: 'acme/web' }, null)
    expect(bare?.event).toMatchObject({
      buildId: '18446744073709551615',
      branch: null,
      commitId: null,
      rawStatus: 'unknown',
    })
    const nulls = Object.fromEntries(Object.keys(RUN).map((name) => [name, null]))
    expect(readRun({ ...nulls, id: 1, workflow_id: 2 }, REPOSITORY, null)?.event.details.attempt).toBe(1)
  })

  it.each([
    ['no run id', { id: undefined }],
    ['a negative id', { id: -1 }],
    ['a fraction', { id: 1.5 }],
    ['no workflow', { workflow_id: null }],
    ['text for an id', { id: '1; drop table' }],
  ])('with %s is not read', (_, changes) => {
    expect(seen(changes)).toBeNull()
  })
})

describe('the author of a commit', () => {
  const authorOf = (author: object) => seen({ head_commit: { author: { name: 'Ada', ...author } } })?.details.author

  it.each<[claim: string, author: object, email: string | null, login: string | null]>([
    ['has an e-mail address', { email: 'Ada@Example.com' }, 'ada@example.com', null],
    ['has an account', { email: 'ada@example.com', username: 'Octocat' }, 'ada@example.com', 'octocat'],
    ['keeps the e-mail address private', { email: '1234+octocat@users.noreply.github.com' }, null, 'octocat'],
    ['has kept it private since before 2017', { email: 'octo-cat@users.noreply.github.com' }, null, 'octo-cat'],
    ['is managed by an enterprise', { email: '1234+mona_acme@users.noreply.github.com' }, null, 'mona_acme'],
  ])('%s', (_, author, email, login) => {
    expect(authorOf(author)).toEqual({ email, login })
  })

  it.each([
    { email: '49699333+dependabot[bot]@users.noreply.github.com' },
    { email: 'noreply@github.com' },
    { email: 'no address' },
    { email: 7 },
    {},
  ])('cannot be found in %j', (author) => {
    expect(authorOf(author)).toBeNull()
  })
})

describe('an example from the GitHub documentation', () => {
  it('is read as a run', () => {
    const read = examples('workflow_run').map(
      ({ workflow_run: run, repository, workflow }) => readRun(run, repository, workflow)!.event,
    )
    expect(read.map(({ rawStatus, details }) => `${details.projectName} ${rawStatus} ${details.attempt}`))
      .toMatchInlineSnapshot(`
      [
        "Codertocat/Hello-World Manually triggered workflow queued 1",
        "octo-org/octo-repo test success 1",
        "octo-org/octo-repo test success 1",
        "octo-org/octo-repo test queued 1",
        "octo-org/octo-repo test action_required 1",
      ]
    `)
  })
})

describe('the endpoint', () => {
  const SECRET = "It's a Secret to Everybody"
  const signed = (body: string, secret: string) => ({
    'x-github-event': 'workflow_run',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  })
  const endpoint = createGithubEndpoint(['another-secret-of-ours', SECRET])
  const read = (body: string, headers: Record<string, string>) => endpoint.read(Buffer.from(body), headers)

  it('accepts the example of a signature from GitHub', () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
    const headers = { 'x-github-event': 'ping', 'x-hub-signature-256': signature }
    expect(read('Hello, World!', headers)).toEqual({ kind: 'unwanted' })
    expect(read('Hello, World?', headers)).toEqual({ kind: 'unauthorized' })
  })

  it.each(['[]', 'null', '{}', 'no JSON', `${'['.repeat(100)}${']'.repeat(100)}`])('refuses %s', (body) => {
    expect(read(body, signed(body, SECRET))).toMatchObject({ kind: 'refusal' })
  })

  it('reads nothing that is signed with another secret, or not signed at all', () => {
    const body = JSON.stringify({ workflow_run: RUN, repository: REPOSITORY, workflow: WORKFLOW })
    expect(read(body, signed(body, SECRET))).toMatchObject({
      kind: 'delivery',
      event: { buildId: '9000000001', details: { projectName: 'acme/web CI' } },
    })
    expect(read(body, signed(body, 'a-secret-of-nobody-here'))).toEqual({ kind: 'unauthorized' })
    expect(read(body, { 'x-github-event': 'workflow_run' })).toEqual({ kind: 'unauthorized' })
  })
})
