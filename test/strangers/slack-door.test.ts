import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  REFUSED_LOGGED_EVERY_MS,
  SSL_CHECK_BYTES_MAX,
  SIGNED_WITHIN_S,
  SLACK_BODY_BYTES_MAX,
} from '../../src/slack/http/gate.ts'
import { signedHeaders } from '../../packages/sandbox-slack/src/sign.ts'
import { ada } from '../features/kit/stage.ts'
import { BUILDS, WEB } from '../app/channel.ts'
import { rowsOf, until } from '../support/app.ts'
import { answerTo, NEXT, residentMB, SLACK_PATH, startBot, statusesIn, type Bot } from './bot.ts'

let bot: Bot
beforeAll(async () => void (bot = await startBot()))
afterAll(() => bot.stop())

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const MARGIN_S = 30

interface Sent {
  type?: string
  headers?: Record<string, string>
  /** how long ago it was signed */
  ageS?: number
  /** what is sent instead of the signed body */
  instead?: string | Buffer
}

/** Sends a body as if Slack had signed it. */
async function send(body: string | Buffer, { type = FORM, headers = {}, ageS = 0, instead = body }: Sent = {}) {
  const signed = signedHeaders(bot.slack.signingSecret, Math.floor(Date.now() / 1_000) - ageS, body.toString())
  return post(instead, { 'content-type': type, ...signed, ...headers })
}

async function post(body: string | Buffer, headers: Record<string, string>) {
  const response = await fetch(`${bot.url}${SLACK_PATH}`, { method: 'POST', headers, body: Buffer.from(body) })
  return { status: response.status, text: await response.text() }
}

const command = (fields: Record<string, string> = {}): string =>
  new URLSearchParams({ command: '/ci', text: 'help', user_id: ada, channel_id: BUILDS, ...fields }).toString()

/** The requests that the bot has accepted and stored. */
const asks = () => rowsOf(bot.folder, 'select * from interaction').length

