import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { control, legacy, projectNamed, pushed, reached, request, startCi, startReceiver, v2 } from './support.ts'

const idOf = (json: unknown) => z.object({ uuid: z.string(), id: z.string() }).parse(json)

describe('the control interface', () => {
  it('lists its calls', async () => {
    const { json } = await control(await startCi(), 'GET', '')
    expect(z.object({ control: z.array(z.string()) }).parse(json).control).toContain(
      'POST /sandbox/projects/:project/push',
    )
  })

  it.each([
    ['another page', 'https://elsewhere.example', 403],
    ['its own page', null, 200],
  ])('lets %s in a browser switch it %s', async (_, origin, status) => {
    const ci = await startCi()
    const headers = { origin: origin ?? ci.url, 'content-type': 'application/json' }
    const answer = await fetch(`${ci.url}/sandbox/nightly`, { method: 'POST', headers, body: '{}' })
    expect(Math.floor(answer.status / 100)).toBe(Math.floor(status / 100))
    expect(ci.state().builds.length > 0).toBe(status === 200)
  })

  it.each(['acme/web', 'acme%2Fweb', '11'])('pushes to %s', async (project) => {
    const ci = await startCi()
    const push = { branch: 'dev', message: 'Fix login', committer: 'Grace', outcome: 'error', ms: 0 }
    const answer = await control(ci, 'POST', `/projects/${project}/push`, push)
    expect(answer).toMatchObject({
      status: 201,
      json: { project: 'acme/web', branch: 'dev', committer: 'Grace', status: 'initiated' },
    })
    await reached(ci, idOf(answer.json).uuid, 'error')
  })

  it('finishes, restarts, stops and approves builds, by uuid or id', async () => {
    const ci = await startCi()
    const act = (id: string, what: string, body?: unknown) => control(ci, 'POST', `/builds/${id}/${what}`, body)
    const { uuid, id } = idOf(
      (await control(ci, 'POST', '/projects/acme/ios/push', { needsApproval: true, ms: 60_000 })).json,
    )
    expect((await act(uuid, 'approve')).json).toMatchObject({ status: 'initiated' })
    expect((await act(id, 'finish', { outcome: 'infrastructure_failure' })).json).toMatchObject({
      status: 'infrastructure_failure',
    })
    expect((await act(id, 'finish')).status).toBe(409)
    expect((await act(id, 'restart', { outcome: 'none' })).json).toMatchObject({
      status: 'initiated',
      runs: { length: 2 },
    })
    expect((await act(id, 'stop')).status).toBe(200)
    await reached(ci, uuid, 'stopped')
    expect((await act('999', 'stop')).status).toBe(404)
  })

  it('refuses invalid calls with a reason', async () => {
    const ci = await startCi()
    const push = (body: unknown) => control(ci, 'POST', '/projects/acme/web/push', body)
    expect(await push({ outcome: 'maybe' })).toMatchObject({ status: 400 })
    expect((await push({ brunch: 'main' })).text).toContain('brunch')
    expect((await push('{')).status).toBe(400)
    expect((await control(ci, 'POST', '/projects/acme/none/push', {})).status).toBe(404)
    expect((await control(ci, 'POST', '/projects/acme/none/storm', { builds: 1 })).status).toBe(404)
    expect(ci.state().builds).toEqual([])
  })

  it('says that the branch filter leaves a branch out', async () => {
    const ci = await startCi()
    await v2(ci, 'PUT', `/projects/${projectNamed(ci, 'acme/web').uuid}`, { type: 'basic', branches: ['main'] })
    expect((await control(ci, 'POST', '/projects/acme/web/push', { branch: 'dev' })).status).toBe(409)
  })

  it('shows and changes switches; an unknown one changes nothing', async () => {
    const ci = await startCi()
    expect((await control(ci, 'POST', '/switches', { listForm: 'envelope' })).json).toMatchObject({
      listForm: 'envelope',
    })
    expect((await control(ci, 'POST', '/switches', { listForm: 'array', wrong: 1 })).status).toBe(400)
    expect((await control(ci, 'POST', '/switches', { errorForm: 'xml' })).status).toBe(400)
    expect((await control(ci, 'POST', '/switches', [])).status).toBe(400)
    expect((await control(ci, 'GET', '/switches')).json).toMatchObject({ listForm: 'envelope', errorForm: 'errors' })
  })

  it('points every webhook rule to another address', async () => {
    const [first, second] = [await startReceiver(), await startReceiver()]
    const ci = await startCi({ webhookUrl: first.url })
    expect((await control(ci, 'POST', '/webhook', { url: second.url })).status).toBe(200)
    expect((await control(ci, 'POST', '/webhook', { url: 'file:///etc' })).status).toBe(400)
    pushed(ci, { outcome: 'none' })
    await ci.settle()
    expect([first.received.length, second.received.length]).toEqual([0, 1])
  })

  it('logs the calls of the interface without the API key, but not its own calls', async () => {
    const ci = await startCi()
    await legacy(ci, 'GET', 'projects/11.json', '&branch=main')
    await v2(ci, 'POST', '/projects', { type: 'basic' })
    const { json, text } = await control(ci, 'GET', '/calls')
    expect(json).toMatchObject({
      calls: [
        { n: 1, method: 'GET', path: '/api/v1/projects/11.json', query: 'branch=main', statusCode: 200 },
        { n: 2, method: 'POST', body: '{"type":"basic"}', statusCode: 400 },
      ],
    })
    expect(text).not.toContain(ci.address().apiKey)
  })

  it('replaces the rules of a project, in the form of either interface', async () => {
    const ci = await startCi()
    const rules = [
      {
        notifier: 'slack',
        target: 'committer',
        branch: 'release/*',
        build_statuses: ['failed'],
        options: { key: 'k' },
      },
    ]
    const answer = await control(ci, 'POST', '/projects/acme/web/rules', { rules })
    expect(answer).toMatchObject({ status: 200, json: { rules: [{ ...rules[0], branch_match: 'wildcard' }] } })
    const email = [{ notifier: 'email', email_target: 'committer', build_statuses: ['failed'] }]
    await control(ci, 'POST', '/projects/acme/api/rules', { rules: email })
    const targets = ['acme/web', 'acme/api'].map((name) => projectNamed(ci, name).notification_rules[0]!.target)
    expect(targets).toEqual(['committer', 'committer'])
    // Rules can be sent back in the form that the state shows.
    const shown = projectNamed(ci, 'acme/ios').notification_rules
    expect((await control(ci, 'POST', '/projects/acme/ios/rules', { rules: shown })).json).toEqual({ rules: shown })
  })

  it('refuses invalid rules, and keeps the old ones', async () => {
    const ci = await startCi()
    const before = projectNamed(ci, 'acme/web').notification_rules
    const set = (rules: unknown, name = 'acme/web') => control(ci, 'POST', `/projects/${name}/rules`, { rules })
    expect((await set([{ notifier: 'slack', build_statuses: ['failed'] }])).text).toContain('slack needs key')
    expect((await set([{ notifier: 'email', build_statuses: [] }])).status).toBe(400)
    expect((await set('none')).status).toBe(400)
    expect((await set([], 'acme/none')).status).toBe(404)
    expect(projectNamed(ci, 'acme/web').notification_rules).toEqual(before)
  })

  it('builds the newest commit of main of every project again as a nightly build', async () => {
    const ci = await startCi()
    const { commitId } = pushed(ci, { committer: 'Grace', outcome: 'none' })
    pushed(ci, { branch: 'dev', outcome: 'none' })
    const { status, json } = await control(ci, 'POST', '/nightly')
    expect(status).toBe(201)
    expect(json).toMatchObject({
      builds: [
        { project: 'acme/web', branch: 'main', commitId, committer: 'Grace' },
        { project: 'acme/api', branch: 'main', message: 'Nightly build' },
        { project: 'acme/ios' },
      ],
    })
    expect(ci.state().builds).toHaveLength(5)
  })

  it('makes the first key and tokens valid again', async () => {
    const ci = await startCi()
    const { apiKey, authorization } = ci.address()
    await control(ci, 'POST', '/forget-key')
    await control(ci, 'POST', '/remember-key')
    expect((await v2(ci, 'GET', '/projects', undefined, authorization)).status).toBe(200)
    expect((await request('GET', `${ci.url}/api/v1/projects.json?api_key=${apiKey}`)).status).toBe(200)
  })

  it('forgets the key and every token, until a reset', async () => {
    const ci = await startCi()
    const { apiKey } = ci.address()
    const ask = async () => [
      (await request('GET', `${ci.url}/api/v1/projects.json?api_key=${apiKey}`)).status,
      (await v2(ci, 'GET', '/projects')).status,
    ]
    expect(await ask()).toEqual([200, 200])
    await control(ci, 'POST', '/forget-key')
    expect(await ask()).toEqual([401, 401])
    expect((await legacy(ci, 'GET', 'projects.json')).status).toBe(200)
    await control(ci, 'POST', '/reset')
    expect(await ask()).toEqual([200, 200])
  })

  it('resets everything to the start, ids included', async () => {
    const ci = await startCi({ switches: { listForm: 'envelope' } })
    const before = ci.state()
    pushed(ci, { outcome: 'none' })
    ci.setSwitches({ bigIds: true })
    ci.addFault({ kind: 'down' })
    await control(ci, 'POST', '/reset')
    const ids = ({ projects }: typeof before) => projects.map(({ uuid, id }) => [uuid, id])
    expect(ids(ci.state())).toEqual(ids(before))
    expect(ci.state()).toMatchObject({ builds: [], switches: before.switches })
    expect([ci.faults(), ci.calls()]).toEqual([[], []])
  })
})

