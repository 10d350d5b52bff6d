import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { projectNamed, v2 } from '../../../packages/sandbox-ci/test/support.ts'
import { CHANNELS } from '../../../packages/sandbox-slack/src/workspace.ts'
import { HEALTHY } from '../../../packages/demo/src/samples/healthy.ts'
import { createClients } from '../../../src/runtime/clients.ts'
import { readConfig } from '../../../src/config/config.ts'
import { idOrder, type BuildId, type ChannelId, type ProjectId } from '../../../src/domain/ids.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { channels } from '../../../src/features/doctor/check-channels.ts'
import { legacy, NOBODY, site, v2 as ofV2, v2Scopes } from '../../../src/features/doctor/check-ci.ts'
import { clockOfSlack, requests, scopes, token } from '../../../src/features/doctor/check-slack.ts'
import { database } from '../../../src/features/doctor/check-store.ts'
import { silentProjects, webhookRules } from '../../../src/features/doctor/check-webhooks.ts'
import { examine } from '../../../src/features/doctor/examine.ts'
import type { Check, DoctorDeps } from '../../../src/features/doctor/findings.ts'
import { IN_PLAIN_TEXT } from '../../../src/features/doctor/say.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createSlackExaminer, type SlackExaminer } from '../../../src/slack/api/examiner.ts'
import type { KnownBuild } from '../../../src/store/records.ts'
import { openPostgres } from '../../../src/store/postgres.ts'
import { openSqlite } from '../../../src/store/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { follower } from '../../alerts/stage.ts'
import { databasePath, until, WEBHOOK_SECRET, type Settings } from '../../support/app.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { startPostgres } from '../../support/postgres.ts'
import { openScene, type Scene } from '../../support/world.ts'
import { linesOf, openTransport, said } from './stage.ts'

interface Surgery extends Scene {
  store: Store
  deps: DoctorDeps
  found(check: Check, changes?: Partial<DoctorDeps>): Promise<string[]>
}

/** Buildline's webhook address; nobody listens there. */
const DOOR = `http://127.0.0.1:9/webhooks/builds/${WEBHOOK_SECRET}`

/** Everything in order, over real HTTP and a real database. */
async function openSurgery(settings?: Settings): Promise<Surgery> {
  const scene = await openScene({ ...(settings && { settings }) })
  scene.ci.setWebhookUrl(DOOR)
  const reading = readConfig(scene.settings)
  if (reading.kind === 'faults') throw new Error(reading.faults.join('\n'))
  const { config } = reading
  const store = openSqlite(databasePath(scene.folder))
  onTestFinished(() => store.close())
  await store.migrate()
  const { botToken, appToken, apiUrl } = config.slack
  const deps: DoctorDeps = {
    ...HEALTHY,
    config,
    clock: systemClock,
    slack: createSlackExaminer({ token: botToken, appToken, apiUrl, clock: systemClock }),
    store,
    ...following(CHANNELS.builds),
    ...createClients(config.ci, openTransport()),
    github: null,
    gitlab: null,
    webhookSecrets: () => config.webhookSecrets,
  }
  await hear({ ...scene, store }, 'acme/ios', Date.now())
  return { ...scene, deps, store, found: (check, changes) => said(check, { ...deps, ...changes }) }
}

/** The project has sent a delivery then (ms). */
const hear = ({ store, ci }: Pick<Surgery, 'store' | 'ci'>, name: string, at: number) =>
  store.write((tx) => tx.saveDeliveredProject(delivered(projectNamed(ci, name).id, name, at)))

const delivered = (id: string, name: string, at: number) => ({
  projectId: id as ProjectId,
  name,
  fullName: null,
  projectUuid: null,
  at,
})

const following = (...all: readonly string[]) => ({
  subscriptions: async () => all.map((channel) => follower(channel as ChannelId)),
})

const SKIPPED = 'unsure: Not checked: the request to Slack failed.'

describe('with everything in order', () => {
  it('each check says so, and none changes anything at CI', async () => {
    const { deps, ci } = await openSurgery()
    const before = JSON.stringify(ci.state().projects)
    const { findings } = await examine(deps, IN_PLAIN_TEXT)
    expect(findings.filter(({ verdict }) => verdict !== 'fine')).toMatchObject([
      { name: 'github', verdict: 'off' },
      { name: 'gitlab', verdict: 'off' },
    ])
    expect(findings).toHaveLength(14)
    expect(JSON.stringify(ci.state().projects)).toBe(before)
    const writes = ci.calls().filter(({ method }) => method !== 'GET')
    expect(writes.map(({ method, statusCode }) => `${method} ${statusCode}`).toSorted()).toEqual([
      'POST 404',
      'PUT 404',
    ])
    expect(writes.every(({ path }) => path.includes(NOBODY))).toBe(true)
  })
})

