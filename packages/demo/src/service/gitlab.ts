import type { Push } from '../../../sandbox-ci/src/builds.ts'
import type { CommonHandles } from '../../../sandbox-ci/src/control.ts'
import type * as ci from '../../../sandbox-ci/src/handles.ts'
import type { SendAttempt } from '../../../sandbox-ci/src/sender.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import type { Outcome } from '../../../sandbox-ci/src/state.ts'
import type { ChangeOutcome, PipelineSnapshot } from '../../../sandbox-gitlab/src/handles.ts'
import type { Delivery } from '../../../sandbox-gitlab/src/hook.ts'
import type { PushWanted } from '../../../sandbox-gitlab/src/push.ts'
import type { SandboxGitlab } from '../../../sandbox-gitlab/src/server.ts'
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

/** GitLab CI: a pipeline is a build, known by the id of the pipeline. */
export function gitlabService(gitlab: SandboxGitlab): Service {
  function push(project: string, { branch, message, committer, outcome, ms, waitingMs, needsApproval }: Push) {
    const pushed = gitlab.push(project, {
      branch,
      message,
      ms,
      queuedMs: waitingMs,
      needsManual: needsApproval,
      ...(outcome === 'error' && { tests: TESTS }),
      ...(committer === undefined ? {} : { author: { name: committer, email: `${committer}@acme.example` } }),
      ...endFor(outcome),
    })
    return pushed.kind === 'pipeline' ? ({ kind: 'build', build: buildOf(pushed.pipeline) } as const) : pushed
  }

  const handles: CommonHandles = {
    push,
    storm: (project, wanted) => stormBy(push, project, wanted),
    finish: (pipeline, status) => changeOf(gitlab.finish(Number(pipeline), ENDS[status], failedJobsFor(status))),
    approve: (pipeline) => changeOf(gitlab.play(Number(pipeline))),
    stopBuild: (pipeline) => changeOf(gitlab.cancel(Number(pipeline))),
    restart: (pipeline, outcome) => changeOf(gitlab.retry(Number(pipeline), endFor(outcome))),
    deliveries: () => sentBy(gitlab),
    resend: (n) => gitlab.resend(n),
    resendInOrder(order) {
      const known = order.filter((n) => gitlab.deliveries().some((delivery) => delivery.n === n))
      void resendEach(gitlab, known)
      return known
    },
  }

  return {
    ...polledService(handles),
    settle: () => gitlab.settle(),
    start: (port) => gitlab.start(port),
    stop: () => gitlab.stop(),
    get url() {
      return gitlab.url
    },
    state: () => ({ builds: gitlab.state().pipelines.map(buildOf) }),
    projects: () => gitlab.state().projects.map((name) => ({ id: name, name, type: null, rules: [] })),
    sent: () => sentBy(gitlab),
    asked: () => askedIn(gitlab.calls(), ASKED),
    settings: () => settingsFor(gitlab),
    deliverTo: (botUrl) => gitlab.setWebhookUrl(`${botUrl}/webhooks/gitlab`),
    story: STORY,
    panel: PANEL,
    lookOf: ({ status }) => ({ word: WORDS[status] ?? status, buttons: buttonsFor(status) }),
    break: (how) => void gitlab.setSwitches({ isDown: how === 'down' }),
    broken: () => (gitlab.state().switches.isDown ? 'down' : 'none'),
  }
}

const ASKED = { Restart: /\/pipelines\/(\d+)\/retry$/, Stop: /\/pipelines\/(\d+)\/cancel$/ }

function settingsFor(gitlab: SandboxGitlab): Record<string, string> {
  const { url, token, projects, webhookToken } = gitlab.address()
  return {
    GITLAB_URL: url,
    GITLAB_TOKEN: token,
    GITLAB_PROJECTS: projects.join(','),
    GITLAB_WEBHOOK_SECRET: webhookToken ?? '',
  }
}

const ENDS = {
  success: 'success',
  error: 'failed',
  stopped: 'canceled',
  infrastructure_failure: 'failed',
  ignored: 'skipped',
  blocked: 'skipped',
} as const satisfies Record<Exclude<Outcome, 'none'>, string>

/** What the tests of its job report. */
const TESTS: PushWanted['tests'] = [
  { name: 'redirects', status: 'failed', output: 'expected 302, got 200' },
  {
    name: 'takes an account without e-mail',
    status: 'failed',
    output: "Cannot read properties of null (reading 'split')",
  },
  { name: 'remembers who was here' },
]

const RUNNER_FAILED = 'runner_system_failure'

const failedJobsFor = (outcome: Outcome) =>
  outcome === 'infrastructure_failure' ? [{ name: 'unit', reason: RUNNER_FAILED }] : []

function endFor(outcome: Outcome | undefined) {
  if (outcome === undefined) return {}
  return { outcome: outcome === 'none' ? outcome : ENDS[outcome], failedJobs: failedJobsFor(outcome) }
}

