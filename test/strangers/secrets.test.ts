import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { createSandboxCi, type SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { BUILDS } from '../app/channel.ts'
import { buildOf, databaseBytes, delivery, settled, until } from '../support/app.ts'
import { answerTo, NEXT, SLACK_PATH, startBot, type Bot } from './bot.ts'

const DOOR = 'canary-door-secret/with+signs'
const SETTLED_MS_MAX = 60_000
const [TOKEN, SIGNING] = ['xoxb-canary-token-of-the-bot', 'canary-signing-secret']

let bot: Bot
let ci: SandboxCi
let secrets: string[]
const answers: string[] = []
beforeAll(async () => {
  ci = createSandboxCi()
  await ci.start()
  const settings = botSettings(ci)
  bot = await startBot(
    { ...settings, WEBHOOK_SECRET: DOOR, SLACK_BOT_TOKEN: TOKEN, SLACK_SIGNING_SECRET: SIGNING, LOG_LEVEL: 'trace' },
    [],
    { botToken: TOKEN, signingSecret: SIGNING },
  )
  secrets = [DOOR, TOKEN, SIGNING, settings.CI_AUTHORIZATION, settings.CI_API_KEY].filter((one) => one !== undefined)
})
afterAll(async () => {
  await bot.stop()
  await ci.stop()
})

async function ask(path: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(`${bot.url}${path}`, init)
  answers.push(`${JSON.stringify([...response.headers])}${await response.text()}`)
}

const inPath = encodeURIComponent(DOOR)
const json = { method: 'POST', headers: { 'content-type': 'application/json' } }

/** Requests every kind of answer that the endpoints have, with the secrets in all parts of the request. */
async function provoke(): Promise<void> {
  const body = JSON.stringify(delivery(buildOf(1, { status: 'error' })))
  const everywhere = { ...json.headers, 'user-agent': SIGNING, referer: `http://x/${inPath}`, cookie: `a=${TOKEN}` }
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
    for (const given of [body, '{', `{"build":"${DOOR}"}`, 'x'.repeat(300_000)])
      await ask(path, { ...json, headers: everywhere, body: given })
  await ask(paths[0]!, { method: 'DELETE' })
  await ask(paths[0]!, { ...json, headers: { 'content-type': 'text/plain' }, body })
  await ask(paths[0]!, { ...json, headers: { ...json.headers, 'content-encoding': 'gzip' }, body })
  for (let n = 0; n < 30; n++) await ask(paths[2]!, { ...json, body })
  await ask(SLACK_PATH, { method: 'POST', headers: { 'x-slack-signature': `v0=${SIGNING}` }, body: `token=${TOKEN}` })
  const basic = Buffer.from(`ci:${DOOR}`).toString('base64')
  const broken = `POST /webhooks/builds/${inPath} HTTP/1.1\r\nhost: x\r\nauthorization: Basic ${basic}\r\n`
  answers.push(await answerTo(bot.url, `${broken}content-length: -1\r\n\r\n`, NEXT))
  answers.push(await answerTo(bot.url, `${broken}x: ${'y'.repeat(20_000)}\r\n\r\n`, NEXT))
}

describe('a secret of the bot', () => {
  it(
    'is in no answer, log line, metric, message or file, whatever goes wrong',
    async () => {
      await provoke()
      await bot.slack.people.runCommand({ user: PEOPLE.lin, channel: BUILDS, command: '/ci', text: 'status acme/web' })
      ci.addFault({ kind: 'status', statusCode: 500, times: 5 })
      await bot.slack.people.runCommand({ user: PEOPLE.lin, channel: BUILDS, command: '/ci', text: 'restart acme/web' })
      bot.slack.faults.add({ kind: '5xx', times: 2 })
      await ask(`/webhooks/builds/${inPath}`, {
        ...json,
        body: JSON.stringify(delivery(buildOf(2, { status: 'error' }))),
      })
      // A post with an unknown outcome is looked for twice, 20 s apart, before it is sent again.
      await settled(bot.url, SETTLED_MS_MAX)
      await until('the log tells of it', () => bot.output().includes('"build":"2"'))
      await ask('/metrics')
      const said = JSON.stringify(bot.slack.messages(BUILDS))
      const places = { answers: answers.join('\n'), log: bot.output(), file: databaseBytes(bot.folder), said }
      for (const [place, text] of Object.entries(places)) {
        expect(text.length, place).toBeGreaterThan(50)
        expect(found(text), place).toEqual([])
      }
    },
    2 * SETTLED_MS_MAX,
  )

  it('would be found, however it is encoded', () => {
    expect(found(`…${DOOR}…`)).toEqual([DOOR])
    expect(found(`…${inPath}…`)).toEqual([DOOR])
    expect(found(`…${Buffer.from(`ci:${DOOR}`).toString('base64')}…`)).toEqual([DOOR])
    expect(found('nothing')).toEqual([])
  })
})

const found = (text: string): string[] =>
  secrets.filter((secret) =>
    [secret, encodeURIComponent(secret), Buffer.from(`ci:${secret}`).toString('base64')].some((way) =>
      text.includes(way),
    ),
  )
