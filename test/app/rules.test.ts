import { describe, expect, it, onTestFinished } from 'vitest'
import type { SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { startCi, v2, projectNamed } from '../../packages/sandbox-ci/test/support.ts'
import type { Build, Settings, Stage } from '../support/app.ts'
import { buildOf, databasePath, openStage, sendAll, settled, until, WEBHOOK_SECRET } from '../support/app.ts'
import { BUILDS, headlines, OPS, saidIn, untilSaid, WEB } from './channel.ts'

/** So much later an alert may be posted, whatever CI does. It waits a second for the first reading of the rules. */
const LATER_MS_MAX = 2_000

const API = { project_id: 12, project_name: 'acme/api', project_full_name: 'acme/api' }

describe('subscriptions', () => {
  it('of the default channel get projects that no other channel follows', async () => {
    const { app, slack } = await openStage({
      settings: { DEFAULT_CHANNEL: BUILDS },
      subscriptions: [`{ channel: ${WEB}, project: acme/web }`],
    })
    await sendAll(app.url, buildOf(1, { status: 'error' }), buildOf(2, { status: 'error', ...API }))
    await settled(app.url)
    expect([headlines(slack, WEB), headlines(slack, BUILDS)]).toEqual([['Failed acme/web #1'], ['Failed acme/api #2']])
  })

  it('with their own events and branch get only those', async () => {
    const { app, slack } = await openStage({
      subscriptions: [
        `{ channel: ${WEB}, project: all, events: [failed] }`,
        `{ channel: ${OPS}, project: "11", branch: "release/*" }`,
        `{ channel: ${BUILDS}, project: ACME/WEB, events: [success, recovered], branch: "^v[0-9]+$", branch_match: regex }`,
      ],
    })
    await sendAll(app.url, buildOf(1, { status: 'success' }), buildOf(2, { status: 'error' }))
    await sendAll(
      app.url,
      buildOf(3, { status: 'success', branch: 'release/1/a' }),
      buildOf(4, { status: 'success', branch: 'v12' }),
    )
    await sendAll(
      app.url,
      buildOf(5, { status: 'error', branch: 'v12' }),
      buildOf(6, { ...API, status: 'success', branch: 'v12' }),
    )
    await settled(app.url)
    expect(headlines(slack, WEB).sort()).toEqual(['Failed acme/web #2', 'Failed acme/web #5'])
    expect(headlines(slack, OPS)).toEqual(['Passed acme/web #3'])
    expect(headlines(slack, BUILDS)).toEqual(['Passed acme/web #4'])
  })

  it('to failures only open no card for a start, but keep an existing card up to date', async () => {
    const { app, slack } = await openStage({ subscriptions: [`{ channel: ${WEB}, project: all, events: [failed] }`] })
    await sendAll(app.url, { status: 'initiated' })
    await settled(app.url)
    expect(headlines(slack, WEB)).toEqual([])
    await sendAll(app.url, { status: 'error' })
    await untilSaid(slack, WEB, ['Failed acme/web #512'])
    await sendAll(app.url, { status: 'initiated' })
    await untilSaid(slack, WEB, ['Running acme/web #512'])
  })

  it('that are quiet broadcast no replies', async () => {
    const { app, slack } = await openStage({
      subscriptions: [`{ channel: ${WEB}, project: all, quiet: true }`, `{ channel: ${OPS}, project: all }`],
    })
    await sendAll(app.url, { status: 'initiated' })
    await until('both have cards', () => [WEB, OPS].every((channel) => saidIn(slack, channel).length === 1))
    await sendAll(app.url, { status: 'error' })
    await until('both have replies', () =>
      [WEB, OPS].every((channel) => saidIn(slack, channel)[0]!.replies.length === 1),
    )
    expect([WEB, OPS].map((channel) => saidIn(slack, channel)[0]!.replies[0]!.isBroadcast)).toEqual([false, true])
  })
})

describe('a failure and its restarts', () => {
  it('are two messages of each channel: the card, and one line that says how it went on', async () => {
    const { app, slack } = await openStage({
      subscriptions: [`{ channel: ${WEB}, project: all }`, `{ channel: ${OPS}, project: all, events: [changes] }`],
    })
    const lines = (channel: string) => saidIn(slack, channel)[0]!.replies.filter(({ isBroadcast }) => isBroadcast)
    const untilLine = (channel: string, words: string) =>
      until(`${channel} reads ${words}`, () => lines(channel).some(({ text }) => text.includes(words)))
    await sendAll(app.url, { status: 'initiated' })
    await untilSaid(slack, WEB, ['Running acme/web #512'])
    await sendAll(app.url, { status: 'error' })
    await untilLine(WEB, '*Failed* acme/web')
    await untilSaid(slack, OPS, ['Failed acme/web #512'])
    await sendAll(app.url, { status: 'initiated' })
    await untilLine(WEB, '*Failed, run again* acme/web')
    await sendAll(app.url, { status: 'success' })
    await untilLine(WEB, '*Failed, then passed on attempt 2 (flaky)* acme/web')
    await untilLine(OPS, '*Passed on attempt 2 (flaky)* acme/web')
    await settled(app.url)
    expect([WEB, OPS].map((channel) => [saidIn(slack, channel).length, lines(channel).length])).toEqual([
      [1, 1],
      [1, 1],
    ])
  })
})

describe('the committer of a failed build', () => {
  const mentioned = async (subscription: string, build: Build, claim: string | null): Promise<boolean> => {
    const { app, slack, folder } = await openStage({ subscriptions: [subscription] })
    if (claim !== null) await claimHandle(folder, claim)
    await sendAll(app.url, build)
    await until('a card is there', () => saidIn(slack, WEB).length === 1)
    return saidIn(slack, WEB)[0]!.text.includes('<@U0ADA00001>')
  }
  const told = `{ channel: ${WEB}, project: all }`
  const unreached = `{ channel: ${WEB}, project: all, mention: nobody }`

  it('is mentioned if the handle is claimed and the channel mentions people', async () => {
    expect(await mentioned(told, { status: 'error' }, 'ada')).toBe(true)
  })

  it.each<[why: string, subscription: string, status: string, claim: string | null]>([
    ['nobody claimed the handle', told, 'error', null],
    ['somebody claimed another handle', told, 'error', 'ada2'],
    ['the channel mentions nobody', unreached, 'error', 'ada'],
    ['the build had a machine error', told, 'infrastructure_failure', 'ada'],
    ['the build passed', told, 'success', 'ada'],
  ])('is not mentioned when %s', async (_, subscription, status, claim) => {
    expect(await mentioned(subscription, { status }, claim)).toBe(false)
  })
})

/** As `/ci me` does it; while the bot writes, it waits without holding the bot up. */
async function claimHandle(folder: string, handle: string): Promise<void> {
  const store = openSqlite(databasePath(folder))
  await store.write((tx) => tx.claimHandle(handle, 'U0ADA00001', 1))
  await store.close()
}

describe('the rules in CI', () => {
  it('decide by their events and branches, if they are for Slack', async () => {
    const { app, slack } = await stageWithCi(async (ci) => {
      await setRules(ci, [
        {
          notifier: 'slack',
          build_statuses: ['failed'],
          branch: 'main',
          branch_match: 'exact',
          options: { slack: { key: 'k' } },
        },
        {
          notifier: 'slack',
          build_statuses: ['started'],
          branch: 'release/*',
          branch_match: 'wildcard',
          options: { slack: { key: 'k' } },
        },
        { notifier: 'email', build_statuses: ['success'], branch: null, email_target: 'all' },
      ])
    })
    await sendAll(
      app.url,
      buildOf(1, { status: 'success' }),
      buildOf(2, { status: 'error' }),
      buildOf(3, { status: 'initiated' }),
    )
    await sendAll(
      app.url,
      buildOf(4, { status: 'initiated', branch: 'release/1' }),
      buildOf(5, { status: 'error', branch: 'next' }),
    )
    await settled(app.url)
    expect(headlines(slack, BUILDS).sort()).toEqual(['Failed acme/web #2', 'Running acme/web #4'])
  })

  it('without one for Slack select every event on every branch', async () => {
    const { app, slack } = await stageWithCi((ci) =>
      setRules(ci, [{ notifier: 'email', build_statuses: ['failed'], branch: 'main', email_target: 'all' }]),
    )
    await sendAll(app.url, buildOf(1, { status: 'stopped', branch: 'any' }))
    await untilSaid(slack, BUILDS, ['Stopped acme/web #1'])
  })

  it("apply to the service's own deliveries, from a push to the card", async () => {
    const stage = await stageWithCi(async () => {})
    stage.ci.setWebhookUrl(`${stage.app.url}/webhooks/builds/${WEBHOOK_SECRET}`)
    const push = stage.ci.push('acme/web', { outcome: 'error', ms: 300 })
    const id = push.kind === 'build' ? push.build.id : ''
    await untilSaid(stage.slack, BUILDS, [`Failed acme/web #${id}`])
  })

  it.each(['down', 'hang'] as const)('do not hold up an alert if CI is %s', async (kind) => {
    const alertMs = async ({ app, slack }: Pick<Stage, 'app' | 'slack'>) => {
      const sinceMs = Date.now()
      await sendAll(app.url, { status: 'error' })
      await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
      return Date.now() - sinceMs
    }
    const withoutCi = await alertMs(await openStage({ settings: { DEFAULT_CHANNEL: BUILDS } }))
    const stage = await stageWithCi(async (started) => started.addFault({ kind, where: 'all' }))
    expect((await alertMs(stage)) - withoutCi).toBeLessThan(LATER_MS_MAX)
    const { ci } = stage
    // Otherwise the app would wait for the hanging call to end.
    ci.clearFaults()
    await ci.stop()
  })

  it('stay in force while CI is down', async () => {
    const { app, slack, ci } = await stageWithCi((started) =>
      setRules(started, [
        { notifier: 'slack', build_statuses: ['failed'], branch: null, options: { slack: { key: 'k' } } },
      ]),
    )
    await sendAll(app.url, buildOf(1, { status: 'error' }))
    await untilSaid(slack, BUILDS, ['Failed acme/web #1'])
    ci.addFault({ kind: 'down', where: 'all' })
    await sendAll(app.url, buildOf(2, { status: 'initiated' }), buildOf(3, { status: 'error' }))
    await settled(app.url)
    expect(headlines(slack, BUILDS)).toEqual(['Failed acme/web #1', 'Still failing acme/web #3'])
  })

  it('can be read with OAuth2 client credentials', async () => {
    const { app, slack } = await stageWithCi(
      (ci) =>
        setRules(ci, [
          { notifier: 'slack', build_statuses: ['failed'], branch: null, options: { slack: { key: 'k' } } },
        ]),
      ({ tokenUrl, clientId, clientSecret }) => ({
        CI_AUTHORIZATION: undefined,
        CI_TOKEN_URL: tokenUrl,
        CI_CLIENT_ID: clientId,
        CI_CLIENT_SECRET: clientSecret,
      }),
    )
    await sendAll(app.url, buildOf(1, { status: 'success' }), buildOf(2, { status: 'error' }))
    await settled(app.url)
    expect(headlines(slack, BUILDS)).toEqual(['Failed acme/web #2'])
  })
})

type Address = ReturnType<SandboxCi['address']>

async function stageWithCi(
  prepare: (ci: SandboxCi) => Promise<void>,
  more: (address: Address) => Settings = () => ({}),
): Promise<Stage & { ci: SandboxCi }> {
  const ci = await startCi()
  await prepare(ci)
  const address = ci.address()
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: BUILDS,
      CI_BASE_URL: address.baseUrl,
      CI_LEGACY_BASE_URL: address.legacyBaseUrl,
      CI_API_KEY: address.apiKey,
      CI_ORGANIZATION_UUID: address.organizationUuid,
      CI_AUTHORIZATION: address.authorization,
      ...more(address),
    },
  })
  onTestFinished(() => ci.clearFaults())
  return { ...stage, ci }
}

async function setRules(ci: SandboxCi, rules: readonly object[]): Promise<void> {
  const { uuid } = projectNamed(ci, 'acme/web')
  const answer = await v2(ci, 'PUT', `/projects/${uuid}`, { type: 'basic', notification_rules: rules })
  if (answer.status !== 200) throw new Error(answer.text)
}