function buildOf({ id, iid, sha, author, attempts, jobs, status, ...pipeline }: PipelineSnapshot): BuildSnapshot {
  const { project, branch, message, runMs } = pipeline
  const failed = jobs.filter((job) => !job.isRetried && job.status === 'failed' && !job.allowFailure)
  const now = statusOf(
    status,
    failed.map(({ failureReason }) => failureReason),
  )
  return {
    id: String(iid),
    uuid: String(id),
    project,
    branch,
    commitId: sha,
    message,
    committer: author.name,
    status: now,
    runMs,
    runs: attempts.map((attempt, at) => ({
      status: at === attempts.length - 1 ? now : statusOf(attempt.status, []),
      startedAt: timeOf(attempt.startedAt),
      finishedAt: timeOf(attempt.finishedAt),
    })),
  }
}

/** @param reasons why each of the jobs failed that count */
function statusOf(status: string, reasons: readonly (string | null)[]): string {
  const isOfRunner = reasons.length > 0 && reasons.every((reason) => reason === RUNNER_FAILED)
  return status === 'failed' && isOfRunner ? 'infrastructure_failure' : (STATUSES[status] ?? 'queued')
}

const STATUSES: Record<string, string> = {
  running: 'initiated',
  canceling: 'initiated',
  manual: 'waiting',
  success: 'success',
  failed: 'error',
  canceled: 'stopped',
  skipped: 'skipped',
}

function changeOf(outcome: ChangeOutcome): ci.ChangeOutcome {
  if (outcome.kind === 'no-pipeline') return { kind: 'no-build' }
  return outcome.kind === 'changed' ? { kind: 'changed', build: buildOf(outcome.pipeline) } : outcome
}

function sentBy(gitlab: SandboxGitlab): Sent[] {
  const pipelines = new Map(gitlab.state().pipelines.map((pipeline) => [pipeline.id, pipeline]))
  return gitlab.deliveries().map((delivery) => {
    const { project, iid } = pipelines.get(delivery.pipelineId)!
    const { n, status, body, state } = delivery
    return {
      n,
      project,
      buildId: String(iid),
      status: statusOf(status, status === 'failed' ? reasonsIn(body) : []),
      word: status,
      body,
      // What is switched off sends nothing.
      state: state === 'off' ? 'failed' : state,
      attempts: delivery.answers.map(attemptOf),
    }
  })
}

const reasonsIn = (body: string): string[] =>
  [...body.matchAll(/"failure_reason":"(\w+)"/g)].map(([, reason]) => reason!)

function attemptOf({ statusCode, at, ms }: Delivery['answers'][number]): SendAttempt {
  if (statusCode === null) return { kind: 'failed', at, ms, errorCode: 'failed' }
  return { kind: 'answered', at, ms, statusCode, body: '' }
}

/** Each when the one before has its answer. */
async function resendEach(gitlab: SandboxGitlab, order: readonly number[]): Promise<void> {
  for (const n of order) {
    gitlab.resend(n)
    await gitlab.settle()
  }
}

const STORY: Story = {
  what: 'a sandbox GitLab',
  name: 'GitLab',
  manual: 'packages/sandbox-gitlab/README.md',
  push: {
    path: '/projects/acme/web/push',
    body: {
      branch: 'main',
      message: 'My change',
      author: { name: 'Ada', email: 'ada@acme.example' },
      outcome: 'failed',
    },
  },
  missed: 'asks GitLab for what it missed',
  projects: { web: 'acme/web', api: 'acme/api', ios: 'acme/tools/ios' },
  approval: 'A release of acme/api waits for its manual job; Grace presses Run…, and it passes',
  approves: 'Run…',
  machine: "A runner of acme/tools/ios breaks: nobody's fault, so nobody is mentioned",
  ...POLLED_STORY,
}

const PANEL: PanelService = {
  ...polledPanel('GitLab'),
  one: 'pipeline',
  many: 'pipelines',
  ends: [
    { words: 'runs until you end it', push: { outcome: 'none' } },
    { words: 'passes after 8 s', push: { outcome: 'success', ms: 8_000 } },
    { words: 'fails after 8 s', push: { outcome: 'error', ms: 8_000 } },
    { words: 'meets a runner that breaks after 8 s', push: { outcome: 'infrastructure_failure', ms: 8_000 } },
    { words: 'waits for its manual job after 3 s', push: { outcome: 'success', ms: 3_000, needsApproval: true } },
  ],
  whileAway:
    'GitLab repeats nothing that was not taken, and switches the webhook off for a minute after four failures. Buildline asks it when it is back: every 5 to 15 s.',
  own: 'a GitLab project',
}

const WORDS: Record<string, string> = {
  queued: 'pending',
  initiated: 'running',
  waiting: 'manual',
  success: 'passed',
  error: 'failed',
  stopped: 'canceled',
  infrastructure_failure: 'failed: runner system failure',
  skipped: 'skipped',
}

const ENDINGS: readonly PanelButton[] = [
  { words: 'Pass it', path: 'finish', body: { outcome: 'success' } },
  { words: 'Fail it', path: 'finish', body: { outcome: 'error' } },
  { words: 'Cancel it', path: 'stop' },
  { words: 'Break its runner', path: 'finish', body: { outcome: 'infrastructure_failure' } },
]
const PLAY: PanelButton = { words: 'Start its manual job', path: 'approve' }
const AGAIN: PanelButton = { words: 'Retry', path: 'restart' }

function buttonsFor(status: string): readonly PanelButton[] {
  if (status === 'initiated' || status === 'queued') return ENDINGS
  if (status === 'waiting') return [PLAY]
  // GitLab retries what has not passed.
  return status === 'success' ? [] : [AGAIN]
}
