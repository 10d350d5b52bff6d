import { createHmac, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Settings } from '../support/app.ts'
import { buildOf, delivery, prepareStage, send, settled, startApp, until } from '../support/app.ts'
import { startProcess } from '../support/process.ts'
import { BUILDS, saidIn } from './channel.ts'

const SECRETS: Settings = {
  SLACK_BOT_TOKEN: 'xoxb-canary-bot-token-1',
  SLACK_SIGNING_SECRET: 'canary&signing secret-2',
  WEBHOOK_SECRET: 'canary&door="secret"-3,canary-door-secret-4',
  CI_API_KEY: 'canary+api key-5',
}
const DOORS = ['canary&door="secret"-3', 'canary-door-secret-4']

const ways = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ a: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64'),
]

/** The secrets that occur in a log, in any encoding. */
const leaks = (output: string, secrets: readonly string[]): string[] =>
  secrets.filter((secret) => ways(secret).some((way) => output.includes(way)))

/** A CI that answers every call with its own address, headers and body. */
async function startEcho(status: number): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const said = `${request.url} ${JSON.stringify(request.headers)} ${body}`
      const refusal = JSON.stringify({ message: said, error: said, errors: [said] })
      response.writeHead(status, { 'content-type': 'application/json' }).end(refusal)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

/** Starts the bot in this process, with the logger of one of its own. */
async function startHere(settings: Settings) {
  const app = await startApp(settings)
  onTestFinished(() => app.stop())
  return app
}

describe('the log of a whole run', () => {
  const attempts: [name: string, status: number, more: Settings, secrets: string[]][] = [
    ['refused CI', 401, { CI_AUTHORIZATION: 'Bearer canary.authorization-6' }, ['canary.authorization-6']],
    ['broken CI', 500, { CI_AUTHORIZATION: 'canary-authorization-7' }, ['canary-authorization-7']],
    [
      'refused sign-in',
      400,
      { CI_TOKEN_URL: '/token', CI_CLIENT_ID: 'client', CI_CLIENT_SECRET: 'canary:client secret-8' },
      ['canary:client secret-8'],
    ],
  ]

  it.each(attempts)('(%s) contains no secret at any level', async (_, status, more, secrets) => {
    const echo = await startEcho(status)
    const addresses = {
      CI_BASE_URL: echo,
      CI_LEGACY_BASE_URL: echo,
      CI_ORGANIZATION_UUID: 'o',
      DEFAULT_CHANNEL: BUILDS,
    }
    const token = more['CI_TOKEN_URL'] ? { CI_TOKEN_URL: `${echo}/token` } : {}
    const { folder, settings, slack } = await prepareStage({
      slack: { botToken: SECRETS['SLACK_BOT_TOKEN']!, signingSecret: SECRETS['SLACK_SIGNING_SECRET']! },
      settings: { LOG_LEVEL: 'trace', ...addresses, ...SECRETS, ...more, ...token },
    })
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    await knock(url)
    await until('a card is there', () => saidIn(slack, BUILDS).length > 0)
    slack.faults.add({ kind: '5xx', times: 2 })
    slack.faults.add({ kind: 'error', error: SECRETS['SLACK_BOT_TOKEN']!, times: 2 })
    await send(url, delivery(buildOf(2, { status: 'error' })), { path: '/webhooks/builds/canary-door-secret-4' })
    slack.acts.revokeToken()
    await until('the token is of no use', async () => (await fetch(`${url}/readyz`)).status === 503)
    await until('CI was tried in vain', () => bot.output().includes('could not read the projects'))
    bot.kill('SIGTERM')
    await bot.exit
    expect(bot.output().split('\n').length).toBeGreaterThan(10)
    expect(
      leaks(bot.output(), [
        SECRETS['SLACK_BOT_TOKEN']!,
        SECRETS['SLACK_SIGNING_SECRET']!,
        SECRETS['CI_API_KEY']!,
        ...DOORS,
        ...secrets,
      ]),
    ).toEqual([])
  })

  const [hook, plain, signing] = [
    'canary&hook secret-12',
    'canary&hook=token-13',
    `whsec_${Buffer.from('canary-of-a-signing-token-14').toString('base64')}`,
  ]
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

  it.each<[name: string, status: number, settings: Settings, secrets: string[], wasTried: string]>([
    [
      'refused token of GitHub',
      401,
      { GITHUB_TOKEN: 'canary+token of github-15' },
      ['canary+token of github-15'],
      'github',
    ],
    ['broken GitHub', 500, { GITHUB_TOKEN: 'canary-token-of-github-16' }, ['canary-token-of-github-16'], 'github'],
    [
      'refused app of GitHub',
      403,
      { GITHUB_APP_ID: '4711', GITHUB_APP_PRIVATE_KEY: privateKey.replaceAll('\n', String.raw`\n`) },
      [privateKey.split('\n')[10]!],
      'github',
    ],
    [
      'refused token of GitLab',
      401,
      { GITLAB_TOKEN: 'canary+token of gitlab-17' },
      ['canary+token of gitlab-17'],
      'gitlab',
    ],
    ['broken GitLab', 500, { GITLAB_TOKEN: 'canary-token-of-gitlab-18' }, ['canary-token-of-gitlab-18'], 'gitlab'],
  ])('(%s) contains no secret at any level', async (_, status, more, secrets, source) => {
    const echo = await startEcho(status)
    const { settings } = await prepareStage({
      settings: {
        LOG_LEVEL: 'trace',
        WEBHOOK_SECRET: undefined,
        ...(source === 'github'
          ? { GITHUB_API_URL: echo, GITHUB_REPOSITORIES: 'acme/web', GITHUB_WEBHOOK_SECRET: hook }
          : { GITLAB_URL: echo, GITLAB_PROJECTS: 'acme/web', GITLAB_WEBHOOK_SECRET: `${plain},${signing}` }),
        ...more,
      },
    })
    const { url, lines, stop } = await startHere(settings)
    for (const body of ['{}', 'no JSON']) {
      for (const secret of [hook, 'of nobody'])
        await send(url, body, { path: '/webhooks/github', headers: githubHeaders(secret, body) })
      for (const secret of [plain, `${plain}x`])
        await send(url, body, { path: '/webhooks/gitlab', headers: { 'x-gitlab-token': secret } })
      await send(url, body, { path: '/webhooks/gitlab', headers: { 'webhook-id': '1', 'webhook-signature': signing } })
    }
    await until('it was tried in vain', () =>
      /could not list the builds of a project|does not show/.test(lines.join('')),
    )
    await stop()
    expect(leaks(lines.join(''), [hook, plain, signing, ...secrets])).toEqual([])
    expect(lines.join('')).not.toMatch(/eyJ[\w-]{20,}\.[\w-]+\.[\w-]+/)
  })

  it('(no database server) contains no password', async () => {
    const { folder, settings } = await prepareStage({
      settings: { LOG_LEVEL: 'trace', DATABASE_URL: 'postgres://ada:canary-password-9@127.0.0.1:9/db' },
    })
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    await send(url, delivery())
    await until('it says that the database is away', () => bot.output().includes('cannot be reached'))
    bot.kill('SIGTERM')
    expect(await bot.exit).toEqual({ code: 0, signal: null })
    expect(leaks(bot.output(), ['canary-password-9'])).toEqual([])
  })

  const ADDRESS = 'http://ada:canary-password-10@127.0.0.1:9'
  it.each<Settings>([
    { CI_LEGACY_BASE_URL: ADDRESS, CI_API_KEY: 'canary-key-11' },
    { GITHUB_API_URL: ADDRESS, GITHUB_TOKEN: 'canary-key-11', GITHUB_REPOSITORIES: 'acme/web' },
    { GITLAB_URL: ADDRESS, GITLAB_TOKEN: 'canary-key-11', GITLAB_PROJECTS: 'acme/web' },
  ])('(an address with a password) contains no password: %j', async (addressed) => {
    const { settings } = await prepareStage({ settings: { ...addressed, LOG_LEVEL: 'trace' } })
    const { lines } = await startHere(settings)
    await until('it was tried in vain', () => /could not (?:read the projects|list the builds)/.test(lines.join('')))
    expect(leaks(lines.join(''), ['canary-password-10', 'canary-key-11'])).toEqual([])
  })

  it('would be found to contain one, in any encoding', () => {
    const secret = 'a/b "c"'
    for (const way of ways(secret)) expect(leaks(`{"msg":"${way}"}`, [secret])).toEqual([secret])
    expect(leaks('{"msg":"nothing"}', [secret])).toEqual([])
  })
})

