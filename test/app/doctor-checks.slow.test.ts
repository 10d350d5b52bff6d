import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { idOrder, type BuildId, type ProjectId } from '../../src/domain/ids.ts'
import type { KnownBuild } from '../../src/store/records.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createSlackExaminer, SCOPES } from '../../src/slack/api/examiner.ts'
import { CHECKS } from '../../src/features/doctor/findings.ts'
import { NOBODY } from '../../src/features/doctor/check-ci.ts'
import { CHECK_WITHIN_MS } from '../../src/features/doctor/examine.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { databasePath, until, WEBHOOK_SECRET } from '../support/app.ts'
import { startHttpStub } from '../support/http-stub.ts'
import { projectNamed } from '../../packages/sandbox-ci/test/support.ts'
import { DOOR, following, heard, openSurgery, type Surgery } from './doctor-stage.ts'

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

const EVERY_EVENT = ['started', 'failed', 'success', 'recovered']
const hook = (change: object = {}) => ({
  notifier: 'webhook',
  branch: null,
  build_statuses: EVERY_EVENT,
  options: { webhook: { url: DOOR } },
  ...change,
})
const withRules = (surgery: Surgery, ...rules: readonly object[]) =>
  surgery.changeProject('acme/web', { notification_rules: rules })

describe('with everything in order', () => {
  it('each check says so, and none changes anything at CI', async () => {
    const surgery = await openSurgery()
    const before = JSON.stringify(surgery.ci.state().projects)
    const findings = await surgery.findings()
    expect(findings.map(({ check, verdict }) => [check, verdict])).toEqual(
      CHECKS.filter((check) => check !== 'names').map((check) => [
        check,
        check === 'github' || check === 'gitlab' ? 'off' : 'fine',
      ]),
    )
    expect(JSON.stringify(surgery.ci.state().projects)).toBe(before)
    const writes = surgery.ci.calls().filter(({ method }) => method !== 'GET')
    const ended = writes.map(({ method, statusCode }) => `${method} ${statusCode}`)
    expect(new Set(ended)).toEqual(new Set(['PUT 404', 'POST 404']))
    expect(writes.every(({ path }) => path.includes(NOBODY))).toBe(true)
  })
})

describe("Slack's token", () => {
  it('that is revoked is refused, and checks that need it are skipped', async () => {
    const surgery = await openSurgery()
    surgery.slack.acts.revokeToken()
    expect(await surgery.found('slack-token')).toEqual([{ kind: 'slack-refuses', code: 'token_revoked' }])
    expect(await surgery.found('slack-scopes')).toEqual([{ kind: 'not-checked', why: 'slack-away' }])
    expect(await surgery.found('clock')).toEqual([{ kind: 'not-checked', why: 'slack-away' }])
    expect(await surgery.found('channels')).toEqual([{ kind: 'slack-refuses', code: 'token_revoked' }])
  })

  it('that cannot be checked counts as wrong, since nothing works without Slack', async () => {
    const surgery = await openSurgery()
    surgery.slack.faults.add({ kind: 'down' })
    expect(await surgery.findings()).toContainEqual({
      verdict: 'wrong',
      check: 'slack-token',
      what: { kind: 'slack-away', code: expect.any(String) },
    })
    surgery.slack.faults.clear()
    surgery.slack.faults.add({ kind: '5xx' })
    expect(await surgery.found('slack-token')).toEqual([{ kind: 'slack-away', code: 'http_503' }])
  })
})

describe("Socket Mode's app token", () => {
  const withToken = (SLACK_APP_TOKEN: string) => openSurgery({ settings: { SLACK_APP_TOKEN } })

  it('that Slack accepts is fine, and no connection is opened', async () => {
    const surgery = await withToken('xapp-sandbox-token')
    expect(await surgery.found('socket-mode')).toEqual([{ kind: 'fine', count: null }])
    expect(surgery.slack.sockets.count()).toBe(0)
  })

  it('that is wrong is refused, even if the bot token is good', async () => {
    const surgery = await withToken('xapp-wrong-1')
    const findings = (await surgery.findings()).filter(({ verdict }) => verdict === 'wrong')
    expect(findings).toEqual([
      { verdict: 'wrong', check: 'socket-mode', what: { kind: 'slack-refuses', code: 'invalid_auth' } },
    ])
  })

  it('that is not set is fine: Slack uses HTTP', async () => {
    const surgery = await openSurgery()
    expect(await surgery.found('socket-mode')).toEqual([{ kind: 'over-http' }])
  })

  it('is unknown while Slack is away', async () => {
    const surgery = await withToken('xapp-sandbox-token')
    surgery.slack.faults.add({ kind: 'down' })
    expect(await surgery.found('socket-mode')).toEqual([{ kind: 'not-checked', why: 'slack-away' }])
  })
})