describe("Slack's token", () => {
  it('that is revoked is refused, and checks that need it are skipped', async () => {
    const { slack, found } = await openSurgery()
    slack.acts.revokeToken()
    expect(await found(token)).toEqual([
      expect.stringMatching(/^wrong: Slack does not accept the .* \(token_revoked\)/),
    ])
    expect(await found(channels)).toEqual([expect.stringMatching(/^wrong: Slack refuses \(token_revoked\)\./)])
    expect([await found(scopes), await found(clockOfSlack)]).toEqual([[SKIPPED], [SKIPPED]])
  })

  it('that cannot be checked counts as wrong, since nothing works without Slack', async () => {
    const { slack, found } = await openSurgery()
    slack.faults.add({ kind: '5xx' })
    expect(await found(token)).toEqual([expect.stringMatching(/^wrong: The request to Slack failed \(http_503\)\./)])
  })

  it('that lacks a scope is told so, also by the check that Slack refuses for it', async () => {
    const { slack, found } = await openSurgery()
    slack.acts.revokeScope('channels:read')
    const lacks = expect.stringMatching(/^wrong: The token lacks channels:read\. Paste manifest\.yml/)
    expect(await found(scopes)).toEqual([lacks])
    expect(await found(channels)).toEqual([lacks])
  })
})

describe("Socket Mode's app token", () => {
  const withToken = (SLACK_APP_TOKEN: string) => openSurgery({ SLACK_APP_TOKEN })

  it('that Slack accepts is fine, and no connection is opened', async () => {
    const { slack, found } = await withToken('xapp-sandbox-token')
    expect(await found(requests)).toEqual(['fine: They arrive over Socket Mode.'])
    expect(slack.sockets.count()).toBe(0)
    slack.faults.add({ kind: 'down' })
    expect(await found(requests)).toEqual([SKIPPED])
  })

  it('that is wrong is refused, even if the bot token is good', async () => {
    const { deps } = await withToken('xapp-wrong-1')
    const { findings } = await examine(deps, IN_PLAIN_TEXT)
    expect(linesOf(findings).filter((line) => line.startsWith('wrong'))).toEqual([
      expect.stringMatching(/^wrong: Slack does not accept the app token \(invalid_auth\) and sends nothing\./),
    ])
  })
})

describe('a channel', () => {
  const OPEN = 'fine: 1 channel can get builds.'

  it.each([
    [CHANNELS.elsewhere, /^wrong: Buildline is not in channel \w+\. Type/],
    [CHANNELS.archived, /^wrong: channel \w+ is archived\./],
    ['C0NOWHERE1', /^wrong: channel C0NOWHERE1 is gone, or private/],
  ])('without access is named: %s', async (channel, words) => {
    const { found } = await openSurgery()
    expect(await found(channels, following(CHANNELS.builds, channel))).toEqual([expect.stringMatching(words)])
    expect(await found(channels, following(CHANNELS.builds, CHANNELS.secret))).toEqual([
      'fine: 2 channels can get builds.',
    ])
  })

  it.each([
    [{ isReadOnly: true }, 'restricted_action_read_only_channel'],
    [{ isThreadOnly: true }, 'restricted_action_thread_only_channel'],
    [{ postingRestrictedTo: { type: ['admin'] } }, 'restricted_action'],
    [{ isNonThreadable: true }, null],
    [{ postingRestrictedTo: { user: ['U0BUILDBOT'] } }, null],
  ])('where Buildline may not post is named before anything is posted: %j', async (restriction, code) => {
    const { slack, found } = await openSurgery()
    slack.acts.restrict(CHANNELS.builds, restriction)
    const closed = expect.stringContaining(`wrong: Only some people may post in channel ${CHANNELS.builds} (${code}).`)
    expect(await found(channels)).toEqual([code === null ? OPEN : closed])
  })

  it.each([
    ['matched nothing for 30 days is listed', 'main,', 0, /^unsure: .* follows acme\/x on main,, and no build/],
    ['matches what is built is not', 'ma*', 0, OPEN],
    ['matches nothing, while nothing is built, is not', 'main,', 31, OPEN],
  ])('that follows branches that %s', async (_, branch, days, words) => {
    const { store, found } = await openSurgery()
    const at = Date.now() - days * 24 * 60 * 60_000
    await store.write(async (tx) => {
      await tx.saveDeliveredProject(delivered(BUILT.projectId, 'acme/x', at))
      await tx.saveBuild({ ...BUILT, at })
    })
    const changes: Partial<Subscription> = {
      follows: { what: 'project', name: 'acme/x' },
      rules: [{ branch, branchMatch: null, events: 'every' }],
    }
    const subscriptions = async () => [follower(CHANNELS.builds as ChannelId, changes)]
    expect(await found(channels, { subscriptions })).toEqual([expect.stringMatching(words)])
  })

  const BUILT: KnownBuild = {
    projectId: '77' as ProjectId,
    buildId: '1' as BuildId,
    buildOrder: idOrder('1'),
    attempt: 1,
    revisionKey: 'r',
    cardNumber: 1,
    branch: 'main',
    status: 'success',
    rawStatus: 'success',
    at: 0,
    buildUuid: null,
    committer: null,
  }
})

