import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock as clock } from '../../../../../src/lib/clock.ts'
import { createPanel } from '../../../src/panel/panel.ts'
import { ciService } from '../../../src/service/ci.ts'
import { githubService } from '../../../src/service/github.ts'
import type { Service } from '../../../src/service/service.ts'
import { startGithub } from '../../../../sandbox-github/test/support.ts'
import { createSandboxSlack } from '../../../../sandbox-slack/src/sandbox-slack.ts'
import type { PanelState, Watched } from '../../../../sandbox-slack/src/panel-state.ts'
import { pushed, reached, request, startCi, startReceiver } from '../../../../sandbox-ci/test/support.ts'

const STANDING = { lost: [], doubled: [], wrong: [], right: 0, onTheWay: 0, notTaken: 0, notCounted: 0 }
const WATCHED: Watched = {
  bot: { state: 'running', pid: 7, starts: 1 },
  rules: { unread: [], dueAt: 0, onListFrom: 0 },
  queue: null,
  lag: { medianMs: null, oldestMs: null },
  standing: STANDING,
}

/** A page with a CI beside it, and a keeper that writes down what it is told. */
async function openPanel() {
  const receiver = await startReceiver()
  const ci = await startCi({ webhookUrl: receiver.url })
  return { ci, receiver, ...(await openPanelOf(ciService(ci))) }
}

async function openPanelOf(ci: Service) {
  const slack = createSandboxSlack({ rates: 'off' })
  await slack.start()
  onTestFinished(() => slack.stop())
  const told: string[] = []
  const keeper = {
    watched: () => WATCHED,
    scene: () => null,
    pull: () => void told.push('pull'),
    plugIn: () => void told.push('plug in'),
    reset: (isPlayed: boolean) => void told.push(isPlayed ? 'reset and play' : 'reset'),
  }
  slack.openPanel(createPanel({ ci, slack, keeper, clock }))
  const at = (path: string) => `${slack.url}/sandbox/${path}`
  const post = (path: string, body: unknown = {}, headers = {}) => request('POST', at(path), body, headers)
  const state = async () => (await (await fetch(at('panel/state'))).json()) as PanelState
  return { slack, told, at, post, state }
}