describe('a scope', () => {
  it.each(SCOPES)('%s that is missing is named', async (scope) => {
    const surgery = await openSurgery()
    surgery.slack.acts.revokeScope(scope)
    expect(await surgery.found('slack-scopes')).toEqual([{ kind: 'scopes-missing', scopes: [scope] }])
  })

  it('that is needed to check channels is named there too', async () => {
    const surgery = await openSurgery()
    surgery.slack.acts.revokeScope('channels:read')
    expect(await surgery.found('channels')).toEqual([{ kind: 'slack-refuses', code: 'missing_scope' }])
  })
})

describe('a channel', () => {
  it.each([
    [CHANNELS.elsewhere, 'not_in_channel'],
    [CHANNELS.archived, 'is_archived'],
    ['C0NOWHERE1', 'channel_not_found'],
  ])("%s without access is named, with Slack's error: %s", async (channel, code) => {
    const surgery = await openSurgery()
    expect(await surgery.found('channels', following(CHANNELS.builds, channel))).toEqual([
      { kind: 'channel-closed', channel, code },
    ])
  })

  it('from which Buildline was removed is named until it is back', async () => {
    const surgery = await openSurgery()
    surgery.slack.acts.kickBot(CHANNELS.builds)
    expect(await surgery.found('channels')).toMatchObject([{ channel: CHANNELS.builds, code: 'not_in_channel' }])
    surgery.slack.acts.inviteBot(CHANNELS.builds)
    expect(await surgery.found('channels')).toEqual([{ kind: 'fine', count: 1 }])
  })

  it.each([
    [{ isReadOnly: true }, 'restricted_action_read_only_channel'],
    [{ isThreadOnly: true }, 'restricted_action_thread_only_channel'],
    [{ postingRestrictedTo: { type: ['admin'] } }, 'restricted_action'],
  ])('where only some may post is named before anything is posted: %j', async (restriction, code) => {
    const surgery = await openSurgery()
    const channel = CHANNELS.builds
    surgery.slack.acts.restrict(channel, restriction)
    expect(await surgery.found('channels')).toEqual([{ kind: 'channel-closed', channel, code }])
  })

  it.each([{ isNonThreadable: true }, { postingRestrictedTo: { user: ['U0BUILDBOT'] } }])(
    'where Buildline may post cards is fine: %j',
    async (restriction) => {
      const surgery = await openSurgery()
      surgery.slack.acts.restrict(CHANNELS.builds, restriction)
      expect(await surgery.found('channels')).toEqual([{ kind: 'fine', count: 1 }])
    },
  )

  it('that is private is fine', async () => {
    const surgery = await openSurgery()
    expect(await surgery.found('channels', following(CHANNELS.secret, CHANNELS.builds))).toEqual([
      { kind: 'fine', count: 2 },
    ])
  })

  it.each([
    ['matched nothing for 30 days is listed', 'main,', 0, 1],
    ['matches what is built is not', 'ma*', 0, 0],
    ['matches nothing, while nothing is built, is not', 'main,', 31, 0],
  ])('that follows branches that %s', async (_, branch, days, count) => {
    const surgery = await openSurgery()
    const at = Date.now() - days * 24 * 60 * 60_000
    await surgery.deps.store!.write(async (tx) => {
      await tx.saveDeliveredProject({
        projectId: BUILT.projectId,
        name: 'acme/x',
        fullName: null,
        projectUuid: null,
        at,
      })
      await tx.saveBuild({ ...BUILT, at })
    })
    const [one] = await following(CHANNELS.builds).subscriptions()
    const subscriptions = async () => [
      {
        ...one!,
        follows: { what: 'project', name: 'acme/x' } as const,
        rules: [{ branch, branchMatch: null, events: 'every' as const }],
      },
    ]
    const found = await surgery.found('channels', { subscriptions })
    expect(found.filter(({ kind }) => kind === 'matches-nothing')).toHaveLength(count)
  })

  it('is missed if there are no subscriptions', async () => {
    const surgery = await openSurgery()
    expect(await surgery.found('channels', following())).toEqual([{ kind: 'nobody-follows' }])
  })
})

