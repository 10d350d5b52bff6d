import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { createAddresses, KNOWN_FOR_MS, PAUSE_MS, type Addresses } from '../../../src/slack/api/addresses.ts'
import { SECOND, T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { startHttpStub } from '../../support/http-stub.ts'

const ADA = 'ada@acme.example'
const TEAM = 'T0SANDBOX1'

async function open({ scopes = ['users:read', 'users:read.email'] } = {}) {
  const sandbox = createSandboxSlack({ rates: 'off', scopes })
  await sandbox.start()
  onTestFinished(() => sandbox.stop())
  const { addresses, ...rest } = addressesOf(sandbox.apiUrl, sandbox.botToken)
  return { sandbox, addresses, ...rest, asked: () => sandbox.counters.calls('users.lookupByEmail') }
}

function addressesOf(apiUrl: string, token = 'xoxb-1') {
  const clock = createHandClock(T0)
  const warned: unknown[] = []
  const warn = (...said: unknown[]) => void warned.push(said)
  return { addresses: createAddresses({ token, apiUrl, clock, log: { warn }, logger: { warn } }), clock, warned }
}

/** Starts a lookup, waits for its end, and gives what is known then. */
async function whose(addresses: Addresses, email: string): Promise<string | null> {
  await expect.poll(() => addresses.ask(email), { timeout: 10_000 }).toBe(false)
  return addresses.known(email)
}

test('an address belongs to its owner, who may also be a guest', async () => {
  const { addresses } = await open()
  expect(addresses.known(ADA)).toBeNull()
  expect(await whose(addresses, ADA)).toBe(PEOPLE.ada)
  expect(await whose(addresses, 'gus@acme.example')).toBe(PEOPLE.gus)
})

test.each(['nobody@acme.example', 'former@acme.example', 'sol@outside.example'])('%s is nobody’s', async (email) => {
  const { addresses, asked } = await open()
  expect(await whose(addresses, email)).toBeNull()
  expect(asked()).toBe(1)
})

test.each([
  ['of a bot', { is_bot: true }],
  ['of Slackbot', { id: 'USLACKBOT' }],
  ['of somebody who has left', { deleted: true }],
  ['of a person outside the workspace', { is_stranger: true }],
  ['of another workspace', { team_id: 'T0OUTSIDE1' }],
])('an account %s is not proposed', async (_, says) => {
  const user = { id: 'U0ADA00001', team_id: TEAM, ...says }
  await using stub = await startHttpStub(() => ({ json: { ok: true, team_id: TEAM, user } }))
  expect(await whose(addressesOf(stub.url).addresses, ADA)).toBeNull()
  expect(stub.requests.map(({ path }) => path)).toContain('/users.lookupByEmail')
})

describe('Slack is asked', () => {
  test.each([ADA, 'nobody@acme.example'])('once a day about %s, whether it is found or not', async (email) => {
    const { addresses, clock, asked } = await open()
    for (const times of [1, 2]) {
      await Promise.all([whose(addresses, email), whose(addresses, email)])
      await clock.advance(KNOWN_FOR_MS - SECOND)
      await whose(addresses, email)
      expect(asked()).toBe(times)
      await clock.advance(SECOND)
      expect(addresses.known(email)).toBeNull()
    }
  })

  test('about two addresses at a time', async () => {
    const release = Promise.withResolvers<void>()
    await using stub = await startHttpStub(async () => {
      await release.promise
      return { json: { ok: false, error: 'users_not_found' } }
    })
    const { addresses } = addressesOf(stub.url)
    for (const name of ['ada', 'grace', 'lin']) expect(addresses.ask(`${name}@acme.example`)).toBe(true)
    await expect.poll(() => stub.requests.length).toBe(2)
    release.resolve()
    await whose(addresses, 'lin@acme.example')
    expect(stub.requests).toHaveLength(3)
  })

  test('about nothing for a minute after it gave no answer, and the log contains no address', async () => {
    const { addresses, clock, asked, warned, sandbox } = await open({ scopes: ['users:read'] })
    expect(await whose(addresses, ADA)).toBeNull()
    expect(await whose(addresses, 'lin@acme.example')).toBeNull()
    expect(asked()).toBe(1)
    expect(warned).toContainEqual([
      { code: 'missing_scope' },
      expect.stringContaining('could not look up an e-mail address'),
    ])
    expect(JSON.stringify(warned)).not.toContain('acme.example')
    sandbox.acts.grantScope('users:read.email')
    await clock.advance(PAUSE_MS)
    expect(await whose(addresses, ADA)).toBe(PEOPLE.ada)
  })

  test('about nothing for as long as it tells us to wait after too many requests', async () => {
    await using stub = await startHttpStub(() => ({ status: 429, headers: { 'retry-after': '90' }, json: {} }))
    const { addresses, clock } = addressesOf(stub.url)
    await whose(addresses, ADA)
    await clock.advance(89 * SECOND)
    expect(addresses.ask(ADA)).toBe(false)
    await clock.advance(SECOND)
    expect(addresses.ask(ADA)).toBe(true)
    await whose(addresses, ADA)
    expect(stub.requests).toHaveLength(2)
  })
})
