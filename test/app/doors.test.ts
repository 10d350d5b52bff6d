import { describe, expect, it } from 'vitest'
import { delivery, openStage, send, sendAll, settled, startApp, until } from '../support/app.ts'
import { head, openWire, statuses } from '../support/wire.ts'
import { BUILDS, headlines, untilSaid } from './channel.ts'

const followed = { settings: { DEFAULT_CHANNEL: BUILDS } }

async function answerOf(url: string): Promise<[status: number, body: unknown]> {
  const response = await fetch(url)
  return [response.status, await response.json()]
}

describe('health', () => {
  it('is said by /healthz as long as the process is up, whatever Slack does', async () => {
    const { app, slack } = await openStage(followed)
    expect(await answerOf(`${app.url}/healthz`)).toEqual([200, { status: 'up' }])
    slack.faults.add({ kind: 'down' })
    expect(await answerOf(`${app.url}/healthz`)).toEqual([200, { status: 'up' }])
  })

  it('is said by /readyz of the store and of Slack, by name', async () => {
    const { app } = await openStage(followed)
    expect(await answerOf(`${app.url}/readyz`)).toEqual([200, { status: 'ready', store: 'ok', slack: 'ok' }])
  })

  it('is denied by /readyz, with Slack’s own word, when the token is of no use', async () => {
    const { app, slack } = await openStage(followed)
    slack.acts.revokeToken()
    expect(await answerOf(`${app.url}/readyz`)).toEqual([
      503,
      {
        status: 'not ready',
        store: 'ok',
        slack: 'token_revoked',
        wrong: [expect.stringMatching(/^Slack refuses the bot \(token_revoked\): mend SLACK_BOT_TOKEN/)],
      },
    ])
  })

  it('is asked of Slack now and then, however often we are asked', async () => {
    const { app, slack } = await openStage(followed)
    await Promise.all(Array.from({ length: 30 }, () => fetch(`${app.url}/readyz`)))
    expect(slack.counters.calls('auth.test')).toBeLessThanOrEqual(2)
  })
})

describe('METRICS_PORT', () => {
  it('takes /metrics and /readyz off the port that strangers reach', async () => {
    const { app } = await openStage({ settings: { ...followed.settings, METRICS_PORT: '0' } })
    const statusesAt = async (url: string) =>
      Promise.all(['/healthz', '/readyz', '/metrics'].map(async (path) => (await fetch(`${url}${path}`)).status))
    expect(await statusesAt(app.url)).toEqual([200, 404, 404])
    expect(await statusesAt(app.metricsUrl)).toEqual([200, 200, 200])
    expect((await send(app.metricsUrl, delivery())).status).toBe(404)
  })
})

describe('HOST', () => {
  it('is the one address that is listened on', async () => {
    const { app } = await openStage({ settings: { ...followed.settings, HOST: '127.0.0.2' } })
    const { port } = new URL(app.url)
    expect((await fetch(`http://127.0.0.2:${port}/healthz`)).status).toBe(200)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  })
})

describe('/metrics', () => {
  it('counts deliveries, decisions, calls, waiting work and the lag, in Prometheus’ form', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    await settled(app.url)
    const sent = 'buildline_slack_calls_total{queue="post",outcome="sent"} 1'
    // A call is counted once its outcome is stored, and by then nothing waits.
    await until(sent, async () => (await (await fetch(`${app.url}/metrics`)).text()).includes(sent))
    const response = await fetch(`${app.url}/metrics`)
    const text = await response.text()
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(text).toContain('buildline_deliveries_total{status="202",answer="recorded",what="delivery"} 1')
    expect(text).toContain('buildline_decisions_total{reason="rules-unread"} 1')
    expect(text).toContain('buildline_backlog{queue="post"} 0')
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m)
  })

  it('observes how long a message took from its build event', async () => {
    const { app, slack } = await openStage(followed)
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
    const counted = 'buildline_lag_seconds_count{priority="0"} 1'
    await until(counted, async () => (await (await fetch(`${app.url}/metrics`)).text()).includes(counted))
  })

  it('holds no outside text', async () => {
    const { app } = await openStage(followed)
    await send(app.url, delivery({ status: 'canary-word', project_name: 'canary-project', branch: 'canary-branch' }))
    await settled(app.url)
    expect(await (await fetch(`${app.url}/metrics`)).text()).not.toContain('canary')
  })
})

describe('the endpoint for Slack', () => {
  const command = (url: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/slack/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: 'command=%2Fci&text=help',
    })

  it('answers 405 to whatever is no POST, and goes on', async () => {
    const { app } = await openStage(followed)
    const answer = await fetch(`${app.url}/slack/events`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
  })

  it('takes nothing that is not signed, or signed by somebody else', async () => {
    const { app } = await openStage(followed)
    expect((await command(app.url)).status).toBeGreaterThanOrEqual(400)
    const now = String(Math.floor(Date.now() / 1_000))
    const forged = { 'x-slack-request-timestamp': now, 'x-slack-signature': `v0=${'0'.repeat(64)}` }
    expect((await command(app.url, forged)).status).toBe(401)
  })

  it('reads a few megabytes of a stranger at most, and answers 413', async () => {
    const { app } = await openStage(followed)
    const wire = openWire(app.url)
    const signed = { 'x-slack-request-timestamp': 1, 'x-slack-signature': 'v0=00' }
    wire.write(head('/slack/events', { ...signed, 'content-type': 'application/json', 'content-length': 9_000_000 }))
    wire.write('x'.repeat(5_000_000))
    await until('an answer', () => statuses(wire).length > 0)
    expect(statuses(wire)).toEqual([413])
  })

  it('is not there in Socket Mode', async () => {
    const { app } = await openStage({ settings: { SLACK_APP_TOKEN: 'xapp-sandbox' } })
    expect((await command(app.url)).status).toBe(404)
  })
})

describe('addresses that are none', () => {
  it.each(['/', '/healthz/', '/favicon.ico', '/.env', '/data/buildline.db'])('are answered 404: %s', async (path) => {
    const { app } = await openStage(followed)
    expect((await fetch(`${app.url}${path}`)).status).toBe(404)
  })
})

describe('an app that is stopped', () => {
  it('takes nothing more, and leaves what was taken to the next one', async () => {
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