const githubHeaders = (secret: string, body: string) => ({
  'x-github-event': 'workflow_run',
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

/** Sends right and wrong secrets in every possible way, and a request that is not by Slack. */
async function knock(url: string): Promise<void> {
  const [first, second] = DOORS as [string, string]
  const basic = `Basic ${Buffer.from(`ci:${first}`).toString('base64')}`
  await send(url, delivery({ status: 'error' }), { path: `/webhooks/builds/${encodeURIComponent(first)}` })
  await send(url, delivery(), { path: `/webhooks/builds?token=${encodeURIComponent(second)}` })
  await send(url, delivery(), { path: '/webhooks/builds', headers: { authorization: basic } })
  await send(url, { ...delivery(), report: { failed: 1 } }, { path: `/webhooks/reports/${encodeURIComponent(first)}` })
  await send(url, delivery(), { path: '/webhooks/reports', headers: { authorization: basic } })
  await send(url, delivery(), { path: `/webhooks/reports/x${encodeURIComponent(first)}` })
  await send(url, delivery(), { path: `/webhooks/builds/x${encodeURIComponent(first)}` })
  await send(url, 'no JSON', { path: `/webhooks/builds/${second}` })
  await send(url, 'x', {
    path: '/slack/events',
    headers: { 'x-slack-signature': 'v0=00', 'x-slack-request-timestamp': '1' },
  })
  await send(url, delivery(), { path: `/webhooks/builds/${second}/more` })
  await settled(url).catch(() => {})
}