describe("CI's credentials", () => {
  const bearer = (scope: string) => ({ settings: { CI_AUTHORIZATION: `Bearer sandbox-token-${scope}` } })

  it('that are wrong are refused, separately for each interface', async () => {
    const surgery = await openSurgery({ settings: { CI_AUTHORIZATION: 'Bearer nobodys', CI_API_KEY: 'nobodys' } })
    expect(await surgery.found('ci-v2')).toEqual([{ kind: 'ci-refuses', code: 'unauthorized', scope: 'project.read' }])
    expect(await surgery.found('ci-legacy')).toEqual([{ kind: 'ci-refuses', code: 'unauthorized', scope: null }])
    expect(await surgery.found('webhook-rules')).toEqual([{ kind: 'not-checked', why: 'ci-away' }])
    expect(await surgery.found('silent-projects')).toEqual([{ kind: 'not-checked', why: 'ci-away' }])
  })

  it.each([
    ['project-read', ['project.write', 'build.write']],
    ['project-write', ['build.write']],
    ['build-write', ['project.write']],
  ])('with %s only lack %j', async (scope, lacking) => {
    const surgery = await openSurgery(bearer(scope))
    expect(await surgery.found('ci-v2-scopes')).toEqual(
      lacking.map((one) => ({ kind: 'ci-refuses', code: 'forbidden', scope: one })),
    )
    expect((await surgery.found('ci-v2'))[0]?.kind).toBe(scope === 'project-read' ? 'fine' : 'ci-refuses')
  })

  it('may write even if CI answers 400 to unknown resources', async () => {
    const surgery = await openSurgery()
    surgery.ci.addFault({ kind: 'status', statusCode: 400, where: 'v2' })
    expect(await surgery.found('ci-v2-scopes')).toEqual([{ kind: 'fine', count: null }])
  })

  it('of another organization do not work for this one', async () => {
    const surgery = await openSurgery({ settings: { CI_ORGANIZATION_UUID: NOBODY } })
    expect(await surgery.found('ci-v2')).toEqual([{ kind: 'ci-refuses', code: 'not-found', scope: 'project.read' }])
  })

  it('that are not set are fine, and checks that need them are skipped', async () => {
    const none = { CI_BASE_URL: '', CI_AUTHORIZATION: '', CI_LEGACY_BASE_URL: '', CI_API_KEY: '', CI_SITE_URL: '' }
    const surgery = await openSurgery({ settings: none })
    const off = await surgery.findings()
    expect(off.filter(({ verdict }) => verdict === 'off').map(({ check }) => check)).toEqual([
      'ci-v2',
      'ci-v2-scopes',
      'ci-legacy',
      'site',
      'github',
      'gitlab',
    ])
    expect(await surgery.found('webhook-rules')).toEqual([{ kind: 'not-checked', why: 'no-v2' }])
  })
})

describe('the site', () => {
  it('of another service has no badge of our project', async () => {
    const surgery = await openSurgery()
    await using elsewhere = await startHttpStub(() => ({ status: 404, text: 'not here' }))
    const other = await openSurgery({ settings: { CI_SITE_URL: elsewhere.url } })
    expect(await other.found('site')).toEqual([{ kind: 'ci-refuses', code: 'not-found', scope: null }])
    expect(await surgery.found('site')).toEqual([{ kind: 'fine', count: null }])
  })

  it("that answers with a page is not CI's", async () => {
    await using page = await startHttpStub(() => ({ headers: { 'content-type': 'text/html' }, text: '<p>Hello' }))
    const surgery = await openSurgery({ settings: { CI_SITE_URL: page.url } })
    expect(await surgery.found('site')).toEqual([{ kind: 'ci-refuses', code: 'shape', scope: null }])
  })
})

