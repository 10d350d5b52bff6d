import { describe, expect, it } from 'vitest'
import type { SandboxCi } from '../../sandbox-ci/src/server.ts'
import type { StubAnswer } from '../../../test/support/http-stub.ts'
import { projectNamed, pushed, startCi } from '../../sandbox-ci/test/support.ts'
import { KEY, playing, restart } from './restart.ts'
import { closedAddress, openStub, runProgram } from './support.ts'

const restartAt = (ci: SandboxCi, changes: Record<string, string | undefined> = {}) =>
  restart({ SERVICE_API_URL: ci.url, SERVICE_API_KEY: ci.address().apiKey, ...changes })

function failedBuild(ci: SandboxCi, push: Parameters<typeof pushed>[1] = {}) {
  const build = pushed(ci, { branch: 'main', outcome: 'none', ...push })
  ci.finish(build.uuid, 'error')
  return build
}

const posts = (ci: SandboxCi) => ci.calls().filter(({ method }) => method === 'POST')

describe('service_restart_build', () => {
  it('restarts the last build of the branch once, and prints which one and what CI answered', async () => {
    const ci = await startCi({ switches: { restartOutcome: 'none' } })
    failedBuild(ci)
    failedBuild(ci)
    failedBuild(ci, { branch: 'dev' })
    expect(await restartAt(ci)).toEqual({
      code: 0,
      stdout: 'restarting build #502 (failed) of acme/web on main\nCI accepted: build #502, the same build again\n',
      stderr: '',
    })
    expect(posts(ci).map(({ path }) => path)).toEqual(['/api/v1/builds/502/restart.json'])
    expect(ci.state().builds.map(({ runs }) => runs.length)).toEqual([1, 2, 1])
  })

  it('prints the new number if CI makes a new build', async () => {
    const ci = await startCi({ switches: { restartKeepsId: false, restartStatusCode: 202, restartOutcome: 'none' } })
    failedBuild(ci)
    const { code, stdout } = await restartAt(ci)
    expect([code, stdout.split('\n')[1]]).toEqual([0, 'CI accepted: build #502, a new one'])
  })

  it.each([
    { legacyBuildsOrder: 'oldest-first', legacyProjectForm: 'wrapped' },
    { bigIds: true },
    { bigIds: true, legacyBuildsOrder: 'oldest-first' },
    { idsAsStrings: true, legacyStatusWords: 'synonyms' },
  ] as const)('reads every form in which CI may answer: %j', async (switches) => {
    const ci = await startCi({ switches: { ...switches, restartOutcome: 'none' } })
    failedBuild(ci)
    const last = failedBuild(ci)
    const project = 'bigIds' in switches ? String(2n ** 60n + 11n) : '11'
    const { code, stdout } = await restartAt(ci, { SERVICE_API_PROJECT_ID: project })
    expect([code, stdout.split('\n')[0]]).toEqual([0, `restarting build #${last.id} (failed) of acme/web on main`])
    expect(posts(ci).map(({ path }) => path)).toEqual([`/api/v1/builds/${last.id}/restart.json`])
  })

  it('prefers --url to the environment, and accepts an address with a path', async () => {
    const stub = await openStub(playing({}))
    const { code } = await restart({ SERVICE_API_URL: await closedAddress() }, [`--url=${stub.url}/ci/`])
    expect(code).toBe(0)
    expect(stub.requests.map(({ path }) => path)).toEqual([
      '/ci/api/v1/projects/11.json',
      '/ci/api/v1/builds/512/restart.json',
    ])
    expect(stub.requests[0]!.query.get('branch')).toBe('main')
    expect(stub.requests.map(({ query }) => query.get('api_key'))).toEqual([KEY, KEY])
  })

  it('passes on a uuid as the project, and encodes special characters in a branch', async () => {
    const ci = await startCi()
    const { uuid } = projectNamed(ci, 'acme/web')
    const branch = 'feature/a&b=c#é?'
    const stub = await openStub(playing({ project: { builds: [{ id: 7, branch, status: 'success' }] } }))
    const { stdout } = await restart({
      SERVICE_API_URL: stub.url,
      SERVICE_API_PROJECT_ID: uuid,
      SERVICE_API_BRANCH: branch,
    })
    expect(stdout).toContain(`restarting build #7 (passed) of project ${uuid} on ${branch}`)
    expect(stub.requests[0]).toMatchObject({ path: `/api/v1/projects/${uuid}.json` })
    expect(stub.requests[0]!.query.get('branch')).toBe(branch)
  })

  it('ignores builds of other branches if CI shows them', async () => {
    const builds = [
      { id: 600, branch: 'dev', status: 'error' },
      { id: 512, branch: 'main', status: 'error' },
    ]
    const stub = await openStub(playing({ project: { builds } }))
    await restart({ SERVICE_API_URL: stub.url })
    expect(stub.requests[1]!.path).toBe('/api/v1/builds/512/restart.json')
  })

  it('compares ids as numbers: 1000 comes after 999', async () => {
    const builds = ['999', '1000', '998'].map((id) => ({ id, status: 'error' }))
    const stub = await openStub(playing({ project: { builds } }))
    await restart({ SERVICE_API_URL: stub.url })
    expect(stub.requests[1]!.path).toBe('/api/v1/builds/1000/restart.json')
  })

  it('prints an unknown status unchanged, in one line', async () => {
    const stub = await openStub(playing({ project: { builds: [{ id: 512, status: 'resting\u001b[2J\nnow' }] } }))
    const { stdout } = await restart({ SERVICE_API_URL: stub.url })
    expect(stdout).toContain('restarting build #512 (resting [2J now) of project 11 on main\n')
  })

  it.each([
    { status: 202 },
    { status: 200, text: '<p>fine</p>' },
    { status: 200, text: 'x'.repeat(8 * 1024 * 1024 + 1) },
  ])('counts a restart as accepted even if the answer is unreadable', async (answer) => {
    const stub = await openStub(playing({ restart: answer }))
    const { code, stdout } = await restart({ SERVICE_API_URL: stub.url })
    expect([code, stdout.split('\n')[1]]).toEqual([0, 'CI accepted the restart'])
  })

  it('counts a restart as accepted even if the answer breaks off', async () => {
    const stub = await openStub(
      playing({
        restart: (response) =>
          void response.writeHead(200, { 'content-length': 90 }).write('{"id":', () => response.destroy()),
      }),
    )
    expect((await restart({ SERVICE_API_URL: stub.url })).code).toBe(0)
    expect(stub.requests).toHaveLength(2)
  })
})

