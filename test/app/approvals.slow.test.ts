import { expect, test } from 'vitest'
import type { Push } from '../../packages/sandbox-github/src/runs.ts'
import type { SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { deliverChanged, pushed, runOf, startGithub } from '../../packages/sandbox-github/test/support.ts'
import type { SandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import type { PushWanted } from '../../packages/sandbox-gitlab/src/push.ts'
import { pipelineOf, startGitlab, pushed as pushedPipeline } from '../../packages/sandbox-gitlab/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { GATE_CALLBACK_ID } from '../../src/features/builds/gate-form.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { openStage, rowsOf, until, type Settings, type Stage } from '../support/app.ts'
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
const cardNow = ({ slack }: Stage, { ts }: Shown) =>
  slack.messages(CHANNELS.builds).find((message) => message['ts'] === ts)
const textOf = (stage: Stage, card: Shown): string => JSON.stringify(cardNow(stage, card))

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

const chosen = (option: Option | undefined) => ({
  gate: { value: { type: 'static_select', selected_option: option } },
})

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
  await stage.slack.people.submitView({ user: lin, values: chosen(eu) })
  await untilThread(stage, card, 'Approve (eu) requested by', 'approved')
  await until('the card leaves it out', () => !textOf(stage, card).includes('eu: @ci-bot'))
  expect(textOf(stage, card)).toContain('production: @ci-bot')
  expect(runOf(github, id).status).toBe('waiting')
  const other = await waiting(stage, { environments: [environments[2]!] }, [
    'waits for us: @grace',
    "no Approve button: the owner of Buildline's token may not approve it",
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
  await until('the card agrees', () => !buttonsOf(cardNow(stage, second.card)).includes(ACTION_IDS.approve))
  expect(writes(github)).toEqual([`${id}/approve 201`])
})

/** The person opens the form and sends it; the answer of the source is lost. */
async function sendUnclearly(stage: Stage, user: string, card: Shown, action: string) {
  await send(stage, user, card, action)
  await until('the person is told', () => formOf(stage, user).includes('Unclear'))
}

test('an approval whose answer was lost is found in the reviews of the run, and not sent again', async () => {
  const stage = await openGithub()
  const { github } = stage
  const lost = await waiting(stage, { environments: [production] }, ['production'], ACTION_IDS.approve)
  const taken = await waiting(stage, { environments: [production] }, ['production'], ACTION_IDS.approve)
  const undone = await waiting(stage, { environments: [production] }, ['production'], ACTION_IDS.approve)
  github.loseNext(1)
  await sendUnclearly(stage, ada, lost.card, ACTION_IDS.approve)
  for (const { card } of [taken, undone]) {
    github.failNext(1, 502, 'POST')
    await sendUnclearly(stage, lin, card, ACTION_IDS.approve)
  }
  github.review(taken.id, 'approved', { by: 'grace', comment: 'Approved by Lin in Slack' })
  await untilThread(stage, lost.card, 'Approve (production) requested by', `<@${ada}>`, 'approved')
  await untilThread(stage, taken.card, 'Approve (production) requested by', `<@${lin}>`, 'somebody else was faster')
  await until('the card agrees', () => !textOf(stage, taken.card).includes('Waiting'))
  expect(threadOf(stage, undone.card).join()).toContain('not clear yet whether GitHub received it')
  expect(requests(stage)).toMatchObject([
    { state: 'confirmed', asked_by: ada },
    { state: 'unconfirmed', code: 'others', asked_by: lin },
    { state: 'unclear', asked_by: lin },
  ])
  expect(writes(github)).toEqual(
    [lost, taken, undone].map(({ id }) => `${id}/pending_deployments ${id === lost.id ? 200 : 502}`),
  )
})

async function openGitlab() {
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
  /** A pipeline that waits, with its card. By default Ada has triggered it. */
  const waitingFor = async (jobs: PushWanted['jobs'], words: string, button?: string, user: string | null = 'Ada') => {
    const { id, iid } = pushedPipeline(gitlab, { jobs, outcome: 'none', user })
    gitlab.advance(id, 'manual')
    const card = await untilCard(stage, ['Waiting', `#${iid} `], button)
    await until(`the card says ${words}`, () => textOf(stage, card).includes(words))
    return { id, card }
  }
  const approvals = () =>
    gitlab
      .calls()
      .flatMap(({ method, path, body, statusCode }) =>
        method === 'POST' && path.endsWith('/approval') ? [{ statusCode, ...(JSON.parse(body) as object) }] : [],
      )
  return { ...stage, gitlab, waitingFor, approvals }
}

const EU = { name: 'eu', stage: 'deploy', environment: 'production' }
const statusesOf = (gitlab: SandboxGitlab, id: number) =>
  pipelineOf(gitlab, id).jobs.map(({ name, status }) => `${name} ${status}`)

test('a deployment is approved at GitLab as the group that has to, and its job is run after that', async () => {
  const stage = await openGitlab()
  const { gitlab } = stage
  const rules = [{ user: 'Grace' }, { group: { name: 'QA', members: ['Release Robot', 'Grace'] } }]
  gitlab.protect('acme/web', 'production', rules)
  const jobs = [{ name: 'unit' }, EU, { name: 'docs', stage: 'deploy', manual: true }]
  const { card } = await stage.waitingFor(jobs, 'waits for production: Grace and QA, deploy: docs', ACTION_IDS.approve)
  expect(buttonsOf(card)).toEqual(expect.arrayContaining([ACTION_IDS.reject, ACTION_IDS.play]))
  const form = await send(stage, lin, card, ACTION_IDS.approve, typing({ gate_comment: 'tested' }))
  expect(form).toContain('GitLab shows it, with your name')
  expect(form).toContain('The job does not start by itself')
  await untilThread(stage, card, 'Approve (production) requested by', `<@${lin}>`, 'approved')
  expect(stage.approvals()).toEqual([
    {
      statusCode: 201,
      status: 'approved',
      represented_as: 'QA',
      comment: expect.stringMatching(/^Approved by Lin in Slack: tested \([\da-f-]{36}\)$/) as string,
    },
  ])
  // One approval is missing. The token's owner has given theirs.
  await until('the card agrees', () => textOf(stage, card).includes('waits for production: Grace, deploy: docs'))
  expect(buttonsOf(cardNow(stage, card))).not.toContain(ACTION_IDS.approve)
  // Of a deployment with no other rule, only the start of its job is left.
  gitlab.protect('acme/web', 'production', rules.slice(1))
  const whole = await stage.waitingFor([EU], 'waits for production: QA', ACTION_IDS.approve)
  expect(buttonsOf(whole.card)).not.toContain(ACTION_IDS.play)
  await send(stage, lin, whole.card, ACTION_IDS.approve)
  await until('its job can be run', () => textOf(stage, whole.card).includes('waits for deploy: eu'))
  expect(statusesOf(gitlab, whole.id)).toEqual(['eu manual'])
  await send(stage, lin, { ...whole.card, ...cardNow(stage, whole.card) }, ACTION_IDS.play)
  await untilThread(stage, whole.card, 'Run (deploy: eu) requested by', `<@${lin}>`, 'started')
  expect(statusesOf(gitlab, whole.id)).toEqual(['eu running'])

  const second = await stage.waitingFor([EU], 'waits for production', ACTION_IDS.reject)
  await send(stage, ada, second.card, ACTION_IDS.reject)
  await untilThread(stage, second.card, 'Reject (production) requested by', `<@${ada}>`, 'rejected')
  expect(pipelineOf(gitlab, second.id).jobs).toMatchObject([{ status: 'failed', failureReason: 'deployment_rejected' }])
  expect(stage.approvals()).toMatchObject([{}, {}, { statusCode: 201, status: 'rejected', represented_as: 'QA' }])
})

test('a deployment that the token may not approve at GitLab has no button, but a reason and a link', async () => {
  const stage = await openGitlab()
  const { gitlab } = stage
  const none = async (words: string, user?: null) => {
    const { card } = await stage.waitingFor([EU], words, undefined, user)
    await until('it says why', () => textOf(stage, card).includes("owner of Buildline's token may not approve it"))
    const buttons = buttonsOf(cardNow(stage, card))
    expect(buttons).toContain(ACTION_IDS.open)
    for (const action of ['approve', 'reject', 'play'] as const) expect(buttons).not.toContain(ACTION_IDS[action])
    return card
  }
  gitlab.protect('acme/web', 'production', [{ group: { name: 'QA', members: ['Grace'] }, required: 2 }])
  await none('waits for production: 2 of QA')
  gitlab.protect('acme/web', 'production', [{ user: 'Grace' }])
  await none('waits for production: Grace')
  gitlab.protect('acme/web', 'production', [{ role: 'Maintainer' }])
  gitlab.setSwitches({ role: 'Developer' })
  await none('waits for production: Maintainers')
  gitlab.setSwitches({ role: 'Maintainer' })
  // Triggered by the token's owner.
  await none('waits for production: Maintainers', null)
  gitlab.setSwitches({ mayApproveOwn: true })
  await stage.waitingFor([EU], 'waits for production: Maintainers', ACTION_IDS.approve, null)
  // Members of a parent group count where the rule says so.
  const members = ['Release Robot']
  gitlab.protect('acme/web', 'production', [{ group: { name: 'QA', members, areInherited: true } }])
  await stage.waitingFor([EU], 'waits for production: QA', ACTION_IDS.approve)
  // Free has no approvals: the job is an ordinary one, and only manual if it says so.
  gitlab.setSwitches({ isFree: true })
  const { card } = await stage.waitingFor([{ ...EU, manual: true }], 'waits for deploy: eu', ACTION_IDS.play)
  expect(buttonsOf(card)).not.toContain(ACTION_IDS.approve)
  expect(stage.approvals()).toEqual([])
})

test('an approval whose answer GitLab has lost is found among those of the deployment', async () => {
  const stage = await openGitlab()
  const { gitlab } = stage
  gitlab.protect('acme/web', 'production', [{ role: 'Maintainer', required: 2 }])
  const lost = await stage.waitingFor([EU], 'waits for production: 2 of Maintainers', ACTION_IDS.approve)
  gitlab.protect('acme/web', 'staging')
  const taken = await stage.waitingFor([{ ...EU, environment: 'staging' }], 'waits for staging', ACTION_IDS.approve)
  gitlab.loseNext(1)
  await sendUnclearly(stage, ada, lost.card, ACTION_IDS.approve)
  gitlab.failNext(1, 502, 'POST')
  await sendUnclearly(stage, lin, taken.card, ACTION_IDS.approve)
  expect(
    gitlab.decide(taken.id, 'staging', 'Grace', { status: 'approved', comment: 'Approved by Lin in Slack' }).kind,
  ).toBe('changed')
  // It still waits for a second approval, and ours is there.
  await untilThread(stage, lost.card, 'Approve (production) requested by', `<@${ada}>`, 'approved')
  await until('the card agrees', () => textOf(stage, lost.card).includes('waits for production: Maintainers'))
  await untilThread(stage, taken.card, 'Approve (staging) requested by', `<@${lin}>`, 'somebody else was faster')
  await until('its job can be run', () => buttonsOf(cardNow(stage, taken.card)).includes(ACTION_IDS.play))
  expect(stage.approvals()).toMatchObject([{ statusCode: 201 }, { statusCode: 502 }])
  // Somebody approves at GitLab while the form is open.
  const third = await stage.waitingFor([{ ...EU, environment: 'staging' }], 'waits for staging', ACTION_IDS.approve)
  await press(stage, ada, third.card, ACTION_IDS.approve)
  await until('the form is open', () => formOf(stage, ada).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  expect(gitlab.decide(third.id, 'staging', 'Grace', { status: 'approved' }).kind).toBe('changed')
  await stage.slack.people.submitView({ user: ada })
  await until('Ada is told', () => formOf(stage, ada).includes('not approved'))
  expect(stage.approvals()).toHaveLength(2)
})

test('a manual job of GitLab is chosen and started, and the token that may not is told', async () => {
  const stage = await openGitlab()
  const { gitlab } = stage
  const jobs: PushWanted['jobs'] = [
    { name: 'unit' },
    { name: 'eu', stage: 'deploy', manual: true },
    { name: 'us', stage: 'deploy', manual: true },
  ]
  const { id, card } = await stage.waitingFor(jobs, 'waits for deploy: eu, deploy: us', ACTION_IDS.play)
  expect(buttonsOf(card)).not.toContain(ACTION_IDS.approve)
  await press(stage, lin, card, ACTION_IDS.play)
  await until('the form is open', () => formOf(stage, lin).includes(`"callback_id":"${GATE_CALLBACK_ID}"`))
  const [, us] = optionsIn(stage.slack.views.stack(lin).at(-1))
  await stage.slack.people.submitView({ user: lin, values: chosen(us) })
  await untilThread(stage, card, 'Run (deploy: us) requested by', `<@${lin}>`, 'started')
  expect(pipelineOf(gitlab, id).jobs.map(({ name, status }) => `${name} ${status}`)).toContain('eu manual')
  expect(gitlab.calls().filter(({ method, path }) => method === 'POST' && path.endsWith('/play'))).toHaveLength(1)
})
