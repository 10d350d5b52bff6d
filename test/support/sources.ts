import { onTestFinished } from 'vitest'
import { systemClock, type Clock } from '../../packages/lib/clock.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { createSandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { signatureOf } from '../../packages/sandbox-github/src/hooks.ts'
import { startGithub } from '../../packages/sandbox-github/test/support.ts'
import type { SourceName } from '../../src/domain/ids.ts'
import { openStage, send, WEBHOOK_SECRET, type Answer, type Settings, type Stage } from './app.ts'
import { untilCard } from './world.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'

/** A source's sandbox service, with the same controls for every source. Its project is `acme/web`. */
export interface PlayedSource {
  name: SourceName
  /** the bot's settings for calling it and accepting its deliveries */
  settings: Settings
  /** Deliveries go to the bot at this address; null: nowhere. */
  deliverTo(url: string | null): void
  /** Somebody pushes, and a build runs until the test ends it. @returns the number that people see */
  push(branch?: string, project?: PlayedProject): string
  /** Ends a build of acme/web, by its number. */
  end(number: string, how: 'failed' | 'passed'): void
  /** Ends the last build, of whatever project. */
  endLast(how: 'failed' | 'passed'): void
  /** The body of a delivery, with what it says of its build's project replaced. */
  relabelled(body: string, as: Relabelled): string
  /** The project of acme/web gets another name. */
  rename?(name: string): void
  /** The source answers the next reads with this status. */
  failReads(status: number): void
  /** The bodies sent about the last build, oldest first. */
  sent(): Promise<readonly string[]>
  /** Sends one delivery as the service does, or with an unknown secret. */
  send(url: string, body: string, secret?: 'ours' | 'of nobody'): Promise<Answer>
  /** The requests that it got so far: `restart`, `stop`. */
  asked(): string[]
  /** The next restart or stop gets no clear answer. */
  failNext(): void
  /** Of a source that starts builds in several ways: what else happens there. */
  hosted: Hosted | null
}

/** What starts a build: the sources have other words for it. `of next year`: a word that nobody knows yet. */
export type Cause = 'push' | 'schedule' | 'by hand' | 'request' | 'queue' | 'chained' | 'of next year'

export interface Hosted {
  /** Ada's commit is built, until the test ends it. @returns the number that people see */
  start(cause: Cause, branch?: string): string
  /** The job `unit` fails, and so the build is cancelled. */
  failFast(number: string): void
  deleteBranch(branch: string): void
  /** Merges the request whose builds `request` starts: number 87. */
  mergeRequest(): void
}

/** The commit that `Hosted.start` builds. */
const SHA = 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334'
const QUEUE = 'gh-readonly-queue/main/pr-87-a1b2c3d4'

const GITHUB_EVENTS: Record<Cause, string> = {
  push: 'push',
  schedule: 'schedule',
  'by hand': 'workflow_dispatch',
  request: 'pull_request',
  queue: 'merge_group',
  chained: 'workflow_run',
  'of next year': 'event_of_next_year',
}

const GITLAB_SOURCES: Record<Cause, string> = {
  push: 'push',
  schedule: 'schedule',
  'by hand': 'web',
  request: 'merge_request_event',
  queue: 'merge_request_event',
  chained: 'pipeline',
  'of next year': 'event_of_next_year',
}

export type PlayedProject = 'acme/web' | 'acme/api'

export interface Relabelled {
  /** the project whose id it gets */
  id: PlayedProject
  name: string
  /** `skipped`: no card shows it */
  status?: 'skipped'
  branch?: string
  commit?: string
}

const OF_NOBODY = 'a-secret-of-nobody-at-all'

export interface Played extends Stage {
  source: PlayedSource
}

