import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { EVENT_RETRIES_MAX } from '../src/sockets/deliver.ts'
import { CONNECTIONS_MAX, LEAVE_MS } from '../src/sockets/sockets.ts'
import { TICKET_TTL_MS } from '../src/sockets/tickets.ts'
import { objectOf } from '../src/json.ts'
import type { Json } from '../src/json.ts'
import type { SandboxSlack } from '../src/sandbox-slack.ts'
import { PEOPLE } from '../src/workspace.ts'
import { openBot } from './bot.ts'
import { bodyOf, BUILDS, openStage, until } from './stage.ts'

const command = { user: PEOPLE.ada, channel: BUILDS, command: '/ci', text: 'help' }
const event = { type: 'app_mention', user: PEOPLE.ada }

const openUrl = async ({ apiUrl, appToken }: SandboxSlack, token = appToken) =>
  bodyOf(
    await fetch(`${apiUrl}apps.connections.open`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }),
  )

interface Wire {
  socket: WebSocket
  heard: Json[]
}

/** Opens a connection that records the messages, and acknowledges with `acknowledge`. */
function connect(url: string, acknowledge?: (frame: Json) => Json | null): Promise<Wire> {
  const socket = new WebSocket(url)
  const heard: Json[] = []
  onTestFinished(() => socket.terminate())
  socket.on('message', (text: Buffer) => {
    const frame = objectOf(JSON.parse(text.toString()))
    heard.push(frame)
    const payload = frame['envelope_id'] === undefined ? null : acknowledge?.(frame)
    if (payload) socket.send(JSON.stringify({ envelope_id: frame['envelope_id'], payload }))
  })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('message', () => resolve({ socket, heard }))
  })
}

const acknowledgeAll = () => ({})
const open = async (sandbox: SandboxSlack, acknowledge?: (frame: Json) => Json | null) =>
  connect(String((await openUrl(sandbox))['url']), acknowledge)
const envelopes = ({ heard }: Wire) => heard.filter((frame) => 'envelope_id' in frame)

describe('the URL for a connection', () => {
  test('is given for the app-level token, and for no other token', async () => {
    const { sandbox } = await openStage()
    expect((await openUrl(sandbox))['url']).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/link\/\?ticket=[\w-]+$/)
    expect((await openUrl(sandbox, sandbox.botToken)).error).toBe('not_allowed_token_type')
    expect((await openUrl(sandbox, 'xapp-other')).error).toBe('invalid_auth')
  })

  test('is the only thing that the app-level token can get, except whose it is', async () => {
    const { sandbox } = await openStage({ appToken: 'xapp-own' })
    const headers = { authorization: 'Bearer xapp-own' }
    const call = async (method: string) =>
      bodyOf(await fetch(`${sandbox.apiUrl}${method}`, { method: 'POST', headers }))
    expect((await call('users.list')).error).toBe('not_allowed_token_type')
    expect(await call('auth.test')).toEqual({ ok: true, app_name: 'Buildline', app_id: 'A0BUILDBOT' })
  })

  test('allows one connection, which gets a hello', async () => {
    const { sandbox } = await openStage()
    const url = String((await openUrl(sandbox))['url'])
    const { heard } = await connect(url)
    expect(heard).toMatchObject([{ type: 'hello', num_connections: 1, connection_info: { app_id: 'A0BUILDBOT' } }])
    await expect(connect(url)).rejects.toThrow('401')
    expect(sandbox.sockets.count()).toBe(1)
  })

  test('is valid for 30 s and not longer', async () => {
    const { sandbox, clock } = await openStage()
    const [early, late] = [await openUrl(sandbox), await openUrl(sandbox)]
    clock.advance(TICKET_TTL_MS)
    await connect(String(early['url']))
    clock.advance(1)
    await expect(connect(String(late['url']))).rejects.toThrow('401')
  })

  test('is refused without its ticket', async () => {
    const { sandbox } = await openStage()
    await expect(connect(`${sandbox.url.replace('http', 'ws')}/link/`)).rejects.toThrow('401')
    await expect(connect(`${sandbox.url.replace('http', 'ws')}/elsewhere`)).rejects.toThrow('401')
  })

  test('is refused for an eleventh connection', async () => {
    const { sandbox } = await openStage()
    for (let count = 0; count < CONNECTIONS_MAX; count += 1) await open(sandbox)
    const { heard, socket } = await open(sandbox)
    expect(heard).toMatchObject([{ type: 'disconnect', reason: 'too_many_websockets' }])
    await until(() => socket.readyState === WebSocket.CLOSED)
    expect(sandbox.sockets.count()).toBe(CONNECTIONS_MAX)
  })
})