describe('a webhook rule', () => {
  it('that is missing is reported, and only for its project', async () => {
    const surgery = await openSurgery()
    await withRules(surgery, { notifier: 'email', build_statuses: EVERY_EVENT, options: {} })
    expect(await surgery.found('webhook-rules')).toMatchObject([
      { kind: 'no-webhook-rule', project: 'acme/web', host: '127.0.0.1:9' },
    ])
  })

  it('to another address does not count', async () => {
    const surgery = await openSurgery()
    await withRules(surgery, hook({ options: { webhook: { url: 'http://127.0.0.1:9/hooks' } } }))
    expect(await surgery.found('webhook-rules')).toMatchObject([
      { kind: 'no-webhook-rule', project: 'acme/web', host: '127.0.0.1:9' },
    ])
  })

  it.each([
    ['in its path', 'http://127.0.0.1:9/webhooks/builds/yesterdays'],
    ['in its query', 'http://127.0.0.1:9/webhooks/builds?token=yesterdays'],
    ['nowhere', 'http://127.0.0.1:9/webhooks/builds'],
  ])('with a wrong secret %s is reported, without the secret', async (_, url) => {
    const surgery = await openSurgery()
    await withRules(surgery, hook({ options: { webhook: { url } } }))
    expect(await surgery.found('webhook-rules')).toMatchObject([
      { kind: 'webhook-secret', project: 'acme/web', host: '127.0.0.1:9' },
    ])
  })

  it.each([
    ['behind a proxy', `http://127.0.0.1:9/bots/webhooks/builds/${WEBHOOK_SECRET}/`],
    ['as HTTP Basic password', `http://ci:${WEBHOOK_SECRET}@127.0.0.1:9/webhooks/builds`],
    ['as token', `http://127.0.0.1:9/webhooks/builds?token=${WEBHOOK_SECRET}`],
  ])('with the right secret %s is fine', async (_, url) => {
    const surgery = await openSurgery()
    await withRules(surgery, hook({ options: { webhook: { url } } }))
    expect(await surgery.found('webhook-rules')).toEqual([{ kind: 'fine', count: 3 }])
  })

  it('that leaves out events is reported, with those events', async () => {
    const surgery = await openSurgery()
    await withRules(surgery, hook({ build_statuses: ['failed', 'recovered'] }))
    expect(await surgery.found('webhook-rules')).toEqual([
      { kind: 'webhook-filtered', project: 'acme/web', events: ['started', 'success'], branch: null },
    ])
  })

  it('for one branch leaves out the others', async () => {
    const surgery = await openSurgery()
    await withRules(surgery, hook({ branch: 'main', branch_match: 'exact' }))
    expect(await surgery.found('webhook-rules')).toMatchObject([{ kind: 'webhook-filtered', branch: 'main' }])
  })

  it('is enough together with another one if both cover everything', async () => {
    const surgery = await openSurgery()
    const halves = [
      hook({ build_statuses: ['started', 'success'] }),
      hook({ build_statuses: ['failed', 'recovered'], branch: '*' }),
    ]
    await withRules(surgery, ...halves)
    expect(await surgery.found('webhook-rules')).toEqual([{ kind: 'fine', count: 3 }])
  })
})

