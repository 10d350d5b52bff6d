import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readPayload } from '../../../src/sources/ci-service/endpoint.ts'
import { SOURCE_TEXT_CHARS_MAX } from '../../../src/sources/values.ts'
import {
  type RunningApp,
  delivery,
  rowsOf,
  sendAll,
  settingsWith,
  startApp,
  testFolder,
  WEBHOOK_SECRET,
} from '../../../test/support/app.ts'
import type { StubAnswer, StubRequest } from '../../../test/support/http-stub.ts'
import { closedAddress, openStub, runProgram } from './support.ts'

type Environment = Readonly<Record<string, string | undefined>>

const ENVIRONMENT = {
  BUILDLINE_URL: 'http://127.0.0.1:3000',
  BUILDLINE_SECRET: WEBHOOK_SECRET,
  BUILDLINE_STATUS: 'success',
  BUILDLINE_PROJECT_ID: '11',
  BUILDLINE_BUILD_ID: '512',
}

const notify = (args: readonly string[] = [], env: Environment = {}) =>
  runProgram('buildline', ['notify', ...args], { env: { ...ENVIRONMENT, ...env } })

/** Notifies a stub that gives each of these answers in turn, and then repeats the last one. */
async function notifyStub(answers: readonly StubAnswer[], args: readonly string[] = [], env: Environment = {}) {
  const stub = await openStub((_, at) => answers[Math.min(at, answers.length - 1)]!)
  const ended = await notify(args, { BUILDLINE_URL: stub.url, ...env })
  return { ...ended, stub, tries: stub.requests.length }
}

const RECORDED: StubAnswer = { status: 202, json: { status: 'recorded' } }
const busy = (retryAfter = '0', status = 503): StubAnswer => ({ status, headers: { 'retry-after': retryAfter } })

async function openBot(): Promise<{ app: RunningApp; folder: string }> {
  const folder = testFolder()
  const app = await startApp(settingsWith(folder))
  onTestFinished(() => app.stop())
  return { app, folder }
}

const buildEventsIn = (folder: string) =>
  rowsOf(folder, 'select project_id, build_id, word, branch, commit_id, repeats, details from fact order by seq').map(
    ({ details, ...buildEvent }) => ({
      ...buildEvent,
      details: JSON.parse(String(details)) as Record<string, unknown>,
    }),
  )

const UUIDS = {
  project: 'ffffffff-1111-2222-3333-00000000000b',
  build: '12345678-9abc-def0-1234-56789abcdef0',
}

