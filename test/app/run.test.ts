import { describe, expect, test } from 'vitest'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { startGitlab } from '../../packages/sandbox-gitlab/test/support.ts'
import type { SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, until, type Stage } from '../support/app.ts'
import { answersTo, openReady, type, untilCard, untilKnown } from '../support/world.ts'
import { saidBy, submit, topOf, untilModal } from './project-forms.ts'

const { lin, ada, gus } = PEOPLE
const CI = '.github/workflows/ci.yml'

const DEPLOY = `
on:
  workflow_dispatch:
    inputs:
      environment: { type: choice, options: [staging, production], required: true, description: Where to }
      replicas: { type: number, default: 2 }
      dry: { type: boolean }
      deploy_token: { description: Never typed }
jobs: {}
`

interface Runs extends Stage {
  github: SandboxGithub
  /** Types the command. @returns the new answer */
  run(text: string, user?: string): Promise<string>
}

/** A bot that knows acme/web with its workflows CI and Nightly, by their builds. */
async function openRuns(settings: Record<string, string> = {}): Promise<Runs> {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const stage = await openStage({
    slack: { rates: 'off' },
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_WEBHOOK_SECRET: webhookSecret,
      ...settings,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  for (const workflow of ['CI', 'Nightly']) github.finish(pushed(github, { workflow }).id, 'success')
  await until('the workflows are known', () => rowsOf(stage.folder, 'select 1 from heard').length === 2)
  return {
    ...stage,
    github,
    run: (text, user) => typeRun(stage, text, user),
  }
}

/** Types the command. @returns the new answer */
async function typeRun(stage: Pick<Stage, 'slack'>, text: string, user: string = lin): Promise<string> {
  const before = answersTo(stage, user).length
  await type(stage, user, `/ci run ${text}`)
  return until(`${user} is answered: ${text}`, () => {
    const last = answersTo(stage, user).slice(before).at(-1)?.text
    return last?.includes('Still working') ? null : last
  })
}

const starts = (github: SandboxGithub) => github.calls().filter(({ path }) => path.endsWith('/dispatches'))
const requests = ({ folder }: Stage) =>
  rowsOf(folder, "select state, code, target, new_build_id is not null as named from request where action = 'run'").map(
    (row) => ({ ...row }),
  )
const startedRuns = (github: SandboxGithub) => github.state().runs.filter(({ event }) => event === 'workflow_dispatch')

test('a workflow is started at once, the answer links it, its card shows who started it, and a failure calls them', async () => {
  const stage = await openRuns()
  const { github } = stage
  github.setFile('acme/web', CI, DEPLOY)
  const answer = await stage.run('acme/web CI@main environment=staging replicas=3 dry=true')
  expect(answer).toContain('Started')
  const [run] = startedRuns(github)
  expect(answer).toContain(`/actions/runs/${run!.id}`)
  expect(starts(github)).toHaveLength(1)
  expect(run!.inputs).toEqual({ environment: 'staging', replicas: '3', dry: 'true' })
  expect(requests(stage)).toMatchObject([{ state: 'confirmed', code: null, named: 1 }])
  expect(requests(stage)[0]!['target']).not.toContain('staging')
  github.finish(run!.id, 'failure')
  const card = await untilCard(stage, ['Failed', 'main · by hand'])
  expect(card.text).toContain(`<@${lin}>`)
  expect(card.text).not.toContain('ci-bot')
  expect(card.text).not.toContain('That')
})

test('a pipeline of GitLab is started with variables; the CI service starts nothing, and says so', async () => {
  const gitlab = await startGitlab({ projects: ['acme/lib'] })
  const { url, token, webhookToken } = gitlab.address()
  const gitlabSettings = { GITLAB_URL: url, GITLAB_TOKEN: token, GITLAB_WEBHOOK_SECRET: webhookToken ?? '' }
  const world = await openReady({ settings: gitlabSettings })
  gitlab.setWebhookUrl(`${world.app.url}/webhooks/gitlab`)
  gitlab.push('acme/lib', { outcome: 'success', ms: 0 })
  world.ci.push('acme/web', { outcome: 'success', ms: 0 })
  await untilKnown(world, 2)
  const answer = await typeRun(world, 'acme/lib@main DEBUG=1')
  expect(answer).toContain('Started')
  const pipeline = gitlab.state().pipelines.at(-1)!
  expect(answer).toContain(`/-/pipelines/${pipeline.id}`)
  gitlab.finish(pipeline.id, 'failed')
  const card = await untilCard(world, ['Failed', 'main · api'])
  expect(card.text).toContain(`<@${lin}>`)
  expect(await typeRun(world, 'acme/web@main')).toContain('only restarts builds')
})

describe('what is wrong is said, and nothing is started:', () => {
  test('each fault has its reason, and without it the same starts', async () => {
    const stage = await openRuns()
    const { github } = stage
    github.setFile('acme/web', CI, DEPLOY)
    github.setFile('acme/web', '.github/workflows/nightly.yml', 'on: push\njobs: {}')
    const asked: [text: string, words: string[]][] = [
      ['acme/web CI@gone environment=staging', ['no such branch or tag', '`gone`']],
      ['acme/web Nightly@main', ['cannot be started by hand', '`workflow_dispatch`']],
      ['acme/web CI@main environment=prod', ['`environment` can be `staging`, `production`']],
      ['acme/web CI@main environment=staging replicas=many', ['`replicas` has to be a number']],
      ['acme/web CI@main environment=staging dry=perhaps', ['`dry` can be `true`, `false`']],
      ['acme/web CI@main environment=staging verbose=1', ['no input `verbose`', '`replicas`']],
      ['acme/web CI@main environment=staging deploy_token=abc', ['`deploy_token` looks like a secret', 'Replace one']],
      ['acme/web CI@main environment=ghp_0123456789abcdef0123', ['`environment` looks like a secret']],
      ['acme/nothing CI@main', ['No project matches']],
      ['acme/web@main', ['2 projects', 'acme/web Nightly']],
      ['"acme/web CI"@', ['Which branch?']],
      ['environment=staging', ['a project']],
    ]
    for (const [text, words] of asked) {
      const answer = await stage.run(text)
      for (const word of words) expect(answer, text).toContain(word)
    }
    expect(await stage.run('acme/web CI@main environment=staging', gus)).toContain('you cannot start builds')
    github.setFile('acme/web', CI, `on: ${'['.repeat(20_000)}`)
    expect(await stage.run('acme/web CI@main')).toContain('not valid YAML')
    github.setFile('acme/web', CI, null)
    expect(await stage.run('acme/web CI@main')).toContain('its file is missing')
    expect(starts(github)).toEqual([])
    expect(requests(stage)).toEqual([])
    github.setFile('acme/web', CI, DEPLOY)
    github.lack('actions=write')
    const refused = await stage.run('acme/web CI@main environment=staging')
    expect(refused).toContain('*Actions: Read and write*')
    expect(refused).toContain('Resource not accessible by personal access token')
    expect(requests(stage)).toMatchObject([{ state: 'refused', code: 'forbidden' }])
    github.lack()
    github.failNext(20, 500)
    expect(await stage.run('acme/web CI@main environment=staging')).toContain('nothing was started')
    github.failNext(0, 500)
    expect(startedRuns(github)).toEqual([])
    expect(await stage.run('"acme/web CI"@main environment=staging')).toContain('Started')
    expect(startedRuns(github)).toHaveLength(1)
  })
})

describe('a form', () => {
  test('opens if the branch or a required input is missing, with what is known, and starts what is submitted', async () => {
    const stage = await openRuns()
    const { github } = stage
    github.setFile('acme/web', CI, DEPLOY)
    await type(stage, lin, '/ci run acme/web CI replicas=5')
    const view = await untilModal(
      stage,
      ['Run a build', 'run:ref', '"initial_value":"main"', '"initial_value":"5"'],
      lin,
    )
    expect(saidBy(view)).toContain('Where to')
    expect(saidBy(view)).not.toContain('deploy_token')
    expect(starts(github)).toEqual([])
    await stage.slack.people.select({
      user: lin,
      actionId: 'value',
      blockId: 'run:input:0',
      selected: { selected_option: { text: { type: 'plain_text', text: 'production' }, value: 'production' } },
    })
    await submit(stage, { 'run:ref': 'main', 'run:input:1': '5' }, lin)
    await until('it is answered', () => saidBy(topOf(stage, lin)).includes('Started'))
    expect(startedRuns(github)).toMatchObject([{ inputs: { environment: 'production', replicas: '5' } }])
    expect(rowsOf(stage.folder, "select asked_by, channel, via from request where action = 'run'")).toMatchObject([
      { asked_by: lin, channel: CHANNELS.builds, via: 'modal' },
    ])
  })

  test('cannot be opened by a mention, so the answer says what to type', async () => {
    const stage = await openRuns()
    stage.github.setFile('acme/web', CI, DEPLOY)
    await stage.slack.people.sendEvent(
      {
        type: 'app_mention',
        user: ada,
        channel: CHANNELS.builds,
        ts: '1.000001',
        text: '<@U0BUILDBOT> run acme/web CI@main',
      },
      { eventId: 'Ev0RUN0001' },
    )
    const answer = await until('Ada is answered', () => answersTo(stage, ada).at(-1)?.text)
    expect(answer).toContain('It needs `environment`')
    expect(answer).toContain('/ci run "acme/web CI"@main environment=…')
  })
})
