import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { legacy, NOBODY, site, v2 as ofV2, v2Scopes } from '../../../src/features/doctor/check-ci.ts'
import { clockOfSlack, requests, scopes, token } from '../../../src/features/doctor/check-slack.ts'
import { database } from '../../../src/features/doctor/checks.ts'
import { examine } from '../../../src/features/doctor/examine.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { IN_PLAIN_TEXT } from '../../../src/features/kit/check.ts'
import { silentProjects, webhookRules } from '../../../src/features/projects/checks.ts'
import { channels } from '../../../src/features/subscriptions/checks.ts'
import { createSlackExaminer, type SlackExaminer } from '../../../src/slack/api/examiner.ts'
import { openPostgres } from '../../../src/store/postgres.ts'
import { databasePath } from '../../support/app.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { startPostgres } from '../../support/postgres.ts'
import { linesOf, openHealthy, said } from './stage.ts'

const { checks: CHECKS } = describedFeatures()

const SKIPPED = 'unsure: Not checked: the request to Slack failed.'

describe('with everything in order', () => {
  it('each check says so, and none changes anything at CI', async () => {
    const { deps, ci } = await openHealthy()
    const before = JSON.stringify(ci.state().projects)
    const { findings } = await examine(deps, IN_PLAIN_TEXT, CHECKS)
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
    const { slack, found } = await openHealthy()
    slack.acts.revokeToken()
    expect(await found(token)).toEqual([
      expect.stringMatching(/^wrong: Slack does not accept the .* \(token_revoked\)/),
    ])
    for (const check of [channels, scopes, clockOfSlack]) expect(await found(check)).toEqual([SKIPPED])
  })

  it('that cannot be checked counts as wrong, since nothing works without Slack', async () => {
    const { slack, found } = await openHealthy()
    slack.faults.add({ kind: '5xx' })
    expect(await found(token)).toEqual([expect.stringMatching(/^wrong: The request to Slack failed \(http_503\)\./)])
  })

  it('that lacks a scope is told so, also by the check that Slack refuses for it', async () => {
    const { slack, found } = await openHealthy()
    slack.acts.revokeScope('channels:read')
    const lacks = expect.stringMatching(/^wrong: The token lacks channels:read\. Paste manifest\.yml/)
    expect(await found(scopes)).toEqual([lacks])
    expect(await found(channels)).toEqual([lacks])
  })
})

describe("Socket Mode's app token", () => {
  const withToken = (SLACK_APP_TOKEN: string) => openHealthy({ SLACK_APP_TOKEN })

  it('that Slack accepts is fine, and no connection is opened', async () => {
    const { slack, found } = await withToken('xapp-sandbox-token')
    expect(await found(requests)).toEqual(['fine: They arrive over Socket Mode.'])
    expect(slack.sockets.count()).toBe(0)
    slack.faults.add({ kind: 'down' })
    expect(await found(requests)).toEqual([SKIPPED])
  })

  it('that is wrong is refused, even if the bot token is good', async () => {
    const { deps } = await withToken('xapp-wrong-1')
    const { findings } = await examine(deps, IN_PLAIN_TEXT, CHECKS)
    expect(linesOf(findings).filter((line) => line.startsWith('wrong'))).toEqual([
      expect.stringMatching(/^wrong: Slack does not accept the app token \(invalid_auth\) and sends nothing\./),
    ])
  })
})

describe("CI's credentials", () => {
  it('that are wrong are refused, separately for each interface', async () => {
    const { found } = await openHealthy({ CI_AUTHORIZATION: 'Bearer nobodys', CI_API_KEY: 'nobodys' })
    const refused = (setting: string) => [
      expect.stringMatching(`^wrong: CI does not accept Buildline's credentials\\. Renew ${setting}`),
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
    const { found } = await openHealthy({ CI_AUTHORIZATION: `Bearer sandbox-token-${scope}` })
    expect(await found(v2Scopes)).toEqual(
      lacking.map((one) => expect.stringMatching(`^wrong: .* lack a right\\. Give the credentials the scope ${one}`)),
    )
    expect(await found(ofV2)).toEqual([expect.stringMatching(`^${reading}`)])
  })

  it('may write even if CI answers 400 to unknown resources', async () => {
    const { ci, found } = await openHealthy()
    ci.addFault({ kind: 'status', statusCode: 400, where: 'v2' })
    expect(await found(v2Scopes)).toEqual([expect.stringMatching('^fine')])
  })

  it('of another organization do not work for this one', async () => {
    const { found } = await openHealthy({ CI_ORGANIZATION_UUID: NOBODY })
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
      const { found } = await openHealthy({ CI_SITE_URL: url })
      expect(await found(site)).toEqual([expect.stringMatching(`^wrong: .*${words}.* Check CI_SITE_URL`)])
    }
  })
})

describe('the clock', () => {
  it.each([
    [90_000, /^wrong: This machine's clock is .* ahead of Slack's/],
    [-90_000, /^wrong: This machine's clock is .* behind Slack's/],
    [10_000, /^fine/],
  ])('that is %i ms off is judged with its direction', async (ms, words) => {
    const { slack: sandbox, found } = await openHealthy()
    const clock = { now: () => Date.now() + ms }
    const slack: SlackExaminer = createSlackExaminer({ token: sandbox.botToken, apiUrl: sandbox.apiUrl, clock })
    expect(await found(clockOfSlack, { slack })).toEqual([expect.stringMatching(words)])
  })
})

describe('the database', () => {
  it('that is locked cannot be written, which the bot could not do either', async () => {
    const { folder, found } = await openHealthy()
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
    expect(await said(database, { store })).toEqual(['off: Buildline creates it at its first start'])
    await store.migrate()
    expect(await said(database, { store })).toEqual([expect.stringMatching('^fine')])
  })
})