describe('buildline notify', () => {
  it('sends all fields from the environment', async () => {
    const { app, folder } = await openBot()
    const { code, stdout, stderr } = await notify([], {
      BUILDLINE_URL: app.url,
      BUILDLINE_PROJECT_NAME: 'acme/web',
      BUILDLINE_PROJECT_FULL_NAME: 'acme/web',
      BUILDLINE_BRANCH: 'main',
      BUILDLINE_COMMIT_ID: 'a1b2c3d4',
      BUILDLINE_SHORT_COMMIT_ID: 'a1b2c',
      BUILDLINE_MESSAGE: 'Fix "login" <&> ünïcode\n\nand more',
      BUILDLINE_COMMITTER: 'Ada',
      BUILDLINE_BUILD_URL: 'https://ci.example/builds/512',
      BUILDLINE_COMMIT_URL: 'https://code.example/commit/a1b2c3d4',
      BUILDLINE_PROJECT_UUID: UUIDS.project,
      BUILDLINE_BUILD_UUID: UUIDS.build,
      BUILDLINE_STARTED_AT: '2026-03-01T14:02:00Z',
      BUILDLINE_FINISHED_AT: '2026-03-01 14:09:00 UTC',
    })
    expect([code, stdout, stderr]).toEqual([0, 'buildline: notified of build #512 success (recorded)\n', ''])
    expect(buildEventsIn(folder)).toEqual([
      {
        project_id: '11',
        build_id: '512',
        word: 'success',
        branch: 'main',
        commit_id: 'a1b2c3d4',
        repeats: 0,
        details: {
          projectName: 'acme/web',
          projectFullName: 'acme/web',
          buildUrl: 'https://ci.example/builds/512',
          commitUrl: 'https://code.example/commit/a1b2c3d4',
          shortCommitId: 'a1b2c',
          message: 'Fix "login" <&> ünïcode',
          committer: 'Ada',
          projectUuid: UUIDS.project,
          requestUrl: null,
          startedBy: null,
          requestedBy: null,
          gates: null,
          end: null,
          buildUuid: UUIDS.build,
          startedAt: Date.UTC(2026, 2, 1, 14, 2),
          finishedAt: Date.UTC(2026, 2, 1, 14, 9),
          number: null,
          attempt: null,
          durationMs: null,
          lastEndAt: null,
          author: null,
          failedJobs: null,
        },
      },
    ])
  })

  it('prefers a flag to the environment, even if its value looks like a flag, and ignores an empty value', async () => {
    const { app, folder } = await openBot()
    const flags = [
      '--status',
      'error',
      '--build-id=513',
      '--message',
      '--strict is no message',
      '--branch',
      '',
      '--committer=',
    ]
    const { code } = await notify(flags, { BUILDLINE_URL: `${app.url}/webhooks/builds/`, BUILDLINE_BRANCH: 'main' })
    expect(code).toBe(0)
    expect(buildEventsIn(folder)).toMatchObject([
      {
        build_id: '513',
        word: 'error',
        branch: 'main',
        details: { message: '--strict is no message', committer: null },
      },
    ])
  })

  it('accepts a uuid as the build’s id', async () => {
    const { app, folder } = await openBot()
    const { code, stdout } = await notify([], { BUILDLINE_URL: app.url, BUILDLINE_BUILD_ID: UUIDS.build })
    expect([code, stdout]).toEqual([0, `buildline: notified of build #${UUIDS.build} success (recorded)\n`])
    expect(buildEventsIn(folder)).toMatchObject([{ build_id: UUIDS.build, details: { buildUuid: UUIDS.build } }])
  })

  it('adds uuids that CI’s own delivery did not have, and prints that the bot already had the status', async () => {
    const { app, folder } = await openBot()
    await sendAll(app.url, { status: 'success' })
    const env = { BUILDLINE_URL: app.url, BUILDLINE_BUILD_UUID: UUIDS.build }
    expect((await notify([], env)).stdout).toContain('(duplicate)')
    expect((await notify([], env)).stdout).toContain('(duplicate)')
    expect(buildEventsIn(folder)).toMatchObject([
      { repeats: 0, details: { buildUuid: null, committer: 'Ada' } },
      { repeats: 1, details: { buildUuid: UUIDS.build } },
    ])
  })

  it('sends ids as integers, and as strings if a double would lose digits', async () => {
    const big = String(2n ** 60n + 1n)
    const { stub } = await notifyStub([RECORDED], ['--build-id', big])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({ build: { status: 'success', project_id: 11, build_id: big } })
    expect(stub.requests[0]!.headers['content-type']).toBe('application/json')
  })

  it('cuts each text where the bot would, and so stays within the bot’s size limit', async () => {
    const env = Object.fromEntries(
      ['MESSAGE', 'BRANCH', 'COMMITTER', 'BUILD_URL'].map((name) => [`BUILDLINE_${name}`, '\u0001'.repeat(30_000)]),
    )
    const { stub } = await notifyStub([RECORDED], [], env)
    const { build } = JSON.parse(stub.requests[0]!.body) as { build: Record<string, string> }
    expect([build['message'], build['build_url']].map((text) => text?.length)).toEqual([
      SOURCE_TEXT_CHARS_MAX,
      SOURCE_TEXT_CHARS_MAX,
    ])
    expect(Buffer.byteLength(stub.requests[0]!.body)).toBeLessThan(256 * 1024)
  })

  it.each([500, 501])('sends 500 characters of a text with %i', async (length) => {
    const { stub } = await notifyStub([RECORDED], ['--message', '😀'.repeat(length)])
    const { build } = JSON.parse(stub.requests[0]!.body) as { build: { message: string } }
    expect(build.message).toBe('😀'.repeat(500))
    expect(readPayload(Buffer.from(stub.requests[0]!.body)).kind).toBe('delivery')
  })
})

