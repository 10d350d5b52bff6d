import { createHmac } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { pushed as githubRun, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { pushed as gitlabPipeline, startGitlab } from '../../packages/sandbox-gitlab/test/support.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { folderWith } from '../../packages/build-steps/test/report.ts'
import { runProgram } from '../../packages/build-steps/test/support.ts'
import { openStage, rowsOf, send, settled, until, WEBHOOK_SECRET, type Settings, type Stage } from '../support/app.ts'
import { reportSecret } from '../../src/sources/report.ts'
import { cardIn, threadOf, untilCard, untilThread } from '../support/world.ts'

// `buildline report` in a job of GitHub Actions or GitLab CI, which knows its build from the job's environment.

const CARD = CHANNELS.builds

const isKnown = ({ folder }: Stage) =>
  until('the build is known', () => rowsOf(folder, 'select 1 from build').length > 0)

/** Waits until the failed build's card says this. */
const untilShown = ({ slack }: Stage, words: string) =>
  until(`the card says ${words}`, () => {
    const card = cardIn(slack, CARD, 'Failed')
    return JSON.stringify(card ?? null).includes(words) && card
  })

const junit = (...failed: readonly string[]) =>
  `<testsuite>${['passes', ...failed]
    .map(
      (name) => `<testcase name="${name}">${name === 'passes' ? '' : `<failure message="${name} broke"/>`}</testcase>`,
    )
    .join('')}</testsuite>`

async function openBot(
  settings: Settings,
  webhook: { setWebhookUrl: (url: string) => void },
  path: string,
  subscriptions?: readonly string[],
) {
  const stage = await openStage({
    slack: { rates: 'off' },
    settings: { DEFAULT_CHANNEL: CARD, ...settings },
    ...(subscriptions && { subscriptions }),
  })
  webhook.setWebhookUrl(`${stage.app.url}${path}`)
  onTestFinished(() => webhook.setWebhookUrl('http://127.0.0.1:9/nobody'))
  return stage
}

/** Runs the step with a job's environment. @returns what it printed */
async function step(url: string, secret: string, env: Record<string, string>, xml: string, args: string[] = []) {
  const cwd = folderWith({ 'report.xml': xml })
  const given = { BUILDLINE_URL: url, BUILDLINE_SECRET: secret, ...env }
  const { code, stdout, stderr } = await runProgram('buildline', ['report', '--junit', '*.xml', ...args], {
    env: given,
    cwd,
  })
  expect(code).toBe(0)
  return `${stdout}${stderr}`
}

async function openGithub(subscriptions?: readonly string[]) {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const settings = { GITHUB_WEBHOOK_SECRET: webhookSecret, GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token }
  const bot = await openBot(settings, github, '/webhooks/github', subscriptions)
  const repository = (name: string) => String(github.state().repositories.find((one) => one.name === name)!.id)
  const env = (id: number, { attempt = 1, of = 'acme/web', job = 'test' } = {}) => ({
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: of,
    GITHUB_REPOSITORY_ID: repository(of),
    GITHUB_RUN_ID: String(id),
    GITHUB_RUN_ATTEMPT: String(attempt),
    GITHUB_WORKFLOW: 'CI',
    GITHUB_JOB: job,
  })
  const secret = reportSecret(webhookSecret, `github:${repository('acme/web')}`)
  const report = (id: number, xml: string, of: Parameters<typeof env>[1] & { secret?: string } = {}, args?: string[]) =>
    step(bot.app.url, of.secret ?? secret, env(id, of), xml, args)
  return Object.assign(bot, { github, report, secret, webhookSecret })
}

test('in a GitHub job it tells which tests failed, each job its own, in place of what GitHub says of the jobs', async () => {
  const bot = await openGithub()
  const annotations = { test: [{ path: 'a.ts', line: 1, level: 'failure' as const, message: 'said by GitHub' }] }
  const { id } = githubRun(bot.github, { annotations })
  await isKnown(bot)
  expect(await bot.report(id, junit('sums'))).toContain('reported: 1 of 2 tests failed')
  await bot.report(id, junit('rounds', 'adds'), { job: 'e2e' })
  bot.github.finish(id, 'failure', ['test'])
  const card = await untilShown(bot, '3 of 5 tests failed: adds · rounds · sums')
  await untilThread(bot, card, 'adds e2e', 'adds broke', 'sums test')
  await settled(bot.app.url)
  expect(JSON.stringify(cardIn(bot.slack, CARD, 'Failed'))).not.toContain('said by GitHub')
})

test('a report that comes before its run waits for it, and counts for the attempt that it names', async () => {
  const bot = await openGithub()
  bot.github.setWebhookUrl(null)
  const { id } = githubRun(bot.github)
  expect(await bot.report(id, junit('second only'), { attempt: 2 })).toContain('(recorded)')
  await bot.report(id, junit('first', 'too'))
  bot.github.setWebhookUrl(`${bot.app.url}/webhooks/github`)
  bot.github.finish(id, 'failure', ['test'])
  await untilShown(bot, '2 of 3 tests failed: first · too')
  bot.github.rerun(id, { outcome: 'none' })
  bot.github.finish(id, 'failure', ['test'])
  await untilShown(bot, '1 of 2 tests failed: second only')
  // One that comes after the end finds its run, too.
  await bot.report(id, junit('late'), { attempt: 2, job: 'e2e' })
  expect(rowsOf(bot.folder, "select 1 from report where build_key not like 'github:%:%/%'")).toEqual([])
  await untilShown(bot, '2 of 4 tests failed: late')
})

test('the secret that the operator gets for a repository reports on its runs alone, and delivers nothing', async () => {
  const bot = await openGithub()
  const { id } = githubRun(bot.github)
  await isKnown(bot)
  const print = (name: string) =>
    runProgram('buildline', ['report-secret', name], { env: bot.settings, cwd: bot.folder })
  expect(await print('acme/web')).toEqual({ code: 0, stdout: `${bot.secret}\n`, stderr: '' })
  for (const other of ['acme/we', 'web', 'acme'])
    expect(await print(other), other).toMatchObject({ code: 64, stdout: '' })
  expect(await print('acme/none')).toMatchObject({
    code: 64,
    stdout: '',
    stderr: expect.stringContaining('exactly this name'),
  })
  const [named, sum] = bot.secret.split('.')
  const answerTo = async (secret: string, repository: string) => {
    const headers = { authorization: `Basic ${btoa(`ci:${secret}`)}` }
    const body = { build: { project_id: repository, build_id: id }, report: { tests: 1, failures: ['of another'] } }
    return (await send(bot.app.url, body, { path: '/webhooks/github/reports', headers })).status
  }
  const own = named!.replace('github:', '')
  for (const wrong of [WEBHOOK_SECRET, bot.webhookSecret, `github:9${own}.${sum}`, `gitlab:71.${sum}`, `.${sum}`, sum!])
    expect(await answerTo(wrong, own)).toBe(401)
  expect(await answerTo(bot.secret, `9${own}`)).toBe(400)
  const body = JSON.stringify({ workflow_run: {} })
  const signature = `sha256=${createHmac('sha256', bot.secret).update(body).digest('hex')}`
  const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'workflow_run' }
  expect(await send(bot.app.url, body, { path: '/webhooks/github', headers })).toMatchObject({ status: 401 })
  const build = { build_id: id, attempt: 1 }
  const path = `/webhooks/reports/${WEBHOOK_SECRET}`
  for (const project of [`github:12`, `github:12:13`, 'gitlab:71'])
    expect(await send(bot.app.url, { build: { ...build, project_id: project }, report: {} }, { path })).toMatchObject({
      status: 400,
    })
  bot.github.finish(id, 'failure', ['test'])
  await untilCard(bot, ['Failed', 'acme/web'])
  await settled(bot.app.url)
  expect(JSON.stringify(cardIn(bot.slack, CARD, 'Failed'))).not.toContain('tests failed')
  expect(rowsOf(bot.folder, "select 1 from report where body like '%of another%'")).toEqual([])
})