describe('a missing setting', () => {
  it('is named together with all others', async () => {
    const names = ['SERVICE_API_KEY', 'SERVICE_API_PROJECT_ID', 'SERVICE_API_BRANCH', 'SERVICE_API_URL']
    const { code, stdout, stderr } = await runProgram('service_restart_build', [], { env: { SERVICE_API_BRANCH: ' ' } })
    expect([code, stdout]).toEqual([64, ''])
    for (const name of names) expect(stderr).toContain(name)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it('is not reported if it is set', async () => {
    const { code, stderr } = await restart({ SERVICE_API_BRANCH: undefined })
    expect([code, stderr]).toEqual([64, 'service_restart_build: SERVICE_API_BRANCH is not set. See --help\n'])
  })

  it.each([
    ['SERVICE_API_PROJECT_ID', 'acme/web'],
    ['SERVICE_API_PROJECT_ID', '../projects'],
    ['SERVICE_API_PROJECT_ID', '1'.repeat(21)],
    ['SERVICE_API_URL', 'ci.example'],
    ['SERVICE_API_URL', 'ftp://ci.example'],
    ['SERVICE_API_URL', 'https://ada:password@ci.example'],
    ['SERVICE_API_URL', 'https://ci.example/?api_key=canary'],
  ])('is treated like an invalid one, which is not printed: %s %s', async (name, value) => {
    const { code, stderr } = await restart({ [name]: value })
    expect(code).toBe(64)
    expect(stderr).toContain(`${name} `)
    expect(stderr).not.toContain(value)
  })

  it('is not taken from words after the command, which are not printed either', async () => {
    const { code, stderr } = await restart({}, ['--api-key', 'canary'])
    expect(code).toBe(64)
    expect(stderr).not.toContain('canary')
  })

  it('is explained by --help, which works without settings', async () => {
    const { code, stdout } = await runProgram('service_restart_build', ['--help'])
    expect(code).toBe(0)
    for (const name of ['SERVICE_API_KEY', 'SERVICE_API_PROJECT_ID', 'SERVICE_API_BRANCH', 'SERVICE_API_URL'])
      expect(stdout).toContain(name)
  })
})

describe('when CI refuses', () => {
  it('ends with 77 for a wrong key', async () => {
    const ci = await startCi()
    failedBuild(ci)
    const { code, stderr } = await restartAt(ci, { SERVICE_API_KEY: 'wrong' })
    expect(code).toBe(77)
    expect(stderr).toContain('check SERVICE_API_KEY')
    expect(posts(ci)).toEqual([])
  })

  it.each([
    ['no such project', { SERVICE_API_PROJECT_ID: '99' }, 'no Basic project 99'],
    ['a Pro project', { SERVICE_API_PROJECT_ID: '13' }, 'no Basic project 13'],
    ['a branch that was never built', { SERVICE_API_BRANCH: 'quiet' }, 'no build of acme/web on quiet'],
  ])('ends with 66 for %s', async (_, changes, words) => {
    const ci = await startCi()
    failedBuild(ci)
    const { code, stdout, stderr } = await restartAt(ci, changes)
    expect([code, stdout]).toEqual([66, ''])
    expect(stderr).toContain(words)
  })

  it('exits with 1 for a build that still runs, and says so', async () => {
    const ci = await startCi()
    pushed(ci, { branch: 'main', outcome: 'none' })
    const { code, stderr } = await restartAt(ci)
    expect(code).toBe(1)
    expect(stderr).toContain('it was running, and only a finished build can be restarted')
    expect(posts(ci)).toHaveLength(1)
  })

  it.each([
    [404, 66, 'has no build #512'],
    [403, 77, 'refused the key'],
    [429, 1, 'is limiting our requests'],
    [302, 1, 'redirects'],
    [422, 1, 'did not restart build #512 (HTTP 422'],
    [408, 69, 'it may have been restarted; look before you run it again'],
    [502, 69, 'it may have been restarted; look before you run it again'],
  ])('the restart with %i, it is not sent again and the program exits with %i', async (status, exitCode, words) => {
    const location = { location: '/elsewhere' }
    const stub = await openStub(playing({ restart: { status, headers: status === 302 ? location : {} } }))
    const { code, stderr } = await restart({ SERVICE_API_URL: stub.url })
    expect(code).toBe(exitCode)
    expect(stderr).toContain(words)
    expect(stub.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })

  it('distinguishes a rate limit from a missing permission', async () => {
    const stub = await openStub(playing({ restart: { status: 403, text: 'Rate limit exceeded' } }))
    expect((await restart({ SERVICE_API_URL: stub.url })).code).toBe(1)
  })
})

describe('when CI fails', () => {
  it('retries the reading, twice at most, and restarts once', async () => {
    const ci = await startCi({ switches: { restartOutcome: 'none' } })
    failedBuild(ci)
    ci.addFault({ kind: 'down', where: 'legacy', times: 1 })
    ci.addFault({ kind: 'status', statusCode: 503, retryAfterS: 0, where: 'legacy', times: 1 })
    expect((await restartAt(ci)).code).toBe(0)
    expect(ci.calls().map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST'])
  })

  it('gives up after reading three times, without a restart', async () => {
    const ci = await startCi()
    failedBuild(ci)
    ci.addFault({ kind: 'status', statusCode: 500, retryAfterS: 0, where: 'legacy', times: 3 })
    const { code, stderr } = await restartAt(ci)
    expect(code).toBe(69)
    expect(stderr).toContain('nothing was restarted')
    expect(ci.calls().map(({ method }) => method)).toEqual(['GET', 'GET', 'GET'])
  })

  it('exits with 69 if the connection is refused', async () => {
    const { code, stderr } = await restart({ SERVICE_API_URL: await closedAddress() })
    expect(code).toBe(69)
    expect(stderr).toContain('CI could not be reached (ECONNREFUSED): nothing was restarted')
  })

  it('calls a restart unclear if its answer was lost, and does not send it again', async () => {
    const stub = await openStub(playing({ restart: (response) => void response.destroy() }))
    const { code, stderr } = await restart({ SERVICE_API_URL: stub.url })
    expect(code).toBe(69)
    expect(stderr).toContain('the restart of build #512 is unclear')
    expect(stub.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it.each([{ text: '{"builds":[{"id":' }, { text: '<p>welcome</p>' }, { json: { builds: 'none' } }])(
    'does not guess what an answer means that is not its interface: %j',
    async (answer) => {
      const stub = await openStub(() => answer)
      const { code, stderr } = await restart({ SERVICE_API_URL: stub.url })
      expect(code).toBe(1)
      expect(stderr).toContain('is SERVICE_API_URL right?')
      expect(stub.requests).toHaveLength(1)
    },
  )

  it('reads answers of up to 8 MiB', async () => {
    const answer = (bytes: number): StubAnswer => {
      const start = '{"builds":[{"id":512,"message":"'
      return { text: `${start}${'x'.repeat(bytes - start.length - 4)}"}]}` }
    }
    const codeFor = async (bytes: number) => {
      const stub = await openStub(({ method }) => (method === 'GET' ? answer(bytes) : { json: { id: 512 } }))
      return (await restart({ SERVICE_API_URL: stub.url })).code
    }
    expect([await codeFor(8 * 1024 * 1024), await codeFor(8 * 1024 * 1024 + 1)]).toEqual([0, 1])
  })
})

describe('the key', () => {
  const forms = {
    'as it is': KEY,
    'as in an address': encodeURIComponent(KEY),
    'as in a form': new URLSearchParams({ key: KEY }).toString().slice(4),
    'in base64': Buffer.from(KEY).toString('base64'),
    'with marks in it': Array.from(KEY).join('\u200b'),
  }

  it.each(Object.entries(forms))('is never printed, even if CI’s answer contains it %s', async (_, echoed) => {
    const builds = [{ id: 512, status: `lost ${echoed}`, branch: null }]
    const echoing: StubAnswer = {
      status: 400,
      json: { errors: [`bad key ${echoed}`, `see /api/v1/x?api_key=${echoed}`] },
    }
    const stubs = [
      await openStub(playing({ project: { repository_name: `acme ${echoed}`, builds }, restart: echoing })),
      await openStub(() => ({ ...echoing, reason: 'Bad Request' })),
      await openStub(() => ({ status: 302, headers: { location: `/x?api_key=${encodeURIComponent(echoed)}` } })),
      await openStub(() => ({ status: 401, text: echoed })),
    ]
    for (const { url } of stubs) {
      const { code, stdout, stderr } = await restart({ SERVICE_API_URL: url })
      expect(code).not.toBe(0)
      for (const form of Object.values(forms)) expect(`${stdout}${stderr}`).not.toContain(form)
    }
  })

  it('is left out, while other reasons are printed', async () => {
    const reason = 'the monthly limit is reached'
    const stub = await openStub(playing({ restart: { status: 400, json: { errors: [reason] } } }))
    expect((await restart({ SERVICE_API_URL: stub.url })).stderr).toContain(`(HTTP 400: ${reason})`)
  })

  it.each([
    ['with signs in it', `bad key ${Array.from(KEY).join('-')}`],
    [
      'behind percents of its own',
      `bad key ${Array.from(KEY, (sign) => `%${sign.charCodeAt(0).toString(16)}`).join('')}`,
    ],
    ['where it would be cut in two', `${'x'.repeat(190)} ${KEY}`],
  ])('removes the whole reason that contains it %s', async (_, reason) => {
    const stub = await openStub(playing({ restart: { status: 400, json: { errors: [reason] } } }))
    expect((await restart({ SERVICE_API_URL: stub.url })).stderr).toContain(
      'did not restart build #512 (HTTP 400): it was',
    )
  })

  it.each([200, 201])('leaves room for 200 characters of a reason with %i', async (length) => {
    const stub = await openStub(playing({ restart: { status: 400, json: { error: '✗'.repeat(length) } } }))
    const { stderr } = await restart({ SERVICE_API_URL: stub.url })
    expect(stderr.includes('✗'.repeat(200))).toBe(length === 200)
    expect(stderr.includes(`${'✗'.repeat(199)}…`)).toBe(length === 201)
  })

  it('is not sent on to where a redirect points', async () => {
    const elsewhere = await openStub(playing({}))
    const stub = await openStub(() => ({
      status: 307,
      headers: { location: `${elsewhere.url}/api/v1/projects/11.json` },
    }))
    expect((await restart({ SERVICE_API_URL: stub.url })).code).toBe(1)
    expect(elsewhere.requests).toEqual([])
  })
})
