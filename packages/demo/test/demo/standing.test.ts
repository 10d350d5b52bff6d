import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../sandbox-ci/src/deliveries.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { sentBuilds } from '../../src/demo/sent.ts'
import { judge, type Evidence } from '../../src/demo/standing.ts'
import type { Sent } from '../../src/service/service.ts'
import { build, message, run } from './cast.ts'

const NOTHING = { lost: [], doubled: [], wrong: [], right: 0, onTheWay: 0, notTaken: 0, notCounted: 0 }
const MINUTE_MS = 60_000

/** One that was taken at these times (ms); at none: it was not. */
const delivery = (buildId: string, status: string, ...takenAt: number[]): Sent => ({
  n: 1,
  project: 'acme/web',
  buildId,
  status,
  word: status,
  body: '{}',
  state: 'answered',
  attempts: takenAt.map((at) => ({ kind: 'answered', at, ms: 0, statusCode: 202, body: '' })),
})

const failed = (id: string, change: Partial<BuildSnapshot> = {}) =>
  build({ id, commitId: `c${id}`, status: 'error', runs: [run('error')], ...change })

const card = (id: string, word = 'Failed') =>
  message({ ts: `${id}.000001`, text: `:x: *${word}* acme/web #${id} on \`main\`` })

const decision = (buildId: string, status: Decision['status'], isSent: boolean): Decision => ({
  buildId,
  status,
  notifier: 'slack',
  verdict: isSent ? { kind: 'send', event: 'failed' } : { kind: 'silent', reason: 'event-not-selected' },
})

const evidence = (change: Partial<Evidence>): Evidence => ({
  builds: [failed('501')],
  deliveries: [delivery('501', 'initiated', 1_000), delivery('501', 'error', 2_000)],
  decisions: [],
  messages: [card('501')],
  uncounted: new Set(),
  isBusy: false,
  isPolled: false,
  namesAttempts: false,
  ...change,
})

describe('what CI sent, held against what Slack shows', () => {
  it('is right when each commit has its card, and tells when it was taken', () => {
    const { standing, told } = judge(evidence({}))
    expect(standing).toEqual({ ...NOTHING, right: 1 })
    expect(told).toEqual([{ name: 'acme/web #501', takenAt: 2_000, cardTs: '501.000001' }])
  })

  it('is lost when the bot took it, is done, and no card is there', () => {
    expect(judge(evidence({ messages: [] })).standing).toEqual({ ...NOTHING, lost: ['no card tells acme/web #501'] })
  })

  it('is on its way, and not lost, as long as the bot may be at work on it', () => {
    const { standing, told } = judge(evidence({ messages: [], isBusy: true }))
    expect(standing).toEqual({ ...NOTHING, onTheWay: 1 })
    expect(told).toMatchObject([{ takenAt: 2_000, cardTs: null }])
  })

  it('is wrong, or on its way, when the card says something else', () => {
    const messages = [card('501', 'Running')]
    expect(judge(evidence({ messages })).standing.wrong).toHaveLength(1)
    expect(judge(evidence({ messages, isBusy: true })).standing).toEqual({ ...NOTHING, onTheWay: 1 })
  })

  it('is doubled at once, whatever the bot is at', () => {
    const messages = [card('501'), { ...card('501'), ts: '9.9' }]
    expect(judge(evidence({ messages, isBusy: true })).standing).toMatchObject({
      doubled: ['2 cards tell acme/web #501'],
    })
  })

  it('is not lost when the bot never took it', () => {
    const deliveries = [delivery('501', 'initiated', 1_000), delivery('501', 'error')]
    expect(judge(evidence({ deliveries, messages: [] })).standing).toEqual({ ...NOTHING, notTaken: 1 })
  })

  it('is right, and not missing, when the bot found by asking what it never took', () => {
    const deliveries = [delivery('501', 'initiated', 1_000), delivery('501', 'error')]
    const polled = (messages: Evidence['messages']) =>
      judge(evidence({ deliveries, messages, isPolled: true })).standing
    expect(polled([card('501')])).toEqual({ ...NOTHING, right: 1 })
    expect(polled([])).toEqual({ ...NOTHING, notTaken: 1 })
    expect(polled([card('501', 'Running')])).toEqual({ ...NOTHING, notTaken: 1 })
  })

  it('tells builds apart that have one number in two projects', () => {
    const builds = [failed('7'), failed('7', { project: 'acme/api' })]
    const deliveries = [delivery('7', 'error', 1_000), { ...delivery('7', 'error', 1_000), project: 'acme/api' }]
    const { standing } = judge(evidence({ builds, deliveries, messages: [card('7')] }))
    expect(standing).toEqual({ ...NOTHING, right: 1, lost: ['no card tells acme/api #7'] })
  })

  it('does not look for what CI never sent', () => {
    expect(judge(evidence({ deliveries: [], messages: [] })).standing).toEqual(NOTHING)
  })

  it('counts each build by itself', () => {
    const builds = [failed('501'), failed('502'), failed('503')]
    const deliveries = builds.map(({ id }) => delivery(id, 'error', 1_000))
    const { standing } = judge(evidence({ builds, deliveries, messages: [card('501'), card('503')] }))
    expect(standing).toEqual({ ...NOTHING, right: 2, lost: ['no card tells acme/web #502'] })
  })

  it('wants one notice for builds that the account did not allow', () => {
    const builds = [build({ id: '501', status: 'ignored', runs: [run('ignored')] })]
    const deliveries = [delivery('501', 'ignored', 1_000)]
    const notice = message({ text: ':calendar: *1 build was not built*' })
    expect(judge(evidence({ builds, deliveries, messages: [notice] })).standing).toEqual({ ...NOTHING, right: 1 })
    expect(judge(evidence({ builds, deliveries, messages: [] })).standing.lost).toHaveLength(1)
    expect(judge(evidence({ builds, deliveries, messages: [notice, notice] })).standing.doubled).toHaveLength(1)
  })

  it('wants a notice that counts a build which ran when it was restarted, and a card for its restart', () => {
    const builds = [build({ id: '501', runs: [run('ignored'), run('success')] })]
    const deliveries = [delivery('501', 'ignored', 1_000), delivery('501', 'success', 2_000)]
    const [passed, counts] = [card('501', 'Passed'), (n: number) => message({ text: `*${n} builds were not built*` })]
    const seen = (messages: Evidence['messages']) => judge(evidence({ builds, deliveries, messages })).standing
    expect(seen([counts(1), passed])).toEqual({ ...NOTHING, right: 2 })
    expect(seen([counts(0), passed]).wrong).toEqual(['the notice counts 0 builds, and CI left out 1'])
    expect(seen([counts(1)]).lost).toEqual(['no card tells acme/web #501'])
  })
})