const payload = (value: unknown): string => new URLSearchParams({ payload: JSON.stringify(value) }).toString()
const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('a request that Slack has not signed', () => {
  it.each<[string, Record<string, string>]>([
    ['without a signature', {}],
    ['with only a time', { 'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000)) }],
    ['with a malformed signature', { 'x-slack-signature': 'v0=', 'x-slack-request-timestamp': '1' }],
    [
      'with an invented signature',
      {
        'x-slack-signature': `v0=${'0'.repeat(64)}`,
        'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000)),
      },
    ],
  ])('is answered 401: %s', async (_, headers) => {
    expect((await post(command(), { 'content-type': FORM, ...headers })).status).toBe(401)
    expect(asks()).toBe(0)
  })

  it.each<[string, string, Sent]>([
    ['for another body', command(), { instead: command({ text: 'stop acme/web' }) }],
    ['too long ago', command(), { ageS: SIGNED_WITHIN_S + MARGIN_S }],
    ['too far in the future', command(), { ageS: -SIGNED_WITHIN_S - MARGIN_S }],
    ['with another time than its header gives', command(), { headers: { 'x-slack-request-timestamp': '1531420618' } }],
  ])('is answered 401 if it was signed %s', async (_, body, sent) => {
    expect((await send(body, sent)).status).toBe(401)
    expect(asks()).toBe(0)
  })

  it('is refused before its body is read: 401 from the head alone, 413 if it announces too many bytes', async () => {
    const head = (bytes: number) => `POST ${SLACK_PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`
    expect(statusesIn(await answerTo(bot.url, head(1_000_000)))).toEqual([401])
    expect(statusesIn(await answerTo(bot.url, head(SLACK_BODY_BYTES_MAX)))).toEqual([401])
    expect(statusesIn(await answerTo(bot.url, head(SLACK_BODY_BYTES_MAX + 1)))).toEqual([413])
  })

  it('may be a check of our certificate by Slack, which contains nothing and changes nothing', async () => {
    const check = { 'content-type': FORM }
    expect(await post('ssl_check=1&token=x', check)).toEqual({ status: 200, text: '' })
    expect((await post('ssl_check=1'.padEnd(SSL_CHECK_BYTES_MAX, '&'), check)).status).toBe(200)
    expect((await post('ssl_check=1'.padEnd(SSL_CHECK_BYTES_MAX + 1, '&'), check)).status).toBe(401)
    expect((await post(`ssl_check=1&${command()}`, check)).status).toBe(200)
    expect((await post('ssl_check=0', check)).status).toBe(401)
    expect((await post('{"ssl_check":"1"}', { 'content-type': JSON_TYPE })).status).toBe(401)
    expect(asks()).toBe(0)
  })

  it(`is logged at most every ${REFUSED_LOGGED_EVERY_MS / 1_000} s, and never with its own words`, async () => {
    const lines = () => bot.output().match(/without a valid, recent signature/g)?.length ?? 0
    await post('canary-of-a-stranger', { 'content-type': 'canary/type' })
    await until('it is told', () => lines() > 0)
    const before = lines()
    for (let n = 0; n < 100; n++) await post('canary-of-a-stranger', { 'x-slack-signature': 'canary-signature' })
    // The answer to a signed request comes after all that was logged before it.
    await send('{"type":"canary-less"}', { type: JSON_TYPE })
    await until('the log has come as far', () => bot.output().includes('does not handle'))
    expect(lines() - before).toBeLessThanOrEqual(1)
    expect(bot.output()).not.toContain('canary-of')
    expect(bot.output()).not.toContain('canary/')
  })
})

describe('a signed request from Slack with no clear meaning', () => {
  it.each<[string, string | Buffer, Sent]>([
    ['two payloads', `${payload({ type: 'block_actions' })}&${payload({ type: 'view_submission' })}`, {}],
    ['a payload that is a list', payload([1, 2]), {}],
    ['a payload that is not JSON', 'payload=%7B', {}],
    ['100,000 nested objects', `payload=${encodeURIComponent(deep(100_000))}`, {}],
    ['100,000 nested objects, as JSON', deep(100_000), { type: JSON_TYPE }],
    ['100,000 nested lists, as JSON', '['.repeat(100_000), { type: JSON_TYPE }],
    ['an empty body, as JSON', '', { type: JSON_TYPE }],
    ['text, as JSON', 'help', { type: JSON_TYPE }],
  ])('is answered 400 if it contains %s', async (_, body, sent) => {
    expect((await send(body, sent)).status).toBe(400)
    expect((await fetch(`${bot.url}/healthz`)).status).toBe(200)
  })

  it('is answered 400 if its bytes are not UTF-8', async () => {
    const bytes = Buffer.from([0x74, 0x3d, 0xff, 0xfe])
    const timestampS = Math.floor(Date.now() / 1_000)
    const { createHmac } = await import('node:crypto')
    const hex = createHmac('sha256', bot.slack.signingSecret).update(`v0:${timestampS}:`).update(bytes).digest('hex')
    const headers = { 'x-slack-request-timestamp': String(timestampS), 'x-slack-signature': `v0=${hex}` }
    expect((await post(bytes, { 'content-type': FORM, ...headers })).status).toBe(400)
  })

  it('is answered 415 if it is compressed, and nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024))
    expect((await send(bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
  })

  it.each<[string, string, Sent]>([
    ['a form with 300,000 keys', Array.from({ length: 300_000 }, (_, n) => `k${n}=`).join('&'), {}],
    ['a form with a million equal keys', 'a&'.repeat(1_000_000), {}],
    ['NUL in every field', command({ text: 'he\0lp', channel_name: '\0', '\0': '\0' }), {}],
    ['names of prototype fields', payload({ type: '__proto__', constructor: { prototype: {} }, ['__proto__']: 1 }), {}],
    ['a type that is an object', payload({ type: { toString: 1 }, user: null, actions: 'x' }), {}],
    ['an event of an unknown type', '{"type":"event_callback","event":{"type":"constructor"}}', { type: JSON_TYPE }],
  ])('is acknowledged, and the bot goes on, if it contains %s', async (_, body, sent) => {
    expect((await send(body, sent)).status).toBe(200)
    expect((await fetch(`${bot.url}/healthz`)).status).toBe(200)
  })

  it('is answered within the three seconds that Slack waits if it mentions the bot in 3 MB of `<@<@<@…`', async () => {
    const text = `<@U0BOT> ${'<@'.repeat(1_500_000)}`
    const event = { type: 'app_mention', user: ada, text, channel: BUILDS, ts: '1700000000.000200' }
    const body = JSON.stringify({ type: 'event_callback', event_id: 'EvLong', event })
    const beganAt = performance.now()
    expect((await send(body, { type: JSON_TYPE })).status).toBe(200)
    expect(performance.now() - beganAt).toBeLessThan(3_000)
  })

  it('is answered 413 if it has 5 MB', async () => {
    expect((await send('x'.repeat(5 * 1024 * 1024))).status).toBe(413)
  })
})

describe('a signed request that somebody repeats', () => {
  it('makes only one subscription, however often it arrives', async () => {
    const { people } = bot.slack
    const text = 'subscribe all failed'
    await people.runCommand({ user: ada, channel: WEB, command: '/ci', text })
    const subscriptions = () => rowsOf(bot.folder, 'select * from subscription').length
    await until('it is made', () => subscriptions() === 1)
    await Promise.all(Array.from({ length: 20 }, () => people.replay('command /ci')))
    await until('all are answered', () => asks() === 0)
    expect(subscriptions()).toBe(1)
  })

  it('does not bring back a rule: subscribe, unsubscribe, and then the first request again', async () => {
    const { signingSecret } = bot.slack
    const signed = (text: string): [body: string, headers: Record<string, string>] => {
      const body = command({ text, channel_id: WEB, trigger_id: `${text}.1` })
      return [body, { 'content-type': FORM, ...signedHeaders(signingSecret, Math.floor(Date.now() / 1_000), body) }]
    }
    const rules = () => rowsOf(bot.folder, "select * from subscription where rules like '%stopped%'").length
    const first = signed('subscribe all stopped')
    await post(...first)
    await until('it is made', () => rules() === 1)
    await post(...signed('unsubscribe all'))
    await until('it is gone', () => rules() === 0)
    expect((await post(...first)).status).toBe(200)
    await until('all are answered', () => asks() === 0)
    expect(rules()).toBe(0)
  })

  it('is handled only once if it is an event', async () => {
    const event = { type: 'app_mention', user: ada, text: '<@U0BOT> help', channel: BUILDS, ts: '1700000000.000100' }
    const body = JSON.stringify({ type: 'event_callback', event_id: 'Ev1', event })
    const headers = signedHeaders(bot.slack.signingSecret, Math.floor(Date.now() / 1_000), body)
    const before = bot.slack.counters.calls('chat.postEphemeral') + bot.slack.counters.calls('chat.postMessage')
    for (let n = 0; n < 20; n++) expect((await post(body, { 'content-type': JSON_TYPE, ...headers })).status).toBe(200)
    await until('all are answered', () => asks() === 0)
    const after = bot.slack.counters.calls('chat.postEphemeral') + bot.slack.counters.calls('chat.postMessage')
    expect(after - before).toBe(1)
  })
})

it('endless bodies that could come from Slack use limited memory, and leave Slack a share of its own', async () => {
  // What the first request from Slack loads into memory must not be counted.
  expect((await send(command())).status).toBe(200)
  const before = residentMB(bot.pid)
  const timestampS = Math.floor(Date.now() / 1_000)
  const head = [
    `POST ${SLACK_PATH} HTTP/1.1`,
    'host: x',
    `content-length: ${SLACK_BODY_BYTES_MAX}`,
    `x-slack-request-timestamp: ${timestampS}`,
    `x-slack-signature: v0=${'0'.repeat(64)}`,
  ]
  const halves = Array.from({ length: 140 }, () =>
    answerTo(bot.url, [...head, '', ''].join('\r\n'), Buffer.alloc(3 * 1024 * 1024)),
  )
  const first = await Promise.race(halves)
  expect(statusesIn(first)).toEqual([503])
  expect((await send(command())).status).toBe(200)
  // 420 MB were sent; what was discarded is garbage for a moment, and is collected bit by bit.
  expect(residentMB(bot.pid) - before).toBeLessThan(240)
})

it('requests on one connection are answered in order, even after a refused one', async () => {
  const answers = statusesIn(await answerTo(bot.url, `GET ${SLACK_PATH} HTTP/1.1\r\nhost: x\r\n\r\n`, NEXT))
  expect(answers).toEqual([405, 200])
})
