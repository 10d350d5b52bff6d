import { expect, onTestFinished, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { checkHost } from '../../src/features/doctor/hosts.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { createGithubClient } from '../../src/sources/github/client.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { answersTo, type } from '../support/world.ts'
import { openStage, rowsOf, settled, until, type Settings, type Stage } from '../support/app.ts'
import { GITHUB_SECRET, GITHUB_TOKEN, openSandboxGithub, type SandboxGithub } from '../support/sandbox-github.ts'

/** A bot that has GitHub alone, in a channel that follows its failures and recoveries. */
async function openWithGithub(settings: Settings): Promise<Stage & { github: SandboxGithub }> {
  const github = await openSandboxGithub()
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      WEBHOOK_SECRET: undefined,
      GITHUB_API_URL: github.apiUrl,
      ...settings,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  return { ...stage, github }
}

const HOOKS = { GITHUB_WEBHOOK_SECRET: GITHUB_SECRET, GITHUB_TOKEN }

async function openHooked() {
  const stage = await openWithGithub(HOOKS)
  stage.github.webhookUrl = `${stage.app.url}/webhooks/github`
  return stage
}

const said = ({ slack }: Stage) => messagesIn(slack, CHANNELS.builds)
const textOf = (message: unknown): string => JSON.stringify(message)

test('a failed run on the default branch gets a card, and its rerun is the second attempt', async () => {
  const stage = await openHooked()
  const { github } = stage
  const run = github.push({ author: 'Ada' })
  await github.advance(run, 'in_progress')
  await settled(stage.app.url)
  expect(said(stage)).toEqual([])
  await github.advance(run, 'completed', 'failure')
  await settled(stage.app.url)
  const [card] = said(stage)
  expect(textOf(card)).toContain('Failed')
  expect(textOf(card)).toContain('acme/web CI')
  expect(textOf(card)).toContain('Ada')
  await stage.slack.people.click({
    user: PEOPLE.ada,
    channel: CHANNELS.builds,
    ts: card!.ts,
    actionId: ACTION_IDS.restart,
  })
  await until('it runs again', () => run.attempt === 2)
  expect(github.calls).toContain(`POST /repos/acme/web/actions/runs/${run.id}/rerun-failed-jobs 201`)
  await github.advance(run, 'completed', 'success')
  await settled(stage.app.url)
  expect(textOf(said(stage)[0])).toContain('Passed on attempt 2 (flaky)')
})

test('a run is cancelled by the Stop button', async () => {
  const stage = await openHooked()
  const { github } = stage
  const failed = github.push()
  await github.advance(failed, 'completed', 'failure')
  await github.advance({ ...failed }, 'completed', 'failure')
  await settled(stage.app.url)
  failed.attempt = 2
  await github.advance(failed, 'in_progress')
  await settled(stage.app.url)
  await stage.slack.people.click({
    user: PEOPLE.ada,
    channel: CHANNELS.builds,
    ts: said(stage)[0]!.ts,
    actionId: ACTION_IDS.stop,
  })
  await until('it is cancelled', () =>
    github.calls.includes(`POST /repos/acme/web/actions/runs/${failed.id}/cancel 202`),
  )
  await until('the card says so', () => textOf(said(stage)[0]).includes('Stopped'))
})

test('what is not signed, or says nothing of a run, is not kept', async () => {
  const stage = await openHooked()
  const { github, folder } = stage
  const run = github.push()
  const body = github.payload(run)
  expect(await github.deliver('workflow_run', body, 'another secret of somebody')).toMatchObject({ status: 401 })
  expect(await github.deliver('ping', { zen: 'Keep it logically awesome.' })).toMatchObject({ status: 202 })
  expect(await github.deliver('workflow_run', { ...body, workflow_run: { id: 'x' } })).toMatchObject({ status: 400 })
  expect(rowsOf(folder, 'select 1 from delivery')).toEqual([])
  const answers = [await github.deliver('workflow_run', body), await github.deliver('workflow_run', body)]
  expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual([
    '202 {"status":"recorded"}',
    '202 {"status":"duplicate"}',
  ])
})

test("a fork's main is not ours", async () => {
  const stage = await openHooked()
  const run = stage.github.push({ fork: 'mallory' })
  await stage.github.advance(run, 'completed', 'failure')
  await settled(stage.app.url)
  expect(said(stage)).toEqual([])
  expect(rowsOf(stage.folder, 'select branch from fact')).toMatchObject([{ branch: 'mallory:main' }])
})

test('commands know the builds of a workflow by its repository', async () => {
  const stage = await openHooked()
  const { github } = stage
  const red = github.push({ branch: 'main' })
  await github.advance(red, 'completed', 'failure')
  await github.advance(github.push({ branch: 'fix/login' }), 'completed', 'success')
  await settled(stage.app.url)
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
  await answered('/ci badge acme/web', /Create status badge/)
  await answered('/ci why', /failed/i)
  // It is the same run, whose number is not its id.
  await answered('/ci restart acme/web@main', /[Rr]estart requested.*CI accepted the request\. The build's card/)
  await until('it runs again', () => red.attempt === 2)
})

test('the doctor says whether GitHub shows the runs of each repository', async () => {
  const github = await openSandboxGithub()
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const examine = (token: string, ...repositories: readonly string[]) => {
    const client = createGithubClient({ apiUrl: github.apiUrl, token, transport })
    const asked = { projects: repositories, ask: (name: string) => client.runs(name) }
    return checkHost('github')({ hosts: { github: asked, gitlab: null } })
  }
  expect(await examine(GITHUB_TOKEN, 'acme/web')).toEqual([{ kind: 'fine', count: 1 }])
  expect(await examine(GITHUB_TOKEN, 'acme/web', 'acme/gone')).toEqual([
    { kind: 'host-refuses', host: 'github', name: 'acme/gone', code: 'not-found', reason: expect.anything() },
  ])
  expect(await examine('a-token-of-nobody', 'acme/web')).toEqual([
    { kind: 'host-refuses', host: 'github', name: 'acme/web', code: 'unauthorized', reason: expect.anything() },
  ])
})