describe("CI's credentials", () => {
  it('that are wrong are refused, separately for each interface', async () => {
    const { found } = await openSurgery({ CI_AUTHORIZATION: 'Bearer nobodys', CI_API_KEY: 'nobodys' })
    const refused = (setting: string) => [
      expect.stringMatching(`^wrong: CI no longer accepts Buildline's credentials\\. Renew ${setting}`),
    ]
    expect(await found(ofV2)).toEqual(refused('CI_AUTHORIZATION or CI_CLIENT_SECRET'))
    expect(await found(legacy)).toEqual(refused('CI_API_KEY'))
    for (const check of [webhookRules, silentProjects])
      expect(await found(check)).toEqual(["unsure: Not checked: CI's projects could not be read."])
  })

  it.each([
    ['project-read', ['project.write', 'build.write'], 'fine'],
    ['project-write', ['build.write'], 'wrong'],
    ['build-write', ['project.write'], 'wrong'],
  ])('with %s only lack %j', async (scope, lacking, reading) => {
    const { found } = await openSurgery({ CI_AUTHORIZATION: `Bearer sandbox-token-${scope}` })
    expect(await found(v2Scopes)).toEqual(
      lacking.map((one) => expect.stringMatching(`^wrong: .* lack a right\\. Give the credentials the scope ${one}`)),
    )
    expect(await found(ofV2)).toEqual([expect.stringMatching(`^${reading}`)])
  })

  it('may write even if CI answers 400 to unknown resources', async () => {
    const { ci, found } = await openSurgery()
    ci.addFault({ kind: 'status', statusCode: 400, where: 'v2' })
    expect(await found(v2Scopes)).toEqual([expect.stringMatching('^fine')])
  })

  it('of another organization do not work for this one', async () => {
    const { found } = await openSurgery({ CI_ORGANIZATION_UUID: NOBODY })
    expect(await found(ofV2)).toEqual([expect.stringMatching(/^wrong: CI found nothing .* CI_ORGANIZATION_UUID\.$/)])
  })
})

describe('the site', () => {
  it('of another service has no badge of our project', async () => {
    await using elsewhere = await startHttpStub(() => ({ status: 404, text: 'not here' }))
    await using page = await startHttpStub(() => ({ headers: { 'content-type': 'text/html' }, text: '<p>Hello' }))
    for (const [{ url }, words] of [
      [elsewhere, 'CI found nothing'],
      [page, "could not read CI's answer"],
    ] as const) {
      const { found } = await openSurgery({ CI_SITE_URL: url })
      expect(await found(site)).toEqual([expect.stringMatching(`^wrong: .*${words}.* Check CI_SITE_URL`)])
    }
  })
})