describe('the rules', () => {
  it('leave a build out of which they send nothing', () => {
    const decisions = [decision('501', 'initiated', false), decision('501', 'error', false)]
    expect(judge(evidence({ decisions, messages: [] })).standing).toEqual(NOTHING)
  })

  it('leave nothing out when one of them sends it', () => {
    const decisions = [decision('501', 'error', false), decision('501', 'error', true)]
    expect(judge(evidence({ decisions, messages: [] })).standing.lost).toHaveLength(1)
  })

  it('want one card, and no thread, where they send a part', () => {
    const decisions = [decision('501', 'initiated', false), decision('501', 'error', true)]
    const twice = [failed('501', { runs: [run('error'), run('error')] })]
    const deliveries = [delivery('501', 'error', 1_000), delivery('501', 'error', 2_000)]
    const seen = (messages: Evidence['messages']) =>
      judge(evidence({ builds: twice, deliveries, decisions, messages })).standing
    expect(seen([card('501')])).toEqual({ ...NOTHING, right: 1 })
    expect(seen([]).lost).toHaveLength(1)
    expect(judge(evidence({ builds: twice, deliveries, messages: [card('501')] })).standing.lost).toHaveLength(1)
  })

  it('say nothing of a build during which they changed', () => {
    const { standing } = judge(evidence({ uncounted: new Set(['501']), messages: [] }))
    expect(standing).toEqual({ ...NOTHING, notCounted: 1 })
  })
})

describe('rules that somebody gave #builds', () => {
  const subscribed = (to: string, at = 1.5) =>
    message({
      ts: `${at}00000`,
      text: `:bell: <@U0ADA00001> subscribed this channel to ${to}: broken on every branch.`,
    })
  const seen = (line: Evidence['messages'][number]) => judge(evidence({ messages: [line] })).standing

  it.each(['acme/web', 'all projects'])('leave its builds out of the count from then on: %s', (to) => {
    expect(seen(subscribed(to))).toEqual({ ...NOTHING, notCounted: 1 })
  })

  it('leave out no build of another project, and none that was told before', () => {
    expect(seen(subscribed('acme/api')).lost).toHaveLength(1)
    expect(seen(subscribed('acme/web', 2.5)).lost).toHaveLength(1)
  })

  it('leave the notice of the account out too', () => {
    const builds = [build({ id: '501', status: 'ignored', runs: [run('ignored')] })]
    const deliveries = [delivery('501', 'ignored', 2_000)]
    const { standing } = judge(evidence({ builds, deliveries, messages: [subscribed('acme/web')] }))
    expect(standing).toEqual({ ...NOTHING, notCounted: 1 })
  })
})

describe('a start that is sent again', () => {
  const isAmbiguous = (starts: number[], endedAt: number, namesAttempts = false) => {
    const deliveries = [delivery('501', 'initiated', ...starts), delivery('501', 'error', endedAt)]
    return sentBuilds([failed('501')], deliveries, namesAttempts)[0]!.isAmbiguous
  }

  it.each([
    ['came once, before the end', [1_000], 2_000, false],
    ['came twice before the end', [1_000, 1_500], 2_000, false],
    ['came once, up to a minute after the end', [2_000 + MINUTE_MS], 2_000, false],
    ['came once, more than a minute after the end', [2_001 + MINUTE_MS], 2_000, true],
    ['came before the end, and again after it', [1_000, 2_001], 2_000, true],
  ])('looks like a restart or not: it %s', (_, starts, endedAt, is) => {
    expect(isAmbiguous(starts, endedAt)).toBe(is)
  })

  it('never looks like one where a delivery says which attempt it is about', () => {
    expect(isAmbiguous([1_000, 2_001], 2_000, true)).toBe(false)
  })

  it('leaves a build out of the count when it does', () => {
    const deliveries = [delivery('501', 'initiated', 1_000, 3_000), delivery('501', 'error', 2_000)]
    const { standing } = judge(evidence({ deliveries, messages: [] }))
    expect(standing).toEqual({ ...NOTHING, notCounted: 1 })
  })
})