describe('an envelope', () => {
  test('is sent on the newest connection, with the content of a request over HTTP', async () => {
    const { sandbox } = await openStage()
    const older = await open(sandbox, acknowledgeAll)
    const newer = await open(sandbox, acknowledgeAll)
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'answered', status: 200, body: '' })
    await sandbox.people.sendEvent(event)
    expect(envelopes(older)).toEqual([])
    expect(envelopes(newer)).toMatchObject([
      { type: 'slash_commands', accepts_response_payload: true, payload: { command: '/ci', user_id: PEOPLE.ada } },
      {
        type: 'events_api',
        accepts_response_payload: false,
        retry_attempt: 0,
        payload: { type: 'event_callback', event },
      },
    ])
    expect(sandbox.ephemerals(BUILDS)).toEqual([])
  })

  test('is answered by its payload, as by the body over HTTP', async () => {
    const { sandbox } = await openStage()
    await open(sandbox, () => ({ text: 'one moment' }))
    await sandbox.people.runCommand(command)
    expect(sandbox.ephemerals(BUILDS, PEOPLE.ada)).toMatchObject([{ message: { text: 'one moment' } }])
    expect(sandbox.ephemerals(BUILDS, PEOPLE.lin)).toEqual([])
  })

  test('is late if it is not acknowledged in time', async () => {
    const { sandbox } = await openStage({ ackTimeoutMs: 20 })
    await open(sandbox)
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'late', what: 'command /ci' })
  })

  test('is not acknowledged by invalid JSON or an unknown envelope id', async () => {
    const { sandbox } = await openStage({ ackTimeoutMs: 50 })
    const { socket } = await open(sandbox)
    socket.on('message', () => {
      socket.send('not JSON')
      socket.send(JSON.stringify({ envelope_id: 'other', payload: {} }))
    })
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'late' })
    expect(sandbox.sockets.count()).toBe(1)
  })

  test('can be sent as one of Slack’s retries, with the same event id', async () => {
    const { sandbox } = await openStage()
    const wire = await open(sandbox, acknowledgeAll)
    await sandbox.people.sendEvent(event, { eventId: 'Ev1', retryNum: 2 })
    expect(envelopes(wire)).toMatchObject([{ retry_attempt: 2, retry_reason: 'timeout', payload: { event_id: 'Ev1' } }])
  })

  test('is sent again unchanged by a replay', async () => {
    const { sandbox } = await openStage()
    const wire = await open(sandbox, acknowledgeAll)
    const { what } = await sandbox.people.runCommand(command)
    expect(await sandbox.people.replay(what)).toMatchObject({ kind: 'answered' })
    const [first, second] = envelopes(wire)
    expect(second).toEqual(first)
  })
})

describe('without a connection', () => {
  test('a person sees an error at once', async () => {
    const { sandbox } = await openStage({ mode: 'socket' })
    expect(await sandbox.people.runCommand(command)).toMatchObject({ kind: 'unreachable' })
  })

  test('an event waits for one', async () => {
    const { sandbox } = await openStage({ mode: 'socket' })
    const told = sandbox.people.sendEvent(event)
    await open(sandbox, acknowledgeAll)
    expect(await told).toMatchObject({ kind: 'answered' })
  })

  test('an event waits no longer than for an acknowledgement', async () => {
    const { sandbox } = await openStage({ mode: 'socket', ackTimeoutMs: 20 })
    expect(await sandbox.people.sendEvent(event)).toMatchObject({ kind: 'unreachable' })
  })
})

describe('the bot gets requests over HTTP', () => {
  test('if its URL is known, even if it has an open connection', async () => {
    const bot = await openBot()
    const { sandbox } = await openStage({ botUrl: bot.url })
    const wire = await open(sandbox, acknowledgeAll)
    await sandbox.people.runCommand(command)
    expect([bot.received.length, envelopes(wire).length]).toEqual([1, 0])
  })

  test('but never in the mode socket', async () => {
    const bot = await openBot()
    const { sandbox } = await openStage({ botUrl: bot.url, mode: 'socket' })
    const wire = await open(sandbox, acknowledgeAll)
    await sandbox.people.runCommand(command)
    expect([bot.received.length, envelopes(wire).length]).toEqual([0, 1])
  })

  test('and always in the mode http', async () => {
    const { sandbox } = await openStage({ mode: 'http' })
    await open(sandbox, acknowledgeAll)
    await expect(sandbox.people.runCommand(command)).rejects.toThrow('no bot is connected')
  })
})