describe('a project', () => {
  const later = (ms: number) => ({ clock: { ...systemClock, now: () => Date.now() + ms } })
  const HOUR = 60 * 60_000

  /** A build of acme/web starts at CI, without a delivery. */
  async function pushUnheard({ ci }: Surgery): Promise<void> {
    ci.setSwitches({ holdDeliveries: true })
    ci.push('acme/web', { outcome: 'none' })
    await until('it has begun', () => ci.state().builds.some(({ status }) => status === 'initiated'))
  }

  const hear = ({ deps, ci }: Surgery, at: number) =>
    deps.store!.write((tx) => tx.saveDeliveredProject(heard(projectNamed(ci, 'acme/web').id, 'acme/web', at)))

  it('that builds without deliveries is silent, after the time that a delivery needs', async () => {
    const surgery = await openSurgery()
    await pushUnheard(surgery)
    expect(await surgery.found('silent-projects')).toEqual([{ kind: 'fine', count: 3 }])
    expect(await surgery.found('silent-projects', later(HOUR))).toMatchObject([
      { kind: 'silent-project', project: 'acme/web', lastAt: null, builtAt: expect.any(Number) },
    ])
  })

  it('whose last delivery is more than an hour older than its newest build is silent, otherwise not', async () => {
    const surgery = await openSurgery()
    await pushUnheard(surgery)
    await hear(surgery, Date.now() - 2 * HOUR)
    expect(await surgery.found('silent-projects', later(HOUR))).toMatchObject([{ project: 'acme/web' }])
    await hear(surgery, Date.now() - HOUR / 2)
    expect(await surgery.found('silent-projects', later(HOUR))).toEqual([{ kind: 'fine', count: 3 }])
  })

  it('whose builds CI does not show may be silent, which is reported as uncertain', async () => {
    const surgery = await openSurgery()
    const findings = (await surgery.findings({ legacy: null })).filter(({ check }) => check === 'silent-projects')
    expect(findings).toMatchObject([
      { verdict: 'unsure', what: { project: 'acme/web' } },
      { verdict: 'unsure', what: { project: 'acme/api' } },
    ])
  })
})

describe('the clock', () => {
  const ahead = ({ slack }: Surgery, ms: number) => ({
    slack: createSlackExaminer({
      token: slack.botToken,
      apiUrl: slack.apiUrl,
      clock: { now: () => Date.now() + ms },
    }),
  })

  it.each([90_000, -90_000])('that is %i ms off is reported, with its direction', async (ms) => {
    const surgery = await openSurgery()
    const [found] = await surgery.found('clock', ahead(surgery, ms))
    expect(found).toEqual({ kind: 'clock-off', ms: expect.any(Number) })
    expect(Math.abs((found as { ms: number }).ms - ms)).toBeLessThan(5_000)
  })

  it('that is 10 s off is good enough', async () => {
    const surgery = await openSurgery()
    expect(await surgery.found('clock', ahead(surgery, 10_000))).toEqual([{ kind: 'fine', count: null }])
  })
})

describe('the database', () => {
  it('that is locked cannot be written, which the bot could not do either', async () => {
    const surgery = await openSurgery()
    const other = new DatabaseSync(databasePath(surgery.folder))
    onTestFinished(() => other.close())
    other.exec('begin immediate')
    expect(await surgery.found('store')).toEqual([{ kind: 'store-fails', code: 'ERR_SQLITE_ERROR' }])
    other.exec('rollback')
    expect(await surgery.found('store')).toEqual([{ kind: 'fine', count: null }])
  })

  it('with an almost full disk is reported before it is full', async () => {
    const surgery = await openSurgery()
    const MB = 1024 * 1024
    expect(await surgery.found('store', { freeBytes: async () => 200 * MB - 1 })).toEqual([
      { kind: 'disk-full', freeBytes: 200 * MB - 1 },
    ])
    expect(await surgery.found('store', { freeBytes: async () => 200 * MB })).toEqual([{ kind: 'fine', count: null }])
  })
})

describe('a service that does not answer', () => {
  it('holds up no check: its own ones are skipped, the others run', async () => {
    const surgery = await openSurgery()
    surgery.ci.addFault({ kind: 'hang', where: 'all' })
    const beganAt = Date.now()
    const findings = await surgery.findings()
    expect(Date.now() - beganAt).toBeLessThan(CHECK_WITHIN_MS + 3_000)
    expect(findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([])
    const late = findings.filter(({ what }) => what.kind === 'not-checked' && what.why === 'late')
    expect(late.map(({ check }) => check)).toEqual([
      'ci-v2',
      'ci-v2-scopes',
      'ci-legacy',
      'site',
      'webhook-rules',
      'silent-projects',
    ])
    expect(findings.filter(({ verdict }) => verdict === 'fine').map(({ check }) => check)).toEqual([
      'slack-token',
      'slack-scopes',
      'socket-mode',
      'clock',
      'channels',
      'store',
    ])
  })
})