describe('faults', () => {
  const list = (ci: Awaited<ReturnType<typeof startCi>>) => v2(ci, 'GET', '/projects')

  it.each([401, 403, 500, 502, 503])('status answers %i as often as asked', async (statusCode) => {
    const ci = await startCi()
    await control(ci, 'POST', '/faults', { kind: 'status', statusCode, times: 2, retryAfterS: 3 })
    const answers = [await list(ci), await list(ci), await list(ci)]
    expect(answers.map(({ status }) => status)).toEqual([statusCode, statusCode, 200])
    expect(answers[0]!.headers.get('retry-after')).toBe('3')
  })

  it('status can carry a reason', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'status', statusCode: 403, reason: 'rate limit reached' })
    expect(await list(ci)).toMatchObject({ status: 403, statusText: 'rate limit reached' })
  })

  it('down closes the connection and does nothing', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'down', times: 1 })
    await expect(v2(ci, 'POST', '/projects/13/reset_aes_key', {})).rejects.toThrow('fetch failed')
    expect(ci.calls()).toMatchObject([{ statusCode: 0 }])
    expect((await list(ci)).status).toBe(200)
  })

  it('lost-answer handles the call and closes the connection', async () => {
    const ci = await startCi({ switches: { restartOutcome: 'none' } })
    const build = pushed(ci, { outcome: 'none' })
    ci.finish(build.uuid, 'error')
    ci.addFault({ kind: 'lost-answer', times: 1 })
    await expect(legacy(ci, 'POST', `builds/${build.id}/restart.json`)).rejects.toThrow('fetch failed')
    expect(ci.state().builds[0]).toMatchObject({ status: 'initiated', runs: { length: 2 } })
  })

  it('slow answers after its delay', async () => {
    const slept: number[] = []
    const sleep = async (ms: number) => void slept.push(ms)
    const ci = await startCi({ clock: { now: () => Date.now(), sleep } })
    ci.addFault({ kind: 'slow', ms: 2_000, times: 1 })
    expect([(await list(ci)).status, (await list(ci)).status]).toEqual([200, 200])
    expect(slept).toEqual([2_000])
  })

  it('hang never answers and does nothing', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'hang', times: 1 })
    const gone = new AbortController()
    const asked = fetch(`${ci.url}/v2/organizations/x/projects`, { signal: gone.signal })
    await vi.waitFor(() => expect(ci.calls()).toHaveLength(1))
    gone.abort()
    await expect(asked).rejects.toThrow('aborted')
  })

  it('garbage is a 200 with invalid JSON', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'garbage', times: 1 })
    expect(await list(ci)).toMatchObject({ status: 200, json: undefined })
  })

  it('applies only where it says, never to the control interface, and can be cleared', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'status', statusCode: 500, where: 'legacy' })
    expect((await list(ci)).status).toBe(200)
    expect((await legacy(ci, 'GET', 'projects.json')).status).toBe(500)
    ci.addFault({ kind: 'down' })
    expect((await control(ci, 'GET', '/faults')).json).toMatchObject({ faults: { length: 2 } })
    await control(ci, 'DELETE', '/faults')
    expect((await legacy(ci, 'GET', 'projects.json')).status).toBe(200)
  })

  it.each([{ kind: 'fire' }, { kind: 'slow' }, { kind: 'status', statusCode: 200 }, { kind: 'down', where: 'moon' }])(
    '%j is refused',
    async (fault) => {
      const ci = await startCi()
      expect((await control(ci, 'POST', '/faults', fault)).status).toBe(400)
      expect(ci.faults()).toEqual([])
    },
  )
})

describe('starting', () => {
  it('has no address before it is started, and frees its port when stopped', async () => {
    const { createSandboxCi } = await import('../src/server.ts')
    const ci = createSandboxCi()
    expect(() => ci.url).toThrow('the sandbox has been started')
    const url = await ci.start()
    await ci.stop()
    await expect(fetch(url)).rejects.toThrow('fetch failed')
    const again = createSandboxCi()
    await expect(again.start(Number(new URL(url).port))).resolves.toBe(url)
    const third = createSandboxCi()
    await expect(third.start(Number(new URL(url).port))).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await again.stop()
  })
})