describe('the secret', () => {
  it('is sent as the HTTP Basic password, never in the URL', async () => {
    const secret = 'sécret: of/today'
    const { stub } = await notifyStub([RECORDED], [], { BUILDLINE_SECRET: secret })
    const [, encoded = ''] = stub.requests[0]!.headers.authorization!.split(' ')
    expect(Buffer.from(encoded, 'base64').toString()).toBe(`buildline:${secret}`)
    expect([stub.requests[0]!.path, stub.requests[0]!.query.size]).toEqual(['/webhooks/builds', 0])
  })

  it('is never printed, even if the answer contains it', async () => {
    const said = `no ${WEBHOOK_SECRET}, no ${Buffer.from(`buildline:${WEBHOOK_SECRET}`).toString('base64')}`
    const { stderr } = await notifyStub([{ status: 400, json: { status: 'refused', reason: said } }])
    expect(stderr).toContain('no [removed], no [removed]')
  })

  it('is refused by the bot if it is wrong: exit code 77 with --strict', async () => {
    const { app, folder } = await openBot()
    const env = { BUILDLINE_URL: app.url, BUILDLINE_SECRET: 'canary-of-yesterday' }
    const { code, stderr } = await notify(['--strict'], env)
    expect([code, buildEventsIn(folder)]).toEqual([77, []])
    expect(stderr).toContain('the bot does not accept the secret (HTTP 404)')
    expect(stderr).not.toContain('canary')
  })

  it.each([
    'https://bot.example/webhooks/builds/canary',
    'https://bot.example?token=canary',
    'https://x:canary@bot.example',
  ])('is not read from the URL, and the URL is not printed: %s', async (url) => {
    const { code, stderr } = await notify([], { BUILDLINE_URL: url })
    expect([code, stderr.includes('canary')]).toEqual([64, false])
  })

  it('is not read from a flag', async () => {
    const { code, stderr } = await notify(['--secret', 'canary'])
    expect([code, stderr.includes('canary'), stderr.includes('BUILDLINE_SECRET')]).toEqual([64, false, true])
  })

  it('is not sent on to where a redirect points', async () => {
    const elsewhere = await openStub(() => RECORDED)
    const { code } = await notifyStub([{ status: 307, headers: { location: elsewhere.url } }], ['--strict'])
    expect([code, elsewhere.requests]).toEqual([1, []])
  })
})