test('in a GitLab job it tells which tests failed, by the name of its job', async () => {
  const gitlab = await startGitlab()
  const { url: siteUrl, token, signingToken, webhookToken } = gitlab.address()
  const webhookSecret = (signingToken ?? webhookToken)!
  const secret = reportSecret(webhookSecret, 'gitlab:71')
  const settings = { GITLAB_URL: siteUrl, GITLAB_TOKEN: token, GITLAB_WEBHOOK_SECRET: webhookSecret }
  const bot = await openBot(settings, gitlab, '/webhooks/gitlab')
  const { id } = gitlabPipeline(gitlab, { outcome: 'none' })
  const env = (part: string) => ({
    GITLAB_CI: 'true',
    CI_PROJECT_ID: '71',
    CI_PROJECT_PATH: 'acme/web',
    CI_PIPELINE_ID: String(id),
    CI_JOB_NAME: `rspec ${part}`,
    CI_JOB_TOKEN: 'glcbt-64_abcdefghijkl',
  })
  // One comes before the pipeline is known.
  expect(await step(bot.app.url, secret, env('1/2'), junit('sums glcbt-64_abcdefghijkl'))).toContain('(recorded)')
  await isKnown(bot)
  await step(bot.app.url, secret, env('2/2'), junit('rounds'))
  gitlab.finish(id, 'failed')
  const card = await untilShown(bot, '2 of 4 tests failed: rounds · sums')
  await untilThread(bot, card, 'rounds rspec 2/2')
  expect(JSON.stringify([card, threadOf(bot, card)])).not.toContain('glcbt')
})

test('each channel is shown as much of what failed as its subscription says', async () => {
  const follow = (channel: string, details = '') => `{ channel: ${channel}, project: acme/web CI${details} }`
  const bot = await openGithub([
    follow(CARD),
    follow(CHANNELS.web, ', details: names'),
    follow(CHANNELS.ops, ', details: none'),
  ])
  const { id } = githubRun(bot.github)
  await isKnown(bot)
  await bot.report(id, junit('sums'))
  bot.github.finish(id, 'failure', ['test'])
  const said = async (channel: string) => {
    const card = await untilCard(bot, ['Failed'], undefined, channel)
    await settled(bot.app.url)
    return JSON.stringify([card, bot.slack.messages(channel)])
  }
  expect(await said(CARD)).toMatch(/1 of 2 tests failed: sums.*sums broke/)
  const names = await said(CHANNELS.web)
  expect([names.includes('1 of 2 tests failed: sums'), names.includes('broke')]).toEqual([true, false])
  const none = await said(CHANNELS.ops)
  expect([none.includes('Failed'), none.includes('sums')]).toEqual([true, false])
})
