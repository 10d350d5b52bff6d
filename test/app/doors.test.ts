import { describe, expect, it } from 'vitest'
import { delivery, openStage, send, sendAll, settled, startApp, until } from '../support/app.ts'
import { head, openWire, statuses } from '../support/wire.ts'
import { BUILDS, headlines, untilSaid } from './channel.ts'

const followed = { settings: { DEFAULT_CHANNEL: BUILDS } }

async function answerOf(url: string): Promise<[status: number, body: unknown]> {
  const response = await fetch(url)
  return [response.status, await response.json()]
}

describe('the health of the bot', () => {
  it('is given by /healthz as long as the process runs, whatever Slack does', async () => {
    const { app, slack } = await openStage(followed)
    expect(await answerOf(`${app.url}/healthz`)).toEqual([200, { status: 'up' }])
    slack.faults.add({ kind: 'down' })
    expect(await answerOf(`${app.url}/healthz`)).toEqual([200, { status: 'up' }])
  })

  it('is given by /readyz, with the state of store and Slack', async () => {
    const { app } = await openStage(followed)
    expect(await answerOf(`${app.url}/readyz`)).toEqual([200, { status: 'ready', store: 'ok', slack: 'ok' }])
  })

  it("is bad in /readyz, with Slack's own error, if the token is invalid", async () => {
    const { app, slack } = await openStage(followed)
    slack.acts.revokeToken()
    expect(await answerOf(`${app.url}/readyz`)).toEqual([
      503,
      {
        status: 'not ready',
        store: 'ok',
        slack: 'token_revoked',
        wrong: [expect.stringMatching(/^Slack refuses the bot \(token_revoked\): fix SLACK_BOT_TOKEN/)],
      },
    ])
  })

  it('is checked at Slack now and then, however often people ask', async () => {
    const { app, slack } = await openStage(followed)
    await Promise.all(Array.from({ length: 30 }, () => fetch(`${app.url}/readyz`)))
    expect(slack.counters.calls('auth.test')).toBeLessThanOrEqual(2)
  })
})

describe('METRICS_PORT', () => {
  it('moves /metrics and /readyz away from the public port', async () => {
    const { app } = await openStage({ settings: { ...followed.settings, METRICS_PORT: '0' } })
    const statusesAt = async (url: string) =>
      Promise.all(['/healthz', '/readyz', '/metrics'].map(async (path) => (await fetch(`${url}${path}`)).status))
    expect(await statusesAt(app.url)).toEqual([200, 404, 404])
    expect(await statusesAt(app.metricsUrl)).toEqual([200, 200, 200])
    expect((await send(app.metricsUrl, delivery())).status).toBe(404)
  })
})

describe('HOST', () => {
  it('is the only address that the bot listens on', async () => {
    const { app } = await openStage({ settings: { ...followed.settings, HOST: '127.0.0.2' } })
    const { port } = new URL(app.url)
    expect((await fetch(`http://127.0.0.2:${port}/healthz`)).status).toBe(200)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  })
})

describe('/metrics', () => {
  it('has deliveries, decisions, calls, backlog and lag in Prometheus format', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    await settled(app.url)
    const sent = 'buildline_slack_calls_total{queue="post",outcome="sent"} 1'
    // A call is counted after its outcome is stored; by then nothing waits.
    await until(sent, async () => (await (await fetch(`${app.url}/metrics`)).text()).includes(sent))
    const response = await fetch(`${app.url}/metrics`)
    const text = await response.text()
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(text).toContain('buildline_deliveries_total{status="202",answer="recorded",what="delivery"} 1')
    expect(text).toContain('buildline_decisions_total{reason="rules-unread"} 1')
    expect(text).toContain('buildline_backlog{queue="post"} 0')
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m)
  })

  it('has the time from build event to message', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    const counted = 'buildline_lag_seconds_count{priority="0"} 1'
    await until(counted, async () => (await (await fetch(`${app.url}/metrics`)).text()).includes(counted))
  })

  it('contains no text from outside', async () => {
    const { app } = await openStage(followed)
    await send(app.url, delivery({ status: 'canary-word', project_name: 'canary-project', branch: 'canary-branch' }))
    await settled(app.url)
    expect(await (await fetch(`${app.url}/metrics`)).text()).not.toContain('canary')
  })
})

describe('the Slack endpoint', () => {
  const command = (url: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/slack/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: 'command=%2Fci&text=help',
    })

  it('answers 405 to everything except POST, and keeps working', async () => {
    const { app } = await openStage(followed)
    const answer = await fetch(`${app.url}/slack/events`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
  })

  it('refuses requests without a signature or with a wrong one', async () => {
    const { app } = await openStage(followed)
    expect((await command(app.url)).status).toBeGreaterThanOrEqual(400)
    const now = String(Math.floor(Date.now() / 1_000))
    const forged = { 'x-slack-request-timestamp': now, 'x-slack-signature': `v0=${'0'.repeat(64)}` }
    expect((await command(app.url, forged)).status).toBe(401)
  })

  it('reads at most a few megabytes of an unsigned request, and answers 413', async () => {
    const { app } = await openStage(followed)
    const wire = openWire(app.url)
    const signed = { 'x-slack-request-timestamp': 1, 'x-slack-signature': 'v0=00' }
    wire.write(head('/slack/events', { ...signed, 'content-type': 'application/json', 'content-length': 9_000_000 }))
    wire.write('x'.repeat(5_000_000))
    await until('an answer', () => statuses(wire).length > 0)
    expect(statuses(wire)).toEqual([413])
  })

  it('does not exist in Socket Mode', async () => {
    const { app } = await openStage({ settings: { SLACK_APP_TOKEN: 'xapp-sandbox' } })
    expect((await command(app.url)).status).toBe(404)
  })
})

describe('unknown paths', () => {
  it.each(['/', '/healthz/', '/favicon.ico', '/.env', '/data/buildline.db'])('are answered 404: %s', async (path) => {
    const { app } = await openStage(followed)
    expect((await fetch(`${app.url}${path}`)).status).toBe(404)
  })
})

describe('another way of writing the path of /metrics or /readyz', () => {
  it.each([
    '//x/metrics',
    '/a/../metrics',
    '/a/%2e%2e/metrics',
    '/./metrics',
    '/%6detrics',
    '/\\x/metrics',
    '/metrics/',
    '/metrics#x',
    '/METRICS',
    '//readyz',
    '/a/../readyz',
    '/a/%2E%2E/readyz',
    'http://x/a/../readyz',
  ])('is answered 404, since no proxy that blocks the path knows it: %s', async (path) => {
    const { app } = await openStage(followed)
    const wire = openWire(app.url)
    wire.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    await wire.closed
    expect(statuses(wire)).toEqual([404])
  })

  it.each(['/metrics', '/metrics?x=1', 'http://x/metrics', '/readyz?', 'HTTP://X/readyz'])(
    'is not one that names the same path: %s',
    async (path) => {
      const { app } = await openStage(followed)
      const wire = openWire(app.url)
      wire.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      await wire.closed
      expect(statuses(wire)).toEqual([200])
    },
  )
})

describe('a stopped app', () => {
  it('accepts nothing more, and leaves recorded deliveries to the next one', async () => {
    const { app, slack, settings } = await openStage(followed)
    slack.faults.add({ kind: 'slow', ms: 300 })
    await sendAll(app.url, { status: 'error' })
    await app.stop()
    await expect(send(app.url, delivery())).rejects.toThrow()
    const next = await startApp(settings)
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    await settled(next.url)
    expect(headlines(slack, BUILDS)).toHaveLength(1)
    await next.stop()
  })
})