/** The bot with a source that delivers to it. */
export async function openPlayed(
  play: () => Promise<PlayedSource>,
  changes: Settings = {},
  subscriptions: readonly string[] = [],
): Promise<Played> {
  const source = await play()
  const stage = await openStage({
    slack: { rates: 'off' },
    settings: { DEFAULT_CHANNEL: CHANNELS.builds, ...source.settings, ...changes },
    ...(subscriptions.length > 0 && { subscriptions }),
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  source.deliverTo(stage.app.url)
  return { ...stage, source }
}

/** The cards in #builds, as text. */
export const cards = ({ slack }: Stage): string[] =>
  slack
    .messages(CHANNELS.builds)
    .flatMap(({ ts, thread_ts: thread, text }) => (thread === undefined || thread === ts ? String(text) : []))

/** A failed build with its card. */
export async function failed(stage: Played) {
  const number = stage.source.push()
  stage.source.end(number, 'failed')
  return { number, card: await untilCard(stage, ['Failed', 'acme/web'], ACTION_IDS.restart) }
}

/** Each with its own clock, by default the machine's. */
export const SOURCES: Record<SourceName, (clock?: Clock) => Promise<PlayedSource>> = {
  ci: playCi,
  github: playGithub,
  gitlab: playGitlab,
}

async function playCi(clock: Clock = systemClock): Promise<PlayedSource> {
  const ci = createSandboxCi({ clock })
  await ci.start()
  onTestFinished(() => ci.stop())
  let last = ''
  const end: PlayedSource['end'] = (id, how) => void ci.finish(id, how === 'failed' ? 'error' : 'success')
  return {
    name: 'ci',
    settings: botSettings(ci),
    deliverTo(url) {
      ci.setSwitches({ holdDeliveries: url === null })
      if (url !== null) ci.setWebhookUrl(`${url}/webhooks/builds/${WEBHOOK_SECRET}`)
    },
    push(branch = 'main', project = 'acme/web') {
      const outcome = ci.push(project, { branch, outcome: 'none' })
      if (outcome.kind !== 'build') throw new Error(outcome.kind)
      return (last = outcome.build.id)
    },
    end,
    endLast: (how) => end(last, how),
    relabelled: (body, { id, name, branch, commit }) =>
      changed(body, (delivered) => ({
        build: {
          ...delivered['build'],
          project_id: Number(ci.state().projects.find((one) => one.name === id)!.id),
          project_name: name,
          project_full_name: name,
          ...(branch && { branch }),
          ...(commit && { commit_id: commit, short_commit_id: commit.slice(0, 5) }),
        },
      })),
    failReads: (statusCode) => ci.addFault({ kind: 'status', statusCode, method: 'GET', times: 20 }),
    async sent() {
      await ci.settle()
      return ci.deliveries().flatMap(({ buildId, body }) => (buildId === last ? body : []))
    },
    send: (url, body, secret = 'ours') =>
      send(url, body, { path: `/webhooks/builds/${secret === 'ours' ? WEBHOOK_SECRET : OF_NOBODY}` }),
    asked: () => ci.calls().flatMap(({ method, path }) => (method === 'POST' ? actionIn(path) : [])),
    failNext: () => ci.addFault({ kind: 'lost-answer', method: 'POST', times: 1 }),
    // The CI service does not say what started a build.
    hosted: null,
  }
}

async function playGithub(clock: Clock = systemClock): Promise<PlayedSource> {
  const github = await startGithub({ clock })
  const { apiUrl, token, webhookSecret } = github.address()
  const ids = new Map<string, number>()
  let last = 0
  const end = (id: number, how: 'failed' | 'passed') => void github.finish(id, how === 'failed' ? 'failure' : 'success')
  return {
    name: 'github',
    settings: {
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_REPOSITORIES: 'acme/web',
      GITHUB_WEBHOOK_SECRET: webhookSecret,
    },
    deliverTo: (url) => github.setWebhookUrl(url && `${url}/webhooks/github`),
    push(branch = 'main', project = 'acme/web') {
      const outcome = github.push(project, { branch, outcome: 'none' })
      if (outcome.kind !== 'run') throw new Error(outcome.kind)
      last = outcome.run.id
      ids.set(String(outcome.run.number), last)
      return String(outcome.run.number)
    },
    end: (number, how) => end(ids.get(number)!, how),
    endLast: (how) => end(last, how),
    relabelled: (body, { id, name, status, branch, commit }) =>
      changed(body, (delivered) => {
        const { id: repositoryId, workflows } = github.state().repositories.find((one) => one.name === id)!
        const repository = { id: repositoryId, full_name: name, html_url: `${github.url}/${name}` }
        return {
          ...delivered,
          repository: { ...delivered['repository'], ...repository },
          workflow_run: {
            ...delivered['workflow_run'],
            repository,
            head_repository: repository,
            workflow_id: workflows[0]!.id,
            ...(status === 'skipped' && { conclusion: 'skipped' }),
            ...(branch && { head_branch: branch }),
            ...(commit && { head_sha: commit }),
          },
        }
      }),
    rename: (name) => github.rename('acme/web', name),
    failReads: (status) => github.failNext(20, status),
    async sent() {
      await github.settle()
      return github.deliveries().flatMap(({ runId, body }) => (runId === last ? body : []))
    },
    send: (url, body, secret = 'ours') =>
      send(url, body, {
        path: '/webhooks/github',
        headers: {
          'x-github-event': 'workflow_run',
          'x-hub-signature-256': signatureOf(secret === 'ours' ? webhookSecret : OF_NOBODY, body),
        },
      }),
    asked: () => github.calls().flatMap(({ method, path }) => (method === 'POST' ? actionIn(path) : [])),
    failNext: () => github.failNext(1, 502),
    hosted: {
      start(cause, branch = 'main') {
        const outcome = github.push('acme/web', {
          branch: cause === 'queue' ? QUEUE : branch,
          event: GITHUB_EVENTS[cause],
          ...(cause === 'request' && { pullRequest: 87 }),
          jobs: ['unit', 'e2e'],
          outcome: 'none',
        })
        if (outcome.kind !== 'run') throw new Error(outcome.kind)
        ids.set(String(outcome.run.number), (last = outcome.run.id))
        return String(outcome.run.number)
      },
      failFast: (number) => void github.finish(ids.get(number)!, 'cancelled', ['unit']),
      deleteBranch: (branch) => void github.deleteBranch('acme/web', branch),
      mergeRequest: () => void github.closePull('acme/web', 87, { merged: true }),
    },
  }
}

async function playGitlab(clock: Clock = systemClock): Promise<PlayedSource> {
  const gitlab = createSandboxGitlab({ clock, signingToken: null })
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  const { url: siteUrl, token, webhookToken } = gitlab.address()
  const ids = new Map<string, number>()
  let last = 0
  const end = (id: number, how: 'failed' | 'passed') => void gitlab.finish(id, how === 'failed' ? 'failed' : 'success')
  return {
    name: 'gitlab',
    settings: {
      GITLAB_URL: siteUrl,
      GITLAB_TOKEN: token,
      GITLAB_PROJECTS: 'acme/web',
      GITLAB_WEBHOOK_SECRET: webhookToken ?? '',
    },
    deliverTo: (url) => gitlab.setWebhookUrl(url && `${url}/webhooks/gitlab`),
    push(branch = 'main', project = 'acme/web') {
      const outcome = gitlab.push(project, { branch, outcome: 'none' })
      if (outcome.kind !== 'pipeline') throw new Error(outcome.kind)
      last = outcome.pipeline.id
      ids.set(String(outcome.pipeline.iid), last)
      return String(outcome.pipeline.iid)
    },
    end: (number, how) => end(ids.get(number)!, how),
    endLast: (how) => end(last, how),
    relabelled: (body, { id, name, status, branch, commit }) =>
      changed(body, (delivered) => ({
        ...delivered,
        project: {
          ...delivered['project'],
          id: GITLAB_IDS[id],
          path_with_namespace: name,
          web_url: `${siteUrl}/${name}`,
        },
        object_attributes: {
          ...delivered['object_attributes'],
          ...(status && { status }),
          ...(branch && { ref: branch }),
          ...(commit && { sha: commit }),
        },
      })),
    rename: (name) => gitlab.rename('acme/web', name),
    failReads: (status) => gitlab.failNext(20, status),
    async sent() {
      await gitlab.settle()
      return gitlab.deliveries().flatMap(({ pipelineId, body }) => (pipelineId === last ? body : []))
    },
    send: (url, body, secret = 'ours') =>
      send(url, body, {
        path: '/webhooks/gitlab',
        headers: { 'x-gitlab-event': 'Pipeline Hook', 'x-gitlab-token': secret === 'ours' ? webhookToken! : OF_NOBODY },
      }),
    asked: () => gitlab.calls().flatMap(({ method, path }) => (method === 'POST' ? actionIn(path) : [])),
    failNext: () => gitlab.failNext(1, 502),
    hosted: {
      start(cause, branch = 'main') {
        const outcome = gitlab.push('acme/web', {
          branch: cause === 'queue' ? 'refs/merge-requests/87/train' : branch,
          source: GITLAB_SOURCES[cause],
          ...(cause === 'request' && { mergeRequest: { iid: 87 } }),
          sha: SHA,
          outcome: 'none',
        })
        if (outcome.kind !== 'pipeline') throw new Error(outcome.kind)
        ids.set(String(outcome.pipeline.iid), (last = outcome.pipeline.id))
        return String(outcome.pipeline.iid)
      },
      failFast: (number) => void gitlab.finish(ids.get(number)!, 'canceled', ['unit']),
      deleteBranch: (branch) => void gitlab.deleteBranch('acme/web', branch),
      mergeRequest: () => void gitlab.closeMergeRequest('acme/web', 87, { merged: true }),
    },
  }
}

/** As the sandbox numbers its projects. */
const GITLAB_IDS: Record<PlayedProject, number> = { 'acme/web': 71, 'acme/api': 72 }

type Body = Record<string, Record<string, unknown>>

const changed = (body: string, change: (delivered: Body) => Body): string =>
  JSON.stringify(change(JSON.parse(body) as Body))

/** The action in the path of a call that changes something. */
function actionIn(path: string): string[] {
  const action = /\/(restart|retry|rerun|rerun-failed-jobs|stop|cancel)(?:\.json)?$/.exec(path)?.[1]
  return action === undefined ? [] : [action === 'stop' || action === 'cancel' ? 'stop' : 'restart']
}
