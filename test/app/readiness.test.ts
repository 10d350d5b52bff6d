import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileReplaced } from '../../src/store/disk.ts'
import { createReadiness, LATE_MS, type ReadinessDeps } from '../../src/runtime/readiness.ts'
import { MINUTE, T0 } from '../support/build-events.ts'
import { createHandClock } from '../support/hand-clock.ts'

/** The answer of `/readyz` over HTTP if everything is fine except for these changes. */
async function answerOf(changes: Partial<ReadinessDeps> = {}): Promise<{ status: number; body: unknown }> {
  const answer = createReadiness({
    store: { ping: async () => {} },
    notifier: { ping: async () => ({ kind: 'sent' }) },
    clock: createHandClock(T0),
    outage: () => null,
    failing: () => [],
    socket: null,
    wrongSignatures: () => 0,
    oldestWaiting: async () => ({ ingest: null, post: T0 }),
    ...changes,
  })
  const server = createServer((_, response) => void answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  return { status: response.status, body: await response.json() }
}

const wellBut = (changes: object) => ({ status: 'not ready', store: 'ok', slack: 'ok', ...changes })

describe('/readyz', () => {
  it('says only that everything is fine if it is', async () => {
    expect(await answerOf()).toEqual({ status: 200, body: { status: 'ready', store: 'ok', slack: 'ok' } })
  })

  it('says what is wrong with the database, and then ignores delays', async () => {
    const oldestWaiting = async () => ({ ingest: 0 })
    const ping = () => Promise.reject(new Error('password=hunter2'))
    const { status, body } = await answerOf({ store: { ping }, oldestWaiting })
    expect(status).toBe(503)
    expect(body).toEqual(
      wellBut({
        store: 'unreachable',
        wrong: [expect.stringMatching(/^The database does not answer: .*DATABASE_URL/)],
      }),
    )
  })

  it.each([
    [
      'disk',
      Object.assign(new Error('database or disk is full'), { errcode: 13 }),
      /^The disk of the database is full/,
    ],
    ['disk', Object.assign(new Error('could not extend file'), { code: '53100' }), /^The disk of the database is full/],
    ['replaced', new FileReplaced(), /^The database file was removed, replaced or overwritten while in use/],
  ])('says why nothing can be stored: %s', async (store, error, words) => {
    const { status, body } = await answerOf({ store: { ping: () => Promise.reject(error) } })
    expect(status).toBe(503)
    expect(body).toEqual(wellBut({ store, wrong: [expect.stringMatching(words)] }))
  })

  it('says what fails again and again', async () => {
    const { status, body } = await answerOf({ failing: () => ['ingest', 'send'] })
    expect(status).toBe(503)
    expect(body).toEqual(
      wellBut({
        ingest: 'failing',
        send: 'failing',
        wrong: [
          expect.stringMatching(/^Ingesting keeps failing/),
          expect.stringMatching(/^Planning a message keeps failing/),
        ],
      }),
    )
  })

  it('does not say that of a database that does not answer, without which everything fails', async () => {
    const { body } = await answerOf({
      store: { ping: () => Promise.reject(new Error()) },
      failing: () => ['ingest'],
    })
    expect(body).toEqual(wellBut({ store: 'unreachable', wrong: [expect.stringMatching(/^The database does not/)] }))
  })

  it.each([
    ['token_revoked', /^Slack refuses the bot \(token_revoked\): fix SLACK_BOT_TOKEN/],
    ['ratelimited', /^Slack does not answer properly \(ratelimited\): nothing is sent until it does/],
  ])('says what is wrong with Slack: %s', async (code, words) => {
    const { status, body } = await answerOf({ outage: () => code })
    expect(status).toBe(503)
    expect(body).toEqual(wellBut({ slack: code, wrong: [expect.stringMatching(words)] }))
  })

  it('says that there is a Socket Mode connection, if one is configured', async () => {
    const { status, body } = await answerOf({ socket: { trouble: () => null } })
    expect([status, body]).toEqual([200, { status: 'ready', store: 'ok', slack: 'ok', socket: 'ok' }])
  })

  it.each([
    ['refuses', 'invalid_auth', /^Slack refuses SLACK_APP_TOKEN \(invalid_auth\): .* Make an app-level token/],
    ['away', 'ECONNREFUSED', /^There is no Socket Mode connection to Slack \(ECONNREFUSED\): no command/],
  ] as const)('says that there is none, since Slack %s: %s', async (kind, code, words) => {
    const { status, body } = await answerOf({ socket: { trouble: () => ({ kind, code }) } })
    expect(status).toBe(503)
    expect(body).toEqual(wellBut({ socket: code, wrong: [expect.stringMatching(words)] }))
  })

  it('says everything that is wrong', async () => {
    const { body } = await answerOf({
      store: { ping: () => Promise.reject(new Error()) },
      outage: () => 'invalid_auth',
    })
    expect(body).toMatchObject({ wrong: [expect.any(String), expect.any(String)] })
  })

  it('says what is late, but stays ready: no other process could do better', async () => {
    const oldestWaiting = async () => ({
      ingest: T0 - LATE_MS - 1,
      post: T0 - LATE_MS,
      edit: null,
      look: T0 - 90 * MINUTE,
    })
    expect(await answerOf({ oldestWaiting })).toEqual({
      status: 200,
      body: {
        status: 'ready',
        store: 'ok',
        slack: 'ok',
        late: [
          'The oldest event that is not ingested arrived 5 minutes ago.',
          'The oldest look-up that is not made was due 90 minutes ago.',
        ],
      },
    })
  })
})
