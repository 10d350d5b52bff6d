import type { CommonHandles } from '../../../sandbox-ci/src/control.ts'
import type { Push } from '../../../sandbox-ci/src/builds.ts'
import type * as ci from '../../../sandbox-ci/src/handles.ts'
import type { SendAttempt } from '../../../sandbox-ci/src/sender.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { Outcome } from '../../../sandbox-ci/src/state.ts'
import type { ChangeOutcome, RunSnapshot } from '../../../sandbox-github/src/handles.ts'
import type { Delivery } from '../../../sandbox-github/src/hooks.ts'
import type { Push as GithubPush } from '../../../sandbox-github/src/runs.ts'
import type { SandboxGithub } from '../../../sandbox-github/src/server.ts'
import type { PanelButton, PanelService } from '../../../sandbox-slack/src/panel-state.ts'
import {
  askedIn,
  stormBy,
  timeOf,
  POLLED_STORY,
  polledPanel,
  polledService,
  type Sent,
  type Service,
  type Story,
} from './service.ts'

/** GitHub Actions: a run of a workflow is a build, known by the id of the run. */
export function githubService(github: SandboxGithub): Service {
  const numbers = numbersByGuid()
  const sent = () => sentBy(github, numbers)
  const guidOf = (n: number) => sent().find((one) => one.n === n)?.guid

  function push(project: string, { branch, message, committer, outcome, ms, needsApproval }: Push): ci.PushOutcome {
    const [repository = '', workflow] = project.split(' ')
    const pushed = github.push(repository, {
      workflow,
      branch,
      message,
      ms,
      ...(committer === undefined ? {} : { author: { name: committer } }),
      outcome: outcome && CONCLUSIONS[outcome],
      annotations: SAID,
      // Only a stranger's run waits for that.
      ...(needsApproval ? { needsApproval, fork: STRANGER } : {}),
    })
    return pushed.kind === 'run' ? { kind: 'build', build: buildOf(pushed.run) } : { kind: 'no-project' }
  }

  const handles: CommonHandles = {
    push,
    storm: (project, wanted) => stormBy(push, project, wanted),
    finish: (run, status) => changeOf(github.finish(Number(run), CONCLUSIONS[status])),
    approve: (run) => changeOf(github.approve(Number(run))),
    stopBuild: (run) => changeOf(github.cancel(Number(run))),
    restart: (run, outcome) => changeOf(github.rerun(Number(run), outcome && { outcome: CONCLUSIONS[outcome] })),
    deliveries: sent,
    resend: (n) => github.redeliver(guidOf(n) ?? ''),
    resendInOrder(order) {
      const known = order.filter((n) => guidOf(n))
      github.resendInOrder(known.flatMap((n) => guidOf(n) ?? []))
      return known
    },
  }

  return {
    ...polledService(handles),
    settle: () => github.settle(),
    start: (port) => github.start(port),
    stop: () => github.stop(),
    get url() {
      return github.url
    },
    state: () => ({ builds: github.state().runs.map(buildOf) }),
    projects: () =>
      github.state().repositories.flatMap(({ name, workflows }) =>
        workflows.map((workflow) => ({
          id: String(workflow.id),
          name: `${name} ${workflow.name}`,
          type: null,
          rules: [],
        })),
      ),
    sent,
    asked: () => askedIn(github.calls(), ASKED),
    settings: () => settingsFor(github),
    deliverTo: (botUrl) => github.setWebhookUrl(`${botUrl}/webhooks/github`),
    story: STORY,
    panel: PANEL,
    lookOf: ({ status }) => ({ word: WORDS[status] ?? status, buttons: buttonsFor(status) }),
    break: (how) => github.setOutage(how === 'down'),
    broken: () => (github.state().isOut ? 'down' : 'none'),
  }
}

const STRANGER = 'gus'

/** What the steps of the job that fails say, once it has failed. */
const SAID: GithubPush['annotations'] = {
  test: [
    { path: 'src/login.ts', line: 41, level: 'failure', message: "Cannot read properties of null (reading 'split')" },
    { path: 'test/cart.test.ts', line: 12, level: 'failure', message: 'CartTest › sums: expected 19.99, got 20' },
  ],
}

const RUN = String.raw`^/repos/[^/]+/[^/]+/actions/runs/(\d+)`
const ASKED = { Restart: new RegExp(`${RUN}/rerun(?:-failed-jobs)?$`), Stop: new RegExp(`${RUN}/cancel$`) }

function settingsFor(github: SandboxGithub): Record<string, string> {
  const { apiUrl, token, repositories, webhookSecret } = github.address()
  return {
    GITHUB_API_URL: apiUrl,
    GITHUB_TOKEN: token,
    GITHUB_REPOSITORIES: repositories.join(','),
    GITHUB_WEBHOOK_SECRET: webhookSecret,
  }
}

const CONCLUSIONS = {
  none: 'none',
  success: 'success',
  error: 'failure',
  stopped: 'cancelled',
  infrastructure_failure: 'startup_failure',
  ignored: 'skipped',
  blocked: 'skipped',
} as const satisfies Record<Outcome, string>

