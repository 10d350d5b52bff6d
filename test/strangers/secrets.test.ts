import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSandboxCi, type SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { createSandboxGithub, type SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { createSandboxGitlab, type SandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { reportSecret } from '../../src/sources/report.ts'
import { BUILDS } from '../app/channel.ts'
import { buildOf, databaseBytes, delivery, settled, until } from '../support/app.ts'
import { answerTo, NEXT, SLACK_PATH, startBot, type Bot } from './bot.ts'

const SETTLED_MS_MAX = 60_000

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const SECRET = {
  door: 'canary-door-secret/with+signs',
  slackToken: 'xoxb-canary-token-of-the-bot',
  slackSigning: 'canary-signing-secret',
  githubHook: 'canary github hook&secret',
  gitlabHook: 'canary-gitlab-hook/token',
  gitlabSigning: `whsec_${Buffer.from('canary-gitlab-signing-token-32-b').toString('base64')}`,
  gitlabToken: 'glpat-canary-of-gitlab',
}
/** A line in the middle of the key: a part of it would be as bad as the whole. */
const KEY_LINE = privateKey.split('\n')[10]!

/** What GitHub gives to its app: nobody has chosen these. */
const GIVEN = /ghs_sandbox\d+|eyJ[\w-]{20,}\.[\w-]+\.[\w-]+/g

let bot: Bot
let ci: SandboxCi
let github: SandboxGithub
let gitlab: SandboxGitlab
let secrets: string[]
const answers: string[] = []

beforeAll(async () => {
  ci = createSandboxCi()
  github = createSandboxGithub({ app: { id: '4711', publicKey }, webhookSecret: SECRET.githubHook })
  gitlab = createSandboxGitlab({
    token: SECRET.gitlabToken,
    webhookToken: SECRET.gitlabHook,
    signingToken: SECRET.gitlabSigning,
  })
  await Promise.all([ci.start(), github.start(), gitlab.start()])
  const ofCi = botSettings(ci)
  bot = await startBot(
    {
      ...ofCi,
      WEBHOOK_SECRET: SECRET.door,
      SLACK_BOT_TOKEN: SECRET.slackToken,
      SLACK_SIGNING_SECRET: SECRET.slackSigning,
      GITHUB_API_URL: github.url,
      GITHUB_APP_ID: '4711',
      GITHUB_APP_PRIVATE_KEY: privateKey,
      GITHUB_REPOSITORIES: 'acme/web',
      GITHUB_WEBHOOK_SECRET: SECRET.githubHook,
      GITLAB_URL: gitlab.address().url,
      GITLAB_TOKEN: SECRET.gitlabToken,
      GITLAB_PROJECTS: 'acme/web',
      GITLAB_WEBHOOK_SECRET: `${SECRET.gitlabHook},${SECRET.gitlabSigning}`,
      CI_ADMINS: PEOPLE.grace,
      LOG_LEVEL: 'trace',
    },
    [],
    { botToken: SECRET.slackToken, signingSecret: SECRET.slackSigning, rates: 'off' },
  )
  const ofReports = reportSecret(SECRET.githubHook, 'github:12')
  secrets = [...Object.values(SECRET), ofReports, KEY_LINE, ofCi.CI_AUTHORIZATION, ofCi.CI_API_KEY].filter(
    (one) => one !== undefined,
  )
  github.setWebhookUrl(`${bot.url}/webhooks/github`)
  gitlab.setWebhookUrl(`${bot.url}/webhooks/gitlab`)
  ci.setWebhookUrl(`${bot.url}/webhooks/builds/${encodeURIComponent(SECRET.door)}`)
})
afterAll(async () => {
  await bot.stop()
  await Promise.all([ci.stop(), github.stop(), gitlab.stop()])
})

async function ask(path: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(`${bot.url}${path}`, init)
  answers.push(`${JSON.stringify([...response.headers])}${await response.text()}`)
}

const inPath = encodeURIComponent(SECRET.door)
const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
const HOSTED_REPORTS = ['/webhooks/github/reports', '/webhooks/gitlab/reports']
const ENDPOINTS = [
  '/webhooks/builds',
  '/webhooks/reports',
  ...HOSTED_REPORTS,
  '/webhooks/github',
  '/webhooks/gitlab',
  SLACK_PATH,
]

/** Requests every kind of answer that the endpoints have, with the CI service's secret in all parts of the request. */
async function provoke(): Promise<void> {
  const body = JSON.stringify(delivery(buildOf(1, { status: 'error' })))
  const paths = [`/webhooks/builds/${inPath}`, `/webhooks/builds?token=${inPath}`, `/webhooks/builds/${inPath}x`]
  const reports = [`/webhooks/reports/${inPath}`, `/webhooks/reports?token=${inPath}`, `/webhooks/reports/${inPath}x`]
  for (const path of [
    ...paths,
    ...reports,
    `/webhooks/builds/${inPath}/more`,
    `/${inPath}`,
    '/healthz',
    '/readyz',
    '/metrics',
  ])
    for (const given of [body, '{', `{"build":"${SECRET.door}"}`, 'x'.repeat(300_000)])
      await ask(path, { ...json, headers: headersWith(SECRET.door), body: given })
  await ask(paths[0]!, { method: 'DELETE' })
  await ask(paths[0]!, { ...json, headers: { 'content-type': 'text/plain' }, body })
  await ask(paths[0]!, { ...json, headers: { ...json.headers, 'content-encoding': 'gzip' }, body })
  for (let n = 0; n < 30; n++) await ask(paths[2]!, { ...json, body })
  const basic = Buffer.from(`ci:${SECRET.door}`).toString('base64')
  const broken = `POST /webhooks/builds/${inPath} HTTP/1.1\r\nhost: x\r\nauthorization: Basic ${basic}\r\n`
  answers.push(await answerTo(bot.url, `${broken}content-length: -1\r\n\r\n`, NEXT))
  answers.push(await answerTo(bot.url, `${broken}x: ${'y'.repeat(20_000)}\r\n\r\n`, NEXT))
}

/** Sends every secret to every endpoint: in the path, the query, the headers and the body. */
async function misplace(): Promise<void> {
  for (const secret of secrets)
    for (const endpoint of ENDPOINTS)
      for (const path of [
        endpoint,
        `${endpoint}/${encodeURIComponent(secret)}`,
        `${endpoint}?token=${encodeURIComponent(secret)}`,
      ])
        await ask(path, { method: 'POST', headers: headersWith(secret), body: JSON.stringify({ object_kind: secret }) })
}

/** The headers in which senders prove their identity, and those that servers like to log, each with this secret. */
const headersWith = (secret: string) => ({
  ...json.headers,
  'user-agent': secret,
  referer: `http://x/${encodeURIComponent(secret)}`,
  cookie: `a=${secret}`,
  'x-gitlab-token': secret,
  'x-gitlab-event': secret,
  'x-github-event': secret,
  'x-hub-signature-256': `sha256=${secret}`,
  'webhook-id': secret,
  'webhook-timestamp': secret,
  'webhook-signature': `v1,${secret}`,
  'x-slack-signature': `v0=${secret}`,
  'x-slack-request-timestamp': secret,
})

const type = (user: string, text: string) =>
  bot.slack.people.runCommand({ user, channel: BUILDS, command: '/ci', text })

/** Each refuses reads, and then only what comes after them. */
const REFUSALS = [401, 403, 404, 422, 500].flatMap((status) => [[status] as const, [status, 'POST'] as const])

/** The services refuse the bot, one after the other, in each way in which a service refuses. */
async function refuse(): Promise<void> {
  const workflow = /github:\d+:\d+/.exec(bot.output())![0]
  for (const [status, method] of REFUSALS) {
    github.failNext(6, status, method)
    gitlab.failNext(6, status, method)
    ci.addFault({ kind: 'status', statusCode: status, ...(method && { method }), times: 3 })
    await type(PEOPLE.lin, `restart ${workflow}`)
    await type(PEOPLE.lin, 'restart gitlab:71@main')
    await type(PEOPLE.lin, 'restart 11')
    await type(PEOPLE.lin, `status ${workflow}@nowhere`)
    await type(PEOPLE.grace, 'doctor')
    github.endAppTokens()
  }
  github.setOutage(true)
  gitlab.setSwitches({ isDown: true })
  for (const text of [`restart ${workflow}`, 'stop gitlab:71@main', 'status gitlab:71@nowhere', 'doctor'])
    await type(PEOPLE.grace, text)
  github.setOutage(false)
  gitlab.setSwitches({ isDown: false })
}

describe('a secret of the bot', () => {
  it(
    'is in no answer, log line, metric, message or file, whatever goes wrong',
    async () => {
      const run = github.push('acme/web', { branch: 'main', outcome: 'failure', ms: 0 })
      const pipeline = gitlab.push('acme/web', { branch: 'main', outcome: 'failed', ms: 0 })
      expect([run.kind, pipeline.kind]).toEqual(['run', 'pipeline'])
      await provoke()
      await misplace()
      await until('all sources have delivered', () =>
        ['github:', 'gitlab:', '"11"'].every((project) => bot.output().includes(project)),
      )
      await refuse()
      bot.slack.faults.add({ kind: '5xx', times: 2 })
      bot.slack.faults.add({ kind: 'error', error: SECRET.slackToken, times: 2 })
      await ask(`/webhooks/builds/${inPath}`, {
        ...json,
        body: JSON.stringify(delivery(buildOf(2, { status: 'error' }))),
      })
      // A post with an unknown outcome is looked for twice, 20 s apart, before it is sent again.
      await settled(bot.url, SETTLED_MS_MAX)
      await until('the log tells of it', () => bot.output().includes('"build":"2"'))
      await ask('/metrics')
      await ask('/readyz')
      const said = inspect(bot.slack.workspace, { depth: null, maxStringLength: null, maxArrayLength: null })
      const places = { answers: answers.join('\n'), log: bot.output(), file: databaseBytes(bot.folder), said }
      for (const [place, text] of Object.entries(places)) {
        expect(text.length, place).toBeGreaterThan(50)
        expect(found(text), place).toEqual([])
      }
      expect(github.calls().some(({ path }) => path.endsWith('/access_tokens'))).toBe(true)
      for (const calls of [github.calls(), gitlab.calls(), ci.calls()])
        expect(calls.some(({ method, statusCode }) => method !== 'GET' && statusCode >= 400)).toBe(true)
    },
    4 * SETTLED_MS_MAX,
  )

  it('would be found, however it is encoded', () => {
    expect(found(`…${SECRET.door}…`)).toEqual([SECRET.door])
    expect(found(`…${inPath}…`)).toEqual([SECRET.door])
    expect(found(`…${Buffer.from(`ci:${SECRET.door}`).toString('base64')}…`)).toEqual([SECRET.door])
    expect(found(JSON.stringify({ key: privateKey }))).toEqual([KEY_LINE])
    expect(found('token ghs_sandbox12')).toEqual(['ghs_sandbox12'])
    expect(found('nothing')).toEqual([])
  })
})

const found = (text: string): string[] => [
  ...secrets.filter((secret) =>
    [secret, encodeURIComponent(secret), Buffer.from(`ci:${secret}`).toString('base64')].some((way) =>
      text.includes(way),
    ),
  ),
  ...(text.match(GIVEN) ?? []),
]
