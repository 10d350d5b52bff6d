import { expect, test } from 'vitest'
import type { Push } from '../../packages/sandbox-github/src/runs.ts'
import type { SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { deliverChanged, pushed, runOf, startGithub } from '../../packages/sandbox-github/test/support.ts'
import type { PushWanted } from '../../packages/sandbox-gitlab/src/push.ts'
import { pipelineOf, startGitlab, pushed as pushedPipeline } from '../../packages/sandbox-gitlab/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { GATE_CALLBACK_ID } from '../../src/features/builds/gate-form.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { openStage, rowsOf, settled, until, type Settings, type Stage } from '../support/app.ts'
import { typing } from './project-forms.ts'
import { buttonsOf, press, threadOf, untilCard, untilThread, type Shown } from '../support/world.ts'

const FOLLOWS = [`{ channel: ${CHANNELS.builds}, project: all, branch: '*', events: [waiting, failed, passed] }`]
const { ada, lin, gus } = PEOPLE

type GithubStage = Stage & { github: SandboxGithub }

async function openGithub(settings: Settings = {}): Promise<GithubStage> {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const stage = await openStage({
    subscriptions: FOLLOWS,
    settings: {
      WEBHOOK_SECRET: undefined,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_WEBHOOK_SECRET: webhookSecret,
      ...settings,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  return { ...stage, github }
}

const production = { name: 'production', mayReview: true, reviewers: ['ada', 'team/ops'] }

/** A run that waits, with its card. GitHub delivers no event when a run begins to wait: it is found by reading. */
async function waiting(stage: GithubStage, push: Push, words: readonly string[], button?: string) {
  const { github, app } = stage
  const { id, number } = pushed(github, push)
  if (push.environments)
    await deliverChanged(github, app.url, (body) => ({
      ...body,
      workflow_run: { ...body.workflow_run, status: 'waiting' },
    }))
  const card = await untilCard(stage, ['Waiting', `#${number} `], button)
  for (const one of words) await until(`the card says ${one}`, () => textOf(stage, card).includes(one))
  return { id, card }
}

/** The whole card as it is now. */
const textOf = ({ slack }: Stage, { ts }: Shown): string =>
  JSON.stringify(slack.messages(CHANNELS.builds).find((message) => message['ts'] === ts))

const writes = (github: SandboxGithub): string[] =>
  github
    .calls()
    .flatMap(({ method, path, statusCode }) => (method === 'POST' ? `${path.split('/runs/')[1]} ${statusCode}` : []))

interface Option {
  text: unknown
  value: string
}

/** The options of the form's menu. */
const optionsIn = (view: unknown): Option[] =>
  (view as { blocks: { element?: { options?: Option[] } }[] }).blocks.flatMap(({ element }) => element?.options ?? [])

const requests = ({ folder }: Stage) =>
  rowsOf(folder, 'select action, state, code, asked_by from request order by asked_at')

/** The text of the person's open form, or of the answer in it. */
const formOf = ({ slack }: Stage, user: string): string => JSON.stringify(slack.views.stack(user).at(-1) ?? '')

async function send(stage: Stage, user: string, card: Shown, action: string, values: ReturnType<typeof typing> = {}) {
  await press(stage, user, card, action)
  await until('the form is open', () => formOf(stage, user).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  const form = formOf(stage, user)
  await stage.slack.people.submitView({ user, values: values })
  return form
}

test('a deployment is approved and rejected at GitHub with the name of the person and their words', async () => {
  const stage = await openGithub()
  const { github } = stage
  const { id, card } = await waiting(
    stage,
    { environments: [production] },
    ['waits for production: @ci-bot or @ada or team/ops'],
    ACTION_IDS.approve,
  )
  const form = await send(stage, lin, card, ACTION_IDS.approve, typing({ gate_comment: 'tested on *staging*' }))
  expect(form).toContain('This cannot be taken back')
  await until('it runs', () => runOf(github, id).status === 'in_progress')
  expect(writes(github)).toEqual([`${id}/pending_deployments 200`])
  expect(github.calls().find(({ method }) => method === 'POST')).toMatchObject({
    body: expect.stringContaining('Approved by Lin in Slack: tested on *staging*') as string,
  })
  await untilThread(stage, card, 'Approve (production) requested by', `<@${lin}>`, 'approved')
  expect(threadOf(stage, card).filter((line) => line.includes('Approve'))).toHaveLength(1)
  expect(requests(stage)).toEqual([{ action: 'approve', state: 'confirmed', code: null, asked_by: lin }])
  const second = await waiting(stage, { environments: [production] }, ['production'], ACTION_IDS.reject)
  await send(stage, ada, second.card, ACTION_IDS.reject)
  await until('it was rejected', () => runOf(github, second.id).conclusion === 'failure')
  await untilThread(stage, second.card, 'Reject (production) requested by', `<@${ada}>`, 'rejected')
})

test('of several environments one is chosen, and only those that the token may approve are offered', async () => {
  const stage = await openGithub({ CI_APPROVERS: `${lin},${gus}` })
  const { github } = stage
  const environments = [
    production,
    { name: 'eu', mayReview: true },
    { name: 'us', mayReview: false, reviewers: ['grace'] },
  ]
  const { id, card } = await waiting(stage, { environments }, ['eu: @ci-bot', 'us: @grace'], ACTION_IDS.approve)
  await press(stage, ada, card, ACTION_IDS.approve)
  await until('Ada is refused', () => formOf(stage, ada).includes('you cannot approve builds'))
  await press(stage, gus, card, ACTION_IDS.approve)
  await until('the guest is refused', () => formOf(stage, gus).includes('Guests can only read'))
  await press(stage, lin, card, ACTION_IDS.approve)
  await until('the form is open', () => formOf(stage, lin).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  const form = formOf(stage, lin)
  expect([form.includes('"production"'), form.includes('"eu"'), form.includes('"us"')]).toEqual([true, true, false])
  await stage.slack.people.submitView({ user: lin })
  expect(writes(github)).toEqual([])
  const [, eu] = optionsIn(stage.slack.views.stack(lin).at(-1))
  await stage.slack.people.submitView({
    user: lin,
    values: { gate: { value: { type: 'static_select', selected_option: eu } } },
  })
  await untilThread(stage, card, 'Approve (eu) requested by', 'approved')
  await until('the card leaves it out', () => !textOf(stage, card).includes('eu: @ci-bot'))
  expect(textOf(stage, card)).toContain('production: @ci-bot')
  expect(runOf(github, id).status).toBe('waiting')
  const other = await waiting(stage, { environments: [environments[2]!] }, [
    'waits for us: @grace',
    "no Approve button: the owner of Buildline's token is not among its reviewers",
  ])
  expect(buttonsOf(other.card)).not.toContain(ACTION_IDS.approve)
})

test('the run of a first-time contributor is approved, and whoever comes later is told', async () => {
  const stage = await openGithub()
  const { github } = stage
  const push = { fork: 'mallory', needsApproval: true }
  const { id, card } = await waiting(stage, push, ["let this contributor's run begin"], ACTION_IDS.approve)
  expect(buttonsOf(card)).not.toContain(ACTION_IDS.reject)
  await press(stage, ada, card, ACTION_IDS.approve)
  await until('the form is open', () => formOf(stage, ada).includes('has not contributed before'))
  expect(await send(stage, lin, card, ACTION_IDS.approve)).not.toContain('"Comment"')
  await until('it runs', () => runOf(github, id).attempt === 2)
  await untilThread(stage, card, 'Approve requested by', `<@${lin}>`, 'approved')
  await stage.slack.people.submitView({ user: ada })
  await until('Ada is told', () => formOf(stage, ada).includes('somebody else was faster'))
  expect(writes(github)).toEqual([`${id}/approve 201`])
  // Approved at GitHub, without an event: the card still has the button.
  const second = await waiting(stage, { environments: [production] }, ['production'], ACTION_IDS.approve)
  await press(stage, ada, second.card, ACTION_IDS.approve)
  await until('the form is open', () => formOf(stage, ada).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  github.setWebhookUrl(null)
  github.review(second.id, 'approved')
  await stage.slack.people.submitView({ user: ada })
  await until('Ada is told', () => formOf(stage, ada).includes('not approved'))
  await until('the card agrees', () => !buttonsOf(textOf(stage, second.card)).includes(ACTION_IDS.approve))
  expect(writes(github)).toEqual([`${id}/approve 201`])
})

test('an approval that GitHub answers unclearly is looked up and not sent again', async () => {
  const stage = await openGithub()
  const { github } = stage
  const { id, card } = await waiting(stage, { environments: [production] }, ['production'], ACTION_IDS.approve)
  await press(stage, ada, card, ACTION_IDS.approve)
  await until('the form is open', () => formOf(stage, ada).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  github.failNext(1, 502, 'POST')
  await stage.slack.people.submitView({ user: ada })
  await until('Ada is told', () => formOf(stage, ada).includes('Unclear'))
  await settled(stage.app.url)
  expect(writes(github)).toEqual([`${id}/pending_deployments 502`])
  expect(requests(stage)).toMatchObject([{ action: 'approve', asked_by: ada }])
  expect(requests(stage)).not.toMatchObject([{ state: 'confirmed' }])
})

test('a manual job of GitLab is chosen and started, and the token that may not is told', async () => {
  const gitlab = await startGitlab()
  const { url: siteUrl, token, webhookToken } = gitlab.address()
  const stage = await openStage({
    subscriptions: FOLLOWS,
    settings: {
      WEBHOOK_SECRET: undefined,
      GITLAB_URL: siteUrl,
      GITLAB_TOKEN: token,
      GITLAB_WEBHOOK_SECRET: webhookToken!,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  gitlab.setWebhookUrl(`${stage.app.url}/webhooks/gitlab`)
  const jobs: PushWanted['jobs'] = [
    { name: 'unit' },
    { name: 'eu', stage: 'deploy', manual: true },
    { name: 'us', stage: 'deploy', manual: true },
  ]
  const { id } = pushedPipeline(gitlab, { jobs, outcome: 'none' })
  gitlab.advance(id, 'manual')
  const card = await untilCard(stage, ['Waiting', '#1 '], ACTION_IDS.play)
  expect(textOf(stage, card)).toContain('waits for deploy: eu, deploy: us')
  expect(buttonsOf(card)).not.toContain(ACTION_IDS.approve)
  await press(stage, lin, card, ACTION_IDS.play)
  await until('the form is open', () => formOf(stage, lin).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  const [, us] = optionsIn(stage.slack.views.stack(lin).at(-1))
  const choose = () =>
    stage.slack.people.submitView({
      user: lin,
      values: { gate: { value: { type: 'static_select', selected_option: us } } },
    })
  await choose()
  await untilThread(stage, card, 'Run (deploy: us) requested by', `<@${lin}>`, 'started')
  expect(pipelineOf(gitlab, id).jobs.map(({ name, status }) => `${name} ${status}`)).toContain('eu manual')
  expect(gitlab.calls().filter(({ method, path }) => method === 'POST' && path.endsWith('/play'))).toHaveLength(1)
})