function buildOf(run: RunSnapshot): BuildSnapshot {
  const { id, number, project, commitId, message, author, status, conclusion, runMs } = run
  return {
    id: String(number),
    uuid: String(id),
    project,
    branch: branchOf(run),
    commitId,
    message,
    committer: author,
    status: statusOf(status, conclusion),
    runMs,
    runs: run.attempts.map((attempt) => ({
      status: statusOf(attempt.status, attempt.conclusion),
      startedAt: timeOf(attempt.startedAt),
      finishedAt: timeOf(hasEnded(attempt) ? attempt.updatedAt : null),
    })),
  }
}

// A fork may also call its branch `main`.
const branchOf = ({ branch, fork }: RunSnapshot): string => (fork === null ? '' : `${fork}:`) + (branch ?? '')

const hasEnded = ({ status, conclusion }: { status: string; conclusion: string | null }): boolean =>
  status === 'completed' && conclusion !== 'action_required'

function statusOf(status: string | null, conclusion: string | null): string {
  if (status !== 'completed') return STATUSES[status ?? ''] ?? 'queued'
  return STATUSES[conclusion ?? ''] ?? 'skipped'
}

const STATUSES: Record<string, string> = {
  in_progress: 'initiated',
  waiting: 'waiting',
  action_required: 'waiting',
  success: 'success',
  failure: 'error',
  timed_out: 'error',
  cancelled: 'stopped',
  startup_failure: 'infrastructure_failure',
}

const changeOf = (outcome: ChangeOutcome): ci.ChangeOutcome => {
  if (outcome.kind === 'no-run') return { kind: 'no-build' }
  return outcome.kind === 'changed' ? { kind: 'changed', build: buildOf(outcome.run) } : outcome
}

/** Deliveries have no numbers; each gets the next when it is first seen. */
function numbersByGuid(): (guid: string) => number {
  const numbers = new Map<string, number>()
  return (guid) => {
    const n = numbers.get(guid) ?? numbers.size + 1
    numbers.set(guid, n)
    return n
  }
}

/** A redelivery is another entry in GitHub's log, with the same guid. */
function sentBy(github: SandboxGithub, numberOf: (guid: string) => number): (Sent & { guid: string })[] {
  const runs = new Map(github.state().runs.map((run) => [run.id, run]))
  const byGuid = Map.groupBy(github.deliveries(), ({ guid }) => guid)
  return [...byGuid].flatMap(([guid, copies]) => {
    const [{ runId, status, conclusion, body }, newest] = [copies[0]!, copies.at(-1)!]
    const run = runId === null ? undefined : runs.get(runId)
    if (!run) return []
    const said = statusOf(status, conclusion)
    const { project, number } = run
    return {
      guid,
      n: numberOf(guid),
      project,
      buildId: String(number),
      status: said,
      word: WORDS[said] ?? said,
      body,
      state: newest.state,
      attempts: copies.flatMap(attemptOf),
    }
  })
}

function attemptOf({ state, at, ms, statusCode, answer }: Delivery): SendAttempt[] {
  if (state === 'queued') return []
  if (statusCode === null) return [{ kind: 'failed', at, ms, errorCode: 'failed' }]
  return [{ kind: 'answered', at, ms, statusCode, body: answer }]
}

const STORY: Story = {
  what: 'a sandbox GitHub',
  name: 'GitHub',
  manual: 'packages/sandbox-github/README.md',
  push: {
    path: '/push',
    body: { repository: 'acme/web', branch: 'main', message: 'My change', author: { name: 'Ada' }, outcome: 'failure' },
  },
  missed: 'asks GitHub for what it missed',
  projects: { web: 'acme/web CI', api: 'acme/api CI', ios: 'acme/ios CI' },
  approval: 'A pull request from a fork of acme/api waits for an approval; Grace presses Approve…, and it passes',
  approves: 'Approve…',
  machine: 'A run of acme/ios fails to start (startup failure): nobody is mentioned',
  ...POLLED_STORY,
}

const PANEL: PanelService = {
  ...polledPanel('GitHub'),
  one: 'run',
  many: 'runs',
  ends: [
    { words: 'runs until you end it', push: { outcome: 'none' } },
    { words: 'succeeds after 8 s', push: { outcome: 'success', ms: 8_000 } },
    { words: 'fails after 8 s', push: { outcome: 'error', ms: 8_000 } },
    { words: 'fails to start', push: { outcome: 'infrastructure_failure', ms: 1_000 } },
    { words: "is a fork's, and waits for an approval", push: { outcome: 'none', needsApproval: true } },
  ],
  whileAway: 'GitHub repeats nothing that was not taken. Buildline asks it when it is back: every 5 to 15 s.',
  own: 'a GitHub repository',
}

const WORDS: Record<string, string> = {
  queued: 'queued',
  initiated: 'in progress',
  waiting: 'action required',
  success: 'success',
  error: 'failure',
  stopped: 'cancelled',
  infrastructure_failure: 'startup failure',
  skipped: 'skipped',
}

const ENDINGS: readonly PanelButton[] = [
  { words: 'Pass it', path: 'finish', body: { outcome: 'success' } },
  { words: 'Fail it', path: 'finish', body: { outcome: 'error' } },
  { words: 'Cancel it', path: 'stop' },
]
const APPROVE: PanelButton = { words: 'Approve', path: 'approve' }
const AGAIN: PanelButton = { words: 'Re-run', path: 'restart' }

function buttonsFor(status: string): readonly PanelButton[] {
  if (status === 'initiated' || status === 'queued') return ENDINGS
  return status === 'waiting' ? [APPROVE] : [AGAIN]
}
