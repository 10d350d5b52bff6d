import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { deliverChanged, NOWHERE, pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import type { PushWanted } from '../../packages/sandbox-gitlab/src/push.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, settled, until, type Stage } from '../support/app.ts'
import { threadOf, type, untilCard } from '../support/world.ts'

// How a build ended is what its jobs say, whatever the word for the whole build is.

const CARDS = { DEFAULT_CHANNEL: CHANNELS.builds, WEBHOOK_SECRET: undefined }

const said = ({ slack }: Stage): string => JSON.stringify(messagesIn(slack, CHANNELS.builds))

const isRead = ({ folder }: Stage) => rowsOf(folder, 'select 1 from build where read_end_at is not null').length === 0

async function openGithub(subscriptions: readonly string[] = []) {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const named = { GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token, GITHUB_WEBHOOK_SECRET: webhookSecret }
  const stage = await openStage({
    settings: { ...CARDS, ...named },
    ...(subscriptions.length > 0 && { subscriptions }),
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  return { ...stage, github }
}

async function openGitlab(subscriptions: readonly string[] = []) {
  const gitlab = createSandboxGitlab()
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  const { url: siteUrl, token, webhookToken } = gitlab.address()
  const named = { GITLAB_URL: siteUrl, GITLAB_TOKEN: token, GITLAB_WEBHOOK_SECRET: webhookToken! }
  const stage = await openStage({
    settings: { ...CARDS, ...named },
    ...(subscriptions.length > 0 && { subscriptions }),
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  gitlab.setWebhookUrl(`${stage.app.url}/webhooks/gitlab`)
  const push = (wanted: PushWanted): number => {
    const outcome = gitlab.push('acme/web', { ms: 0, ...wanted })
    return outcome.kind === 'pipeline' ? outcome.pipeline.id : 0
  }
  return { ...stage, gitlab, push }
}

test('GitHub: a cancelled run with a failed job has failed, and was then cancelled', async () => {
  const stage = await openGithub()
  const { id } = pushed(stage.github, { jobs: ['unit', 'e2e'], outcome: 'none' })
  stage.github.finish(id, 'cancelled', ['unit'])
  await until('a card', () => said(stage).includes('Failed, then cancelled'))
  await until('its jobs', () => said(stage).includes('failed: unit: Run unit'))
})

test('GitHub: a run that somebody cancelled is not told, and its jobs are asked for once', async () => {
  const stage = await openGithub()
  const { id } = pushed(stage.github, { outcome: 'none' })
  stage.github.finish(id, 'cancelled')
  await stage.github.settle()
  await settled(stage.app.url)
  await until('it is read', () => stage.github.calls().some(({ path }) => path.endsWith('/attempts/1/jobs')))
  await until('it is known', () => isRead(stage))
  expect(said(stage)).toBe('[]')
  expect(stage.github.calls().filter(({ path }) => path.endsWith('/attempts/1/jobs'))).toHaveLength(1)
})

test('GitHub: a run that was cancelled since a job ran over its time limit has failed: timed out', async () => {
  const stage = await openGithub()
  const message = 'The job running on runner GitHub Actions 3 has exceeded the maximum execution time of 5 minutes.'
  const annotations = { e2e: [{ path: '.github', line: 1, level: 'failure' as const, message }] }
  const { id } = pushed(stage.github, { jobs: ['e2e'], outcome: 'none', annotations })
  stage.github.finish(id, 'cancelled')
  await until('a card', () => said(stage).includes('Failed: timed out'))
})

test('GitHub: a failed run that came by a webhook names its failed jobs', async () => {
  const stage = await openGithub()
  const { id } = pushed(stage.github, { jobs: ['unit', 'eslint'], outcome: 'none' })
  stage.github.finish(id, 'failure', ['unit', 'eslint'])
  await until('its jobs', () => said(stage).includes('failed: unit: Run unit, eslint: Run eslint'))
})

test('GitHub: what could not be read is read later, and the card stands at once', async () => {
  const stage = await openGithub()
  const { id } = pushed(stage.github, { jobs: ['unit'], outcome: 'none' })
  await stage.github.settle()
  stage.github.failNext(2, 403)
  stage.github.finish(id, 'failure', ['unit'])
  await until('the card', () => said(stage).includes('Failed'))
  await until('it is to be read later', () => rowsOf(stage.folder, 'select read_end_at from build').some(isLater))
  expect(said(stage)).not.toContain('failed: unit')
})

const isLater = (row: Record<string, unknown>): boolean => Number(row['read_end_at']) > Date.now()

const JOBS: PushWanted['jobs'] = [{ name: 'lint' }, { name: 'deploy-all', trigger: true }]

test('GitLab: a trigger job that failed is somebody’s fault, whatever became of the other jobs', async () => {
  const stage = await openGitlab()
  const failedJobs = [{ name: 'lint', reason: 'runner_system_failure' }, 'deploy-all']
  stage.push({ outcome: 'failed', jobs: JOBS, failedJobs })
  await until('its card', () => said(stage).includes('*Failed*'))
  await until('its jobs', () => said(stage).includes('failed: lint, deploy-all'))
})

test('GitLab: only a trigger job failed, and it is named', async () => {
  const stage = await openGitlab()
  stage.push({ outcome: 'failed', jobs: JOBS, failedJobs: ['deploy-all'] })
  await until('its job', () => said(stage).includes('failed: deploy-all'))
})

test('GitLab: a canceled pipeline with a failed job has failed', async () => {
  const stage = await openGitlab()
  const id = stage.push({ outcome: 'none', jobs: [{ name: 'lint' }, { name: 'unit' }] })
  stage.gitlab.finish(id, 'canceled', ['lint'])
  await until('its card', () => said(stage).includes('Failed, then cancelled'))
})

test('GitLab: a configuration that is not valid says so, with its first line and without Restart', async () => {
  const stage = await openGitlab()
  stage.push({ outcome: 'failed', yamlErrors: 'jobs:lint config contains unknown keys: scrpt\nsecond line' })
  await until('its card', () => said(stage).includes('Failed: the configuration is not valid'))
  expect(said(stage)).toContain('config contains unknown keys: scrpt')
  expect(said(stage)).not.toContain('second line')
  await until('no Restart', () => !said(stage).includes('build_restart'))
})

test('GitLab: a pipeline that passed with a failed job that may fail names it', async () => {
  const stage = await openGitlab()
  const jobs = [{ name: 'unit' }, { name: 'deploy', stage: 'deploy', allowFailure: true }]
  const id = stage.push({ outcome: 'none', jobs })
  stage.gitlab.finish(id, 'failed')
  await until('its card', () => said(stage).includes('*Failed*'))
  stage.gitlab.retry(id, { outcome: 'none' })
  stage.gitlab.finish(id, 'success', ['deploy'])
  await until('it passed', () => said(stage).includes('with warnings: deploy'))
})

const EVERY_END = [`{ channel: ${CHANNELS.builds}, project: all, events: [failed, success], mention: committer }`]

test.each<[string, players: readonly string[], PushWanted['jobs'], isTold: boolean]>([
  ['a person started', ['Ada'], [{ name: 'deploy', manual: true, allowFailure: true }], true],
  [
    'two people started',
    ['Ada', 'Lin'],
    ['deploy', 'docs'].map((name) => ({ name, manual: true, allowFailure: true })),
    false,
  ],
  ['nobody started by hand', [], [{ name: 'deploy', allowFailure: true }], false],
])(
  'GitLab: with warnings of jobs that %s, the thread mentions the one who did',
  async (_, players, jobs = [], isTold) => {
    const stage = await openGitlab(EVERY_END)
    await type(stage, PEOPLE.ada, '/ci me ada')
    await until('the name is hers', () => rowsOf(stage.folder, 'select 1 from person').length > 0)
    const id = stage.push({ outcome: 'none', jobs: [{ name: 'unit' }, ...jobs] })
    if (players.length > 0) {
      stage.gitlab.finish(id, 'success')
      await untilCard(stage, ['Passed'])
      // GitLab tells the ends of a pipeline apart by the second.
      await setTimeout(1_000)
      for (const player of players) stage.gitlab.play(id, player)
    }
    stage.gitlab.finish(
      id,
      'success',
      jobs.map(({ name }) => name),
    )
    const card = await untilCard(stage, ['with warnings: deploy'])
    if (isTold) await until('she is told', () => JSON.stringify(threadOf(stage, card)).includes(`<@${PEOPLE.ada}>`))
    await settled(stage.app.url)
    await until('it is read', () => isRead(stage))
    const [thread, channel] = [JSON.stringify(threadOf(stage, card)), JSON.stringify(card)]
    expect([thread, channel].map((text) => text.includes(`<@${PEOPLE.ada}>`))).toEqual([isTold, false])
    expect(JSON.stringify(stage.slack.messages(CHANNELS.builds))).not.toContain('thread_broadcast')
  },
)

test('GitHub: a warning of the job’s own tools about a time limit does not turn a cancelled run red', async () => {
  const stage = await openGithub()
  const message = 'Test exceeded the maximum execution time of 5 s'
  const annotations = { e2e: [{ path: 'src/x.ts', line: 1, level: 'warning' as const, message }] }
  const { id } = pushed(stage.github, { jobs: ['e2e'], outcome: 'none', annotations })
  stage.github.finish(id, 'cancelled')
  await stage.github.settle()
  await settled(stage.app.url)
  await until('it is known', () => isRead(stage))
  expect(said(stage)).toBe('[]')
})

test('GitHub: a run that was delivered as failed, and has passed, has passed', async () => {
  const stage = await openGithub()
  stage.github.setWebhookUrl(NOWHERE)
  stage.github.finish(pushed(stage.github).id, 'success')
  const failed = (body: { workflow_run: object }) => ({
    ...body,
    workflow_run: { ...body.workflow_run, conclusion: 'failure' },
  })
  expect(await deliverChanged(stage.github, stage.app.url, failed)).toBe(202)
  await until('it is told as failed', () => said(stage).includes('*Failed*'))
  await until('it has passed', () => !said(stage).includes('*Failed*'))
})

/** A commit of Ada's in her request 87 is built, until it fails. */
const OPENED = {
  GitHub: async () => {
    const stage = await openGithub(EVERY_END)
    return {
      stage,
      start: () => pushed(stage.github, { branch: 'fix', pullRequest: 87, outcome: 'none' }).id,
      fail: (id: number) => void stage.github.finish(id, 'failure'),
      reads: () => stage.github.calls().filter(({ path }) => path.endsWith('/pulls/87')),
    }
  },
  GitLab: async () => {
    const stage = await openGitlab(EVERY_END)
    return {
      stage,
      start: () => stage.push({ branch: 'fix', mergeRequest: { iid: 87, title: 'Mend it' }, outcome: 'none' }),
      fail: (id: number) => void stage.gitlab.finish(id, 'failed'),
      reads: () => stage.gitlab.calls().filter(({ path }) => path.endsWith('/merge_requests/87')),
    }
  },
}

test.each(['GitHub', 'GitLab'] as const)(
  '%s: who opened a request is read once, before its builds end, and is told of those that fail',
  async (name) => {
    const { stage, start, fail, reads } = await OPENED[name]()
    await type(stage, PEOPLE.ada, '/ci me ada')
    await until('the name is hers', () => rowsOf(stage.folder, 'select 1 from person').length > 0)
    const builds = [start(), start()]
    await until('it is read', () => rowsOf(stage.folder, "select 1 from build where committer = 'ada'").length === 2)
    for (const id of builds) fail(id)
    await until('she is told', () => said(stage).split(`<@${PEOPLE.ada}>`).length > 2)
    await settled(stage.app.url)
    await until('it is known', () => isRead(stage))
    expect(reads()).toHaveLength(1)
  },
)

test('GitHub: without the right to read pull requests, their builds are about nobody, and their jobs are named', async () => {
  const { stage, start, fail, reads } = await OPENED.GitHub()
  stage.github.lack('pull_requests=read')
  await type(stage, PEOPLE.ada, '/ci me ada')
  await until('the name is hers', () => rowsOf(stage.folder, 'select 1 from person').length > 0)
  const id = start()
  await until('it was asked for', () => reads().length > 0)
  fail(id)
  await until('its jobs', () => said(stage).includes('failed: test'))
  await until('it is known', () => isRead(stage))
  expect(said(stage)).not.toContain(`<@${PEOPLE.ada}>`)
  expect(reads()).toHaveLength(1)
})