describe('a webhook rule', () => {
  const EVERY_EVENT = ['started', 'failed', 'success', 'recovered']
  const hook = (change: object = {}) => ({
    notifier: 'webhook',
    branch: null,
    build_statuses: EVERY_EVENT,
    options: { webhook: { url: DOOR } },
    ...change,
  })
  const to = (url: string) => hook({ options: { webhook: { url } } })
  const MISSING = /^wrong: acme\/web has no webhook rule/
  const SECRET = /^wrong: acme\/web has a webhook rule with a wrong secret, .* the value of WEBHOOK_SECRET\.$/
  const WHOLE = /^fine: 3 projects send every event\.$/

  it.each([
    ['that sends e-mail does not count', [{ ...hook(), notifier: 'email', options: {} }], MISSING],
    ['to another address does not count', [to('http://127.0.0.1:9/hooks')], MISSING],
    ['with a wrong secret in its path', [to('http://127.0.0.1:9/webhooks/builds/yesterdays')], SECRET],
    ['with a wrong secret in its query', [to('http://127.0.0.1:9/webhooks/builds?token=yesterdays')], SECRET],
    ['without a secret', [to('http://127.0.0.1:9/webhooks/builds')], SECRET],
    ['behind a proxy is fine', [to(`http://127.0.0.1:9/bots/webhooks/builds/${WEBHOOK_SECRET}/`)], WHOLE],
    ['with the password is fine', [to(`http://ci:${WEBHOOK_SECRET}@127.0.0.1:9/webhooks/builds`)], WHOLE],
    ['with the secret as token is fine', [to(`http://127.0.0.1:9/webhooks/builds?token=${WEBHOOK_SECRET}`)], WHOLE],
    ['that leaves out events', [hook({ build_statuses: ['failed', 'recovered'] })], /leaves out started, success\./],
    [
      'for one branch leaves out the others',
      [hook({ branch: 'main', branch_match: 'exact' })],
      /leaves out branches other than main\./,
    ],
    [
      'is enough together with another one if both cover everything',
      [
        hook({ build_statuses: ['started', 'success'] }),
        hook({ build_statuses: ['failed', 'recovered'], branch: '*' }),
      ],
      WHOLE,
    ],
  ])('%s', async (_, rules, words) => {
    const { ci, found } = await openSurgery()
    const project = projectNamed(ci, 'acme/web')
    const change = { type: project.type, notification_rules: rules }
    expect(await v2(ci, 'PUT', `/projects/${project.uuid}`, change)).toMatchObject({ status: 200 })
    expect(await found(webhookRules)).toEqual([expect.stringMatching(words)])
  })
})

describe('a project', () => {
  const HOUR = 60 * 60_000
  const anHourLater = { clock: { ...systemClock, now: () => Date.now() + HOUR } }
  const FINE = 'fine: None of the 3 projects with a webhook rule is silent.'

  it('whose last delivery is more than an hour older than its newest build is silent, otherwise not', async () => {
    const surgery = await openSurgery()
    const { ci, found } = surgery
    ci.setSwitches({ holdDeliveries: true })
    ci.push('acme/web', { outcome: 'none' })
    await until('it has begun', () => ci.state().builds.some(({ status }) => status === 'initiated'))
    expect(await found(silentProjects)).toEqual([FINE])
    const silent = (last: string) => [
      expect.stringMatching(`^wrong: acme/web has a webhook rule, but ${last}.* a build`),
    ]
    expect(await found(silentProjects, anHourLater)).toEqual(silent('no build was ever reported'))
    await hear(surgery, 'acme/web', Date.now() - 2 * HOUR)
    expect(await found(silentProjects, anHourLater)).toEqual(silent('the last report was 2'))
    await hear(surgery, 'acme/web', Date.now() - HOUR / 2)
    expect(await found(silentProjects, anHourLater)).toEqual([FINE])
  })

  it('whose builds CI does not show may be silent, which is uncertain', async () => {
    const { found } = await openSurgery()
    expect(await found(silentProjects, { legacy: null })).toEqual([
      expect.stringMatching(/^unsure: acme\/web/),
      expect.stringMatching(/^unsure: acme\/api/),
    ])
  })
})

describe('the clock', () => {
  it.each([
    [90_000, /^wrong: This machine's clock is .* ahead of Slack's/],
    [-90_000, /^wrong: This machine's clock is .* behind Slack's/],
    [10_000, /^fine/],
  ])('that is %i ms off is judged with its direction', async (ms, words) => {
    const { slack: sandbox, found } = await openSurgery()
    const clock = { now: () => Date.now() + ms }
    const slack: SlackExaminer = createSlackExaminer({ token: sandbox.botToken, apiUrl: sandbox.apiUrl, clock })
    expect(await found(clockOfSlack, { slack })).toEqual([expect.stringMatching(words)])
  })
})

describe('the database', () => {
  it('that is locked cannot be written, which the bot could not do either', async () => {
    const { folder, found } = await openSurgery()
    const other = new DatabaseSync(databasePath(folder))
    onTestFinished(() => other.close())
    other.exec('begin immediate')
    expect(await found(database)).toEqual([expect.stringMatching(/^wrong: Writing failed \(ERR_SQLITE_ERROR\)/)])
    other.exec('rollback')
    expect(await found(database)).toEqual([expect.stringMatching('^fine')])
  })

  it('of a server is missing until the bot has made its tables', async (test) => {
    const server = await startPostgres()
    if ('impossible' in server) return test.skip(server.impossible)
    onTestFinished(() => server[Symbol.asyncDispose]())
    const store = openPostgres(await server.createDatabase(), () => {})
    onTestFinished(() => store.close())
    expect(await said(database, { store })).toEqual(['off: No database yet: Buildline creates it at its first start.'])
    await store.migrate()
    expect(await said(database, { store })).toEqual([expect.stringMatching('^fine')])
  })
})