describe('wrong usage', () => {
  it('names everything that is missing at once, and fails the step even without --strict', async () => {
    const { code, stderr } = await runProgram('buildline', ['notify'], { env: { BUILDLINE_SECRET: ' ' } })
    expect(code).toBe(64)
    for (const name of ['URL', 'SECRET', 'STATUS', 'PROJECT_ID', 'BUILD_ID'])
      expect(stderr).toContain(`BUILDLINE_${name}`)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it.each([
    ['--build-id', '12a', 'BUILDLINE_BUILD_ID (or --build-id) is neither an integer id nor a uuid'],
    ['--project-id', '1'.repeat(21), 'BUILDLINE_PROJECT_ID (or --project-id) is not an integer id'],
    ['--build-uuid', '512', 'BUILDLINE_BUILD_UUID (or --build-uuid) is not a uuid'],
    ['--started-at', 'noon', 'BUILDLINE_STARTED_AT (or --started-at) is not a time'],
    ['--url', 'bot.example', 'BUILDLINE_URL (or --url) is not an http(s) address'],
    ['--deadline', '0', '--deadline is not a whole number of seconds from 1 to 600'],
    ['--deadline', '601', '--deadline is not a whole number of seconds from 1 to 600'],
    ['--statsu', 'success', 'unknown option "--statsu"; the nearest is --status'],
  ])('is %s %s', async (flag, value, words) => {
    const { code, stderr } = await notify([flag, value])
    expect([code, stderr]).toEqual([64, expect.stringContaining(words)])
  })

  it.each(['1', '600'])('is not --deadline %s', async (seconds) => {
    expect((await notifyStub([RECORDED], ['--deadline', seconds])).code).toBe(0)
  })

  it('is an option without a value, and a word that belongs to no option', async () => {
    expect(await notify(['--branch'])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('--branch needs a value'),
    })
    const { code, stderr } = await notify(['--message', 'fix', 'canary'])
    expect([code, stderr.includes('canary')]).toEqual([64, false])
  })

  it('is answered by --help, which names each variable and each flag', async () => {
    const { code, stdout } = await runProgram('buildline', ['notify', '--help'])
    expect(code).toBe(0)
    for (const field of Object.keys({
      ...delivery().build,
      build_uuid: '',
      project_uuid: '',
      started_at: '',
      finished_at: '',
    })) {
      expect(stdout).toContain(`BUILDLINE_${field.toUpperCase()} `)
      expect(stdout).toContain(`--${field.replaceAll('_', '-')}`)
    }
    expect(stdout).toContain('Sending twice is safe')
  })
})

describe('if the bot is in trouble', () => {
  it.each([503, 429, 502, 504])('a delivery answered with %i is sent again, unchanged', async (status) => {
    const { code, stub } = await notifyStub([busy('0', status), RECORDED])
    expect([code, stub.requests.length]).toEqual([0, 2])
    expect(stub.requests[0]!.body).toBe(stub.requests[1]!.body)
  })

  it('a delivery is sent again if the answer got lost', async () => {
    expect(await notifyStub([(response) => void response.destroy(), RECORDED])).toMatchObject({ code: 0, tries: 2 })
  })

  it('a delivery is retried five times, and then the build goes on', async () => {
    const { code, stdout, stderr, tries } = await notifyStub([busy()])
    expect([code, stdout, tries]).toEqual([0, '', 6])
    expect(stderr).toBe(
      'buildline: not notified of build #512 success: the bot answered 503; tried 6 times; the build goes on\n',
    )
  })

  it('the step fails with --strict', async () => {
    expect(await notifyStub([busy()], ['--strict'])).toMatchObject({ code: 69, tries: 6 })
  })

  it('Retry-After is respected', async () => {
    const before = performance.now()
    expect(await notifyStub([busy('1'), RECORDED])).toMatchObject({ code: 0, tries: 2 })
    expect(performance.now() - before).toBeGreaterThanOrEqual(1_000)
  })

  it('no retry is sent after the deadline', async () => {
    const { code, stderr, tries } = await notifyStub([busy('61')], ['--strict'])
    expect([code, tries]).toEqual([69, 1])
    expect(stderr).toContain('tried once within the deadline of 60 s')
  })

  it('an answer that does not come is not awaited beyond the deadline', async () => {
    const { code, stderr, tries } = await notifyStub([() => undefined], ['--strict', '--deadline', '1'])
    expect([code, tries]).toEqual([69, 1])
    expect(stderr).toContain('no answer in time')
  })

  it('the build goes on if the connection is refused', async () => {
    const { code, stderr } = await notify(['--deadline', '1'], { BUILDLINE_URL: await closedAddress() })
    expect(code).toBe(0)
    expect(stderr).toContain('the bot could not be reached (ECONNREFUSED)')
  })

  it('a delivery whose answer got lost is recorded only once', async () => {
    const { app, folder } = await openBot()
    const stub = await openStub((request, at) => (response) => void relay(app, request, response, at === 0))
    const { code, stdout } = await notify([], { BUILDLINE_URL: stub.url })
    expect([code, stdout]).toEqual([0, 'buildline: notified of build #512 success (duplicate)\n'])
    expect(buildEventsIn(folder)).toMatchObject([{ build_id: '512', repeats: 1 }])
  })
})

describe('an answer that is not the bot’s', () => {
  it.each([{ status: 200, text: '<p>Sign in</p>' }, { status: 202 }, { status: 200, json: { status: 'ok' } }])(
    'does not count as success: %j',
    async (answer) => {
      const { code, stderr, tries } = await notifyStub([answer], ['--strict'])
      expect([code, tries]).toEqual([1, 1])
      expect(stderr).toContain('is BUILDLINE_URL right?')
    },
  )

  it.each([400, 413, 500])('with %i is final: the delivery is not sent again', async (status) => {
    const { code, stderr, tries } = await notifyStub(
      [{ status, json: { reason: 'build.status\nis no word' } }],
      ['--strict'],
    )
    expect([code, tries]).toEqual([1, 1])
    expect(stderr).toContain(`the bot refused it (HTTP ${status}: build.status is no word)\n`)
  })
})

/** Passes a request on to the bot, and passes the answer back unless it is lost. */
async function relay(app: RunningApp, { headers, body }: StubRequest, response: ServerResponse, isLost: boolean) {
  const { authorization = '', 'content-type': type = '' } = headers
  const passed = { authorization, 'content-type': type }
  const answer = await fetch(`${app.url}/webhooks/builds`, { method: 'POST', headers: passed, body })
  const text = await answer.text()
  if (isLost) response.destroy()
  else response.writeHead(answer.status).end(text)
}