describe('the other side, at the address of the page', () => {
  it('passes what is below /sandbox/ci on to the control interface of CI', async () => {
    const { ci, post, at } = await openPanel()
    const answer = await post('ci/projects/acme%2Fweb/push', { branch: 'dev', outcome: 'none' })
    expect(answer).toMatchObject({ status: 201, json: { project: 'acme/web', branch: 'dev' } })
    expect(ci.state().builds).toHaveLength(1)
    expect((await request('GET', at('ci/deliveries/1'))).json).toMatchObject({ n: 1, status: 'initiated' })
    expect((await post('ci/projects/acme%2Fweb/push', { outcome: 'maybe' })).status).toBe(400)
    expect((await post('ci/nowhere')).status).toBe(404)
    expect((await request('GET', at('ci/forget-key'))).status).toBe(405)
  })

  it('shows projects, rules, builds with their progress, and deliveries, newest first', async () => {
    const { ci, state } = await openPanel()
    pushed(ci, { outcome: 'none' })
    const { uuid } = pushed(ci, { outcome: 'none' }, 'acme/ios')
    ci.finish(uuid, 'error')
    await ci.settle()
    expect(await state()).toMatchObject({
      projects: [
        { name: 'acme/web', type: 'basic' },
        { name: 'acme/api', type: 'basic' },
        { name: 'acme/ios', type: 'pro', rules: [{ notifier: 'email' }, {}, {}, {}] },
      ],
      builds: [
        { project: 'acme/web', status: 'initiated', runMs: null, attempt: 1, startedAt: expect.any(Number) },
        { project: 'acme/ios', status: 'error' },
      ],
      buildsTotal: 2,
      unfinishedTotal: 1,
      deliveries: [
        { n: 3, project: 'acme/ios', status: 'error', state: 'answered', answer: 202, isTaken: true },
        { n: 2 },
        { n: 1 },
      ],
      untaken: [],
      watched: WATCHED,
    })
  })

  it('lists what is held back, oldest first, until it is sent in any order', async () => {
    const { ci, post, state, receiver } = await openPanel()
    await post('ci/switches', { holdDeliveries: true })
    const { uuid } = pushed(ci, { outcome: 'none' })
    ci.finish(uuid, 'success')
    expect(await state()).toMatchObject({ isHolding: true, untaken: [1, 2] })
    await post('ci/deliveries/resend', { order: [2] })
    await ci.settle()
    await post('ci/deliveries/resend', { order: [1] })
    await ci.settle()
    expect(receiver.statuses()).toEqual(['success', 'initiated'])
    expect((await state()).untaken).toEqual([])
  })

  it.each([
    ['ratelimited', 200, 429],
    ['down', 200, 'fetch failed'],
    ['accept-then-drop', 200, 'fetch failed'],
  ] as const)('breaks Slack so that it is %s, and mends it', async (how, well, broken) => {
    const { slack, post, state } = await openPanel()
    const say = () =>
      request('POST', `${slack.apiUrl}chat.postMessage`, { channel: 'C0BUILDS01', text: 'Hello' }, bearer).then(
        ({ status }) => status,
        (error: Error) => error.message,
      )
    const bearer = { authorization: `Bearer ${slack.botToken}` }
    expect((await post('panel/slack', { break: how })).status).toBe(202)
    expect([(await state()).slackBreak, await say()]).toEqual([how, broken])
    await post('panel/slack', { break: 'none' })
    expect([(await state()).slackBreak, await say()]).toEqual(['none', well])
  })

  it.each([
    ['down', 'fetch failed'],
    ['forgets', 401],
  ] as const)('breaks CI so that it is %s, and mends it', async (how, broken) => {
    const { ci, post, state } = await openPanel()
    const { baseUrl, organizationUuid, authorization } = ci.address()
    const list = () =>
      request('GET', `${baseUrl}/organizations/${organizationUuid}/projects`, undefined, { authorization }).then(
        ({ status }) => status,
        (error: Error) => error.message,
      )
    await post('panel/ci', { break: how })
    expect([(await state()).ciBreak, await list()]).toEqual([how, broken])
    await post('panel/ci', { break: 'none' })
    expect([(await state()).ciBreak, await list()]).toEqual(['none', 200])
  })

  it('breaks CI so that it is slow, and one way at a time', async () => {
    const { ci, post, state } = await openPanel()
    await post('panel/ci', { break: 'forgets' })
    await post('panel/ci', { break: 'slow' })
    expect([(await state()).ciBreak, ci.faults()]).toEqual(['slow', [{ kind: 'slow', where: 'all', ms: 6_000 }]])
    expect(ci.state().tokens).not.toEqual([])
  })

  it('breaks another service only in the ways that it has, and shows no switch that it lacks', async () => {
    const { post, state } = await openPanelOf(githubService(await startGithub()))
    expect((await post('panel/ci', { break: 'forgets' })).status).toBe(400)
    expect((await post('panel/ci', { break: 'down' })).status).toBe(202)
    expect(await state()).toMatchObject({
      service: { one: 'run', breaks: ['none', 'down'], hasNightly: false },
      ciBreak: 'down',
      isHolding: null,
      isOverLimit: null,
    })
    expect((await post('ci/switches', { overLimit: true })).status).toBe(404)
  })

  it('says when a script has set a fault of its own', async () => {
    const { ci, slack, state } = await openPanel()
    ci.addFault({ kind: 'garbage' })
    slack.faults.add({ kind: 'slow' })
    expect(await state()).toMatchObject({ ciBreak: 'other', slackBreak: 'other' })
  })

  it('pulls the plug, puts it in again, and resets, by whoever keeps the bot', async () => {
    const { post, told } = await openPanel()
    await post('panel/plug', { isIn: false })
    await post('panel/plug', { isIn: true })
    await post('panel/reset')
    await post('panel/reset', { isPlayed: true })
    expect(told).toEqual(['pull', 'plug in', 'reset', 'reset and play'])
  })

  it.each([
    ['panel/plug', {}, 400],
    ['panel/plug', '{', 400],
    ['panel/slack', { break: 'fire' }, 400],
    ['panel/ci', { break: 'none', more: 1 }, 400],
    ['panel/moon', {}, 404],
  ])('refuses %s with %j', async (path, body, status) => {
    const { post, told } = await openPanel()
    expect((await post(path, body)).status).toBe(status)
    expect(told).toEqual([])
  })

  it('lets no other site do anything', async () => {
    const { ci, slack, post, told } = await openPanel()
    const origin = { origin: 'http://elsewhere.example' }
    expect((await post('panel/plug', { isIn: false }, origin)).status).toBe(403)
    expect((await post('ci/projects/acme%2Fweb/push', {}, origin)).status).toBe(403)
    expect([told, ci.state().builds]).toEqual([[], []])
    expect((await post('panel/plug', { isIn: false }, { origin: slack.url })).status).toBe(202)
  })

  it('is not there where Slack runs alone', async () => {
    const slack = createSandboxSlack()
    await slack.start()
    onTestFinished(() => slack.stop())
    expect((await request('GET', `${slack.url}/sandbox/panel/state`)).status).toBe(404)
  })
})

describe('the stream of the page', () => {
  it('tells a page of the other side that was there before it', async () => {
    const { ci, slack } = await openPanel()
    const other = createSandboxSlack()
    await other.start()
    onTestFinished(() => other.stop())
    const first = panelStates(`${other.url}/sandbox/events`).next()
    const hello = await fetch(`${other.url}/sandbox/events`)
    expect(hello.status).toBe(200)
    await hello.body!.cancel()
    const keeper = { watched: () => WATCHED, scene: () => null, pull() {}, plugIn() {}, reset() {} }
    other.openPanel(createPanel({ ci: ciService(ci), slack, keeper, clock }))
    expect((await first).value).toMatchObject({ buildsTotal: 0 })
  })

  it('ends whole when the sandbox stops', async () => {
    const { slack, at } = await openPanel()
    const stream = await fetch(at('events'))
    await slack.stop()
    // A stream that is cut off in the middle rejects here.
    expect(await stream.text()).toContain('event: state')
  })

  it('tells the state of the other side at once, and again when it changes', async () => {
    const { ci, at } = await openPanel()
    const states = panelStates(at('events'))
    expect((await states.next()).value).toMatchObject({ buildsTotal: 0 })
    const { uuid } = pushed(ci, { outcome: 'none' })
    await reached(ci, uuid, 'initiated')
    for await (const { buildsTotal } of states) if (buildsTotal === 1) return
    throw new Error('the stream ended')
  })
})

/** The panel's states as the stream tells them. */
async function* panelStates(url: string): AsyncGenerator<PanelState> {
  const left = new AbortController()
  onTestFinished(() => left.abort())
  const { body } = await fetch(url, { signal: left.signal })
  let text = ''
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop()!
    for (const event of events) {
      const told = /^event: panel\ndata: (.*)$/.exec(event)?.[1]
      if (told !== undefined) yield JSON.parse(told)
    }
  }
}
