import { expect, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { signatureOf } from '../../packages/sandbox-github/src/hooks.ts'
import type { Push } from '../../packages/sandbox-github/src/runs.ts'
import type { SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { deliverChanged, NOWHERE, pushed, runOf, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { answersTo, press, type } from '../support/world.ts'
import { openStage, rowsOf, settled, until, type Stage, type StageOptions } from '../support/app.ts'

type GithubStage = Stage & { github: SandboxGithub }

/** A bot with GitHub only, in a channel that follows failures and recoveries, unless `subscriptions` say otherwise. */
async function openHooked(options: Pick<StageOptions, 'subscriptions'> = {}): Promise<GithubStage> {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const stage = await openStage({
    ...options,
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      WEBHOOK_SECRET: undefined,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_WEBHOOK_SECRET: webhookSecret,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  return { ...stage, github }
}

/** Waits until everything is delivered and sent. */
async function rested({ github, app }: GithubStage): Promise<void> {
  await github.settle()
  await settled(app.url)
}

const called = (github: SandboxGithub) =>
  github.calls().map(({ method, path, statusCode }) => `${method} ${path} ${statusCode}`)

const said = ({ slack }: Stage) => messagesIn(slack, CHANNELS.builds)
const textOf = (message: unknown): string => JSON.stringify(message)

test('a failed run on the default branch gets a card, and its rerun is the second attempt', async () => {
  const stage = await openHooked()
  const { github } = stage
  const { id } = pushed(github, { author: { name: 'Ada' }, ms: 0 })
  await rested(stage)
  expect(said(stage)).toEqual([])
  github.finish(id, 'failure')
  await rested(stage)
  const [card] = said(stage)
  expect(textOf(card)).toContain('Failed')
  expect(textOf(card)).toContain('acme/web CI')
  expect(textOf(card)).toContain('Ada')
  await press(stage, PEOPLE.ada, said(stage)[0]!, ACTION_IDS.restart)
  await until('it has run again', () => runOf(github, id).attempt === 2 && runOf(github, id).status === 'completed')
  expect(called(github)).toContain(`POST /repos/acme/web/actions/runs/${id}/rerun-failed-jobs 201`)
  await rested(stage)
  expect(textOf(said(stage)[0])).toContain('Passed on attempt 2 (flaky)')
})

test('a run that failed to start has no failed jobs, and is rerun as a whole', async () => {
  const stage = await openHooked()
  const { github } = stage
  const { id } = pushed(github)
  github.finish(id, 'startup_failure')
  await rested(stage)
  await press(stage, PEOPLE.ada, said(stage)[0]!, ACTION_IDS.restart)
  await until('it was asked for', () => called(github).some((call) => call.startsWith('POST')))
  expect(called(github)).toContain(`POST /repos/acme/web/actions/runs/${id}/rerun 201`)
})

test('a restart is confirmed by the attempt that GitHub shows, even if an earlier one never arrived', async () => {
  const stage = await openHooked()
  const { github } = stage
  const { id } = pushed(github)
  github.finish(id, 'failure')
  await rested(stage)
  github.setWebhookUrl(null)
  github.rerun(id, { outcome: 'none' })
  github.finish(id, 'failure')
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  await press(stage, PEOPLE.ada, said(stage)[0]!, ACTION_IDS.restart)
  await until('it has run again', () => runOf(github, id).attempt === 3 && runOf(github, id).status === 'completed')
  await rested(stage)
  expect(rowsOf(stage.folder, 'select state from request')).toEqual([{ state: 'confirmed' }])
  const thread = stage.slack.messages(CHANNELS.builds).map(({ text }) => String(text))
  expect(thread.filter((text) => text.includes('Restart requested'))).toEqual([expect.stringContaining('attempt 3')])
})

test('the Stop button cancels a run', async () => {
  const stage = await openHooked()
  const { github } = stage
  const { id } = pushed(github)
  github.finish(id, 'failure')
  await rested(stage)
  github.rerun(id, { outcome: 'none' })
  await rested(stage)
  await press(stage, PEOPLE.ada, said(stage)[0]!, ACTION_IDS.stop)
  await until('it is cancelled', () => called(github).includes(`POST /repos/acme/web/actions/runs/${id}/cancel 202`))
  await until('the card says so', () => textOf(said(stage)[0]).includes('Stopped'))
})

test('requests without a valid signature, or about other things than runs, are not stored', async () => {
  const { github, folder, app } = await openHooked()
  const [url, secret] = [`${app.url}/webhooks/github`, github.address().webhookSecret]
  github.setWebhookUrl('http://127.0.0.1:9/nobody')
  pushed(github)
  const { guid, body } = github.deliveries().at(-1)!
  const statusOf = async (event: string, bytes: string, key: string) => {
    const json = { 'content-type': 'application/json' }
    const headers = { ...json, 'x-github-event': event, 'x-hub-signature-256': signatureOf(key, bytes) }
    return (await fetch(url, { method: 'POST', headers, body: bytes })).status
  }
  expect(await statusOf('workflow_run', body, 'another secret of somebody')).toBe(401)
  expect(await statusOf('ping', '{"zen":"Keep it logically awesome."}', secret)).toBe(202)
  const unread = JSON.stringify({ ...(JSON.parse(body) as object), workflow_run: { id: 'x' } })
  expect(await statusOf('workflow_run', unread, secret)).toBe(400)
  expect(rowsOf(folder, 'select 1 from delivery')).toEqual([])
  github.setWebhookUrl(url)
  github.resendInOrder([guid, guid])
  await github.settle()
  const answers = github.deliveries().filter(({ isRedelivery }) => isRedelivery)
  expect(answers.map(({ statusCode, answer }) => `${statusCode} ${answer}`)).toEqual([
    '202 {"status":"recorded"}',
    '202 {"status":"duplicate"}',
  ])
})

test('main of a fork is another branch than main', async () => {
  const stage = await openHooked()
  stage.github.finish(pushed(stage.github, { fork: 'mallory' }).id, 'failure')
  await rested(stage)
  expect(said(stage)).toEqual([])
  expect(rowsOf(stage.folder, 'select distinct branch from fact')).toMatchObject([
    { branch: 'mallory:main · pull request' },
  ])
})

test('a run that somebody approved is no second try, although GitHub counts it as its second attempt', async () => {
  const stage = await openHooked({
    subscriptions: [`{ channel: ${CHANNELS.builds}, project: all, branch: '*', events: [waiting, failed, passed] }`],
  })
  const { github } = stage
  const { id } = pushed(github, { fork: 'mallory', needsApproval: true })
  await rested(stage)
  expect(textOf(said(stage)[0])).toContain('*Waiting*')
  github.approve(id)
  github.finish(id, 'failure')
  await rested(stage)
  expect(runOf(github, id).attempt).toBe(2)
  expect(textOf(said(stage)[0])).toContain('*Failed*')
  expect(textOf(said(stage))).not.toMatch(/attempt 2\b/i)
  github.rerun(id, { outcome: 'none' })
  github.finish(id, 'success')
  await rested(stage)
  expect(textOf(said(stage)[0])).toContain('Passed on attempt 2 (flaky)')
})

test('commands find the builds of a workflow by its repository', async () => {
  const stage = await openHooked()
  const { github } = stage
  const { id } = pushed(github)
  github.finish(id, 'failure')
  github.finish(pushed(github, { branch: 'fix/login' }).id, 'success')
  await rested(stage)
  const answered = async (line: string, words: RegExp) => {
    await type(stage, PEOPLE.ada, line)
    await until(line, () => answersTo(stage, PEOPLE.ada).some((answer) => words.test(JSON.stringify(answer))))
  }
  await answered('/ci list', /acme\/web CI/)
  await answered('/ci status acme/web', /Failed.*main/)
  await answered('/ci status acme/web@nothing', /Type `\/ci status \\"acme\/web CI\\"` to see its branches/)
  await answered('/ci status "acme/web CI"', /Failed.*main/)
  await answered('/ci status #1', /Failed.*main/)
  await answered('/ci status acme/web #2', /Passed/)
  // The run is the same; its number differs from its id.
  await answered(
    '/ci restart acme/web@main',
    /[Rr]estart requested.*GitHub accepted the request\. The build's card shows/,
  )
  await until('it runs again', () => runOf(github, id).attempt === 2)
})

test.each<[string, Push]>([
  ['of a fork', { fork: 'mallory', event: 'pull_request' }],
  ["of a pull request from the repository's own main", { event: 'pull_request' }],
  ['of a tag', { tag: 'v1' }],
  ['without a branch', { branch: null, event: 'dynamic' }],
  ['with a name of its own', { runName: 'Deploy for Ada' }],
  ['of a schedule of another workflow', { workflow: 'Nightly', event: 'schedule' }],
])('a run %s can be restarted', async (_, push) => {
  const stage = await openHooked()
  const { github } = stage
  const { id } = pushed(github, push)
  github.finish(id, 'failure')
  await rested(stage)
  await type(stage, PEOPLE.ada, '/ci restart #1')
  await until('it runs again', () => runOf(github, id).attempt === 2)
  expect(called(github)).toContain(`POST /repos/acme/web/actions/runs/${id}/rerun-failed-jobs 201`)
})

test('without a default branch in a delivery, no branch counts as it until GitHub was asked', async () => {
  const stage = await openHooked()
  stage.github.setWebhookUrl(NOWHERE)
  const { id } = pushed(stage.github, { branch: 'fix/login' })
  stage.github.finish(id, 'failure')
  expect(
    await deliverChanged(stage.github, stage.app.url, (body) => ({
      ...body,
      repository: { ...body.repository, default_branch: null },
    })),
  ).toBe(202)
  await settled(stage.app.url)
  expect(said(stage)).toEqual([])
  const [project] = rowsOf(stage.folder, 'select rules, claim from project')
  const isToBeAsked = project!['claim'] !== null
  expect(isToBeAsked || String(project!['rules']).includes('"main"')).toBe(true)
})

test('a delivered pull request is read with its number', async () => {
  const stage = await openHooked()
  stage.github.setWebhookUrl(NOWHERE)
  pushed(stage.github, { branch: 'fix', event: 'pull_request' })
  const request = { pull_requests: [{ id: 1, number: 87, head: { ref: 'fix' }, base: { ref: 'main' } }] }
  expect(
    await deliverChanged(stage.github, stage.app.url, (body) => ({
      ...body,
      workflow_run: { ...body.workflow_run, ...request },
    })),
  ).toBe(202)
  await settled(stage.app.url)
  expect(rowsOf(stage.folder, 'select distinct branch from fact')).toEqual([{ branch: 'fix · #87' }])
})