describe('a connection', () => {
  test('is cut ten seconds after disconnect, and until then used only if no other is open', async () => {
    const { sandbox, clock } = await openStage()
    const older = await open(sandbox, acknowledgeAll)
    sandbox.sockets.refresh()
    await until(() => older.heard.length === 2)
    expect(older.heard[1]).toMatchObject({ type: 'disconnect', reason: 'refresh_requested' })
    await sandbox.people.runCommand(command)
    expect(envelopes(older)).toHaveLength(1)
    const newer = await open(sandbox, acknowledgeAll)
    await sandbox.people.runCommand(command)
    expect([envelopes(older).length, envelopes(newer).length]).toEqual([1, 1])
    clock.advance(LEAVE_MS - 1)
    expect(sandbox.sockets.count()).toBe(2)
    clock.advance(1)
    await until(() => older.socket.readyState === WebSocket.CLOSED)
    expect(sandbox.sockets.count()).toBe(1)
    expect(newer.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('is cut sooner with timeScale, also after a warning', async () => {
    const { sandbox, clock } = await openStage({ sockets: { timeScale: 10 } })
    const { heard, socket } = await open(sandbox)
    sandbox.sockets.refresh('warning')
    clock.advance(LEAVE_MS / 10)
    await until(() => socket.readyState === WebSocket.CLOSED)
    expect(heard[1]).toMatchObject({ type: 'disconnect', reason: 'warning' })
  })

  test('that drops before the acknowledgement loses a command; an event is sent on another one', async () => {
    const { sandbox } = await openStage()
    await open(sandbox, () => null)
    const lost = sandbox.people.runCommand(command)
    await dropOnce(sandbox)
    expect(await lost).toMatchObject({ kind: 'unreachable' })
    await open(sandbox, () => null)
    const told = sandbox.people.sendEvent(event, { eventId: 'Ev1' })
    await dropOnce(sandbox)
    const wire = await open(sandbox, acknowledgeAll)
    expect(await told).toMatchObject({ kind: 'answered' })
    expect(envelopes(wire)).toMatchObject([{ retry_attempt: 1, payload: { event_id: 'Ev1' } }])
  })

  test('that drops is followed by at most EVENT_RETRIES_MAX retries of an event', async () => {
    const { sandbox } = await openStage()
    const drop = () => {
      sandbox.sockets.drop()
      return null
    }
    const wires = [await open(sandbox, drop)]
    const told = sandbox.people.sendEvent(event)
    for (let count = 0; count < EVENT_RETRIES_MAX; count += 1) wires.push(await open(sandbox, drop))
    const untried = await open(sandbox, drop)
    expect(await told).toMatchObject({ kind: 'unreachable' })
    expect([...wires, untried].map((wire) => envelopes(wire).length)).toEqual([1, 1, 1, 1, 0])
  })

  test('is pinged, and cut if it does not answer', async () => {
    const { sandbox } = await openStage({ sockets: { pingEveryMs: 200 } })
    const answering = await open(sandbox)
    const silent = new WebSocket(String((await openUrl(sandbox))['url']), { autoPong: false })
    onTestFinished(() => silent.terminate())
    await until(() => silent.readyState === WebSocket.CLOSED)
    expect(sandbox.sockets.count()).toBe(1)
    const pings: Buffer[] = []
    answering.socket.on('ping', (text) => pings.push(text))
    await until(() => pings.length > 2)
    expect(answering.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('keeps its TCP connection open after the close handshake, as Slack does', async () => {
    const { sandbox, call } = await openStage()
    // Node's own client, like the bot's, waits for the server to end the TCP connection.
    const socket = new globalThis.WebSocket(String((await openUrl(sandbox))['url']))
    // Wait for the client too: if it closed before it is open, it would send no close frame.
    await until(() => socket.readyState === WebSocket.OPEN)
    socket.close(1_000)
    await until(() => sandbox.sockets.count() === 0)
    await call('api.test')
    expect(socket.readyState).toBe(WebSocket.CLOSING)
    sandbox.sockets.drop()
    await until(() => socket.readyState === WebSocket.CLOSED)
  })

  test('ends with the sandbox', async () => {
    const { sandbox } = await openStage()
    const { socket } = await open(sandbox)
    await sandbox.stop()
    await until(() => socket.readyState === WebSocket.CLOSED)
    expect(sandbox.sockets.count()).toBe(0)
  })

  test('can be refreshed and dropped by a script', async () => {
    const { sandbox } = await openStage()
    const { heard, socket } = await open(sandbox)
    const act = (kind: string) =>
      fetch(`${sandbox.url}/sandbox/acts`, { method: 'POST', body: JSON.stringify({ kind }) })
    expect((await act('refresh-sockets')).status).toBe(200)
    await until(() => heard.length === 2)
    expect((await act('drop-sockets')).status).toBe(200)
    await until(() => socket.readyState === WebSocket.CLOSED)
  })
})

/** Cuts the connection as soon as there is one. */
async function dropOnce(sandbox: SandboxSlack): Promise<void> {
  await until(() => sandbox.sockets.count() > 0)
  sandbox.sockets.drop()
  await until(() => sandbox.sockets.count() === 0)
}
