import { describe, expect, it } from 'vitest'
import { projectNamed, v2 } from '../../../packages/sandbox-ci/test/support.ts'
import { silentProjects, webhookRules } from '../../../src/features/projects/checks.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { until, WEBHOOK_SECRET } from '../../support/app.ts'
import { hear, openHealthy, WEBHOOK_URL } from '../doctor/stage.ts'

describe('a webhook rule', () => {
  const EVERY_EVENT = ['started', 'failed', 'success', 'recovered']
  const hook = (change: object = {}) => ({
    notifier: 'webhook',
    branch: null,
    build_statuses: EVERY_EVENT,
    options: { webhook: { url: WEBHOOK_URL } },
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
    const { ci, found } = await openHealthy()
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
    const healthy = await openHealthy()
    const { ci, found } = healthy
    ci.setSwitches({ holdDeliveries: true })
    ci.push('acme/web', { outcome: 'none' })
    await until('it has begun', () => ci.state().builds.some(({ status }) => status === 'initiated'))
    expect(await found(silentProjects)).toEqual([FINE])
    const silent = (last: string) => [
      expect.stringMatching(`^wrong: acme/web has a webhook rule, but ${last}.* a build`),
    ]
    expect(await found(silentProjects, anHourLater)).toEqual(silent('no build was ever reported'))
    await hear(healthy, 'acme/web', Date.now() - 2 * HOUR)
    expect(await found(silentProjects, anHourLater)).toEqual(silent('the last report was 2'))
    await hear(healthy, 'acme/web', Date.now() - HOUR / 2)
    expect(await found(silentProjects, anHourLater)).toEqual([FINE])
  })

  it('whose builds CI does not show may be silent, which is uncertain', async () => {
    const { found } = await openHealthy()
    expect(await found(silentProjects, { legacy: null })).toEqual([
      expect.stringMatching(/^unsure: acme\/web/),
      expect.stringMatching(/^unsure: acme\/api/),
    ])
  })
})
