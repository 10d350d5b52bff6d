import { describe, expect, onTestFinished, test } from 'vitest'
import type { Grants } from '../../../src/slack/api/permission.ts'
import { createDirectory, RATE_LIMIT_WAIT_MS_MAX } from '../../../src/slack/api/directory.ts'
import { createSandboxSlack, type SandboxSlackOptions } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { ACCOUNTS, GRID, OUTSIDE, PEOPLE } from '../../../packages/sandbox-slack/src/workspace.ts'
import { MINUTE, T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'

const TEAM = 'T0SANDBOX1'
const RELEASE = 'S0RELEASE1'
const NOBODY: Grants = { operators: [], approvers: [], admins: [] }

async function open(grants: Partial<Grants> = {}, options: SandboxSlackOptions = {}) {
  const sandbox = createSandboxSlack({ rates: 'off', ...options })
  await sandbox.start()
  onTestFinished(() => sandbox.stop())
  const { clock, waits } = watchedClock()
  const warned: string[] = []
  const logger = { warn: (message: string) => void warned.push(message) }
  const directory = createDirectory({
    token: sandbox.botToken,
    apiUrl: sandbox.apiUrl,
    clock,
    logger,
    grants: { ...NOBODY, ...grants },
  })
  const may = async (right: 'read' | 'operate' | 'administer', user: string, team: string | null = TEAM) => {
    const permit = await directory.permits(right, { user, team })
    return permit.kind === 'yes' ? 'yes' : permit.kind === 'no' ? permit.why : `unknown: ${permit.code}`
  }
  return { sandbox, directory, clock, waits, may, warned }
}

/** A clock that records each sleep. */
function watchedClock() {
  const clock = createHandClock(T0)
  const waits: number[] = []
  const sleep: typeof clock.sleep = (ms, signal) => {
    waits.push(ms)
    return clock.sleep(ms, signal)
  }
  return { clock: { ...clock, sleep }, waits }
}

test('whether a person is still in the workspace is looked up anew each time', async () => {
  const { sandbox, directory } = await open()
  const kinds = async () =>
    Promise.all([PEOPLE.ada, ACCOUNTS.deactivated, 'U0NOBODY01'].map(async (user) => directory.presenceOf(user)))
  expect(await kinds()).toEqual([{ kind: 'here' }, { kind: 'gone' }, { kind: 'gone' }])
  sandbox.acts.deactivate(PEOPLE.ada)
  sandbox.acts.reactivate(ACCOUNTS.deactivated)
  expect(await kinds()).toEqual([{ kind: 'gone' }, { kind: 'here' }, { kind: 'gone' }])
  sandbox.faults.add({ kind: 'error', method: 'users.info', error: 'fatal_error', times: 1 })
  expect(await directory.presenceOf(PEOPLE.ada)).toEqual({ kind: 'unknown', code: 'fatal_error' })
})

test('nameOf gives the name that a person goes by, and null if Slack does not tell', async () => {
  const { directory } = await open()
  expect(await Promise.all([PEOPLE.ada, 'U0NOBODY01'].map(directory.nameOf))).toEqual(['Ada', null])
})

describe('with the default permissions', () => {
  test.each([
    ['a member', PEOPLE.ada, 'yes', 'yes', 'not-admin'],
    ['an admin', PEOPLE.grace, 'yes', 'yes', 'yes'],
    ['a guest', PEOPLE.gus, 'yes', 'guest', 'guest'],
    ['a former member', ACCOUNTS.deactivated, 'deactivated', 'deactivated', 'deactivated'],
    ['another app', ACCOUNTS.otherBot, 'bot', 'bot', 'bot'],
    ['a workflow', ACCOUNTS.workflow, 'bot', 'bot', 'bot'],
    ['a connector', ACCOUNTS.connector, 'bot', 'bot', 'bot'],
  ])('%s has the permissions that the product defines', async (_, user, read, operate, administer) => {
    const { may } = await open()
    expect([await may('read', user), await may('operate', user), await may('administer', user)]).toEqual([
      read,
      operate,
      administer,
    ])
  })

  test('a person from outside, in a shared channel, may do nothing, whichever workspace the request names', async () => {
    const { may } = await open()
    for (const team of [OUTSIDE.id, TEAM, null])
      expect([await may('read', PEOPLE.sol, team), await may('operate', PEOPLE.sol, team)]).toEqual([
        'outsider',
        'outsider',
      ])
  })

  test('a request from another workspace counts as one from outside, whatever Slack says about the account', async () => {
    const { may } = await open()
    expect(await may('operate', PEOPLE.ada, OUTSIDE.id)).toBe('outsider')
    expect(await may('operate', PEOPLE.ada, null)).toBe('yes')
  })
})

describe('the account', () => {
  test.each([
    ['of a guest of several channels', PEOPLE.gus, { is_restricted: true }, 'guest'],
    ['of a guest of one channel', PEOPLE.gus, { is_ultra_restricted: true }, 'guest'],
    ['of a member', PEOPLE.lin, {}, 'not-admin'],
    ['of an admin', PEOPLE.grace, { is_admin: true }, 'yes'],
    ['of an owner', PEOPLE.grace, { is_owner: true }, 'yes'],
    ['of the primary owner', PEOPLE.grace, { is_primary_owner: true }, 'yes'],
    // Slack does not call its own bot a bot.
    ['of Slackbot', 'USLACKBOT', { is_bot: false }, 'bot'],
  ])('%s decides who may administer', async (_, user, says, may) => {
    const account = { id: user, team_id: TEAM, ...says }
    await using stub = await startHttpStub(() => ({ json: { ok: true, team_id: TEAM, user: account } }))
    const { permits } = createDirectory({
      token: 'xoxb-1',
      apiUrl: stub.url,
      clock: createHandClock(T0),
      grants: NOBODY,
    })
    const permit = await permits('administer', { user, team: TEAM })
    expect(permit.kind === 'no' ? permit.why : permit.kind).toBe(may)
  })
})

describe('on Enterprise Grid', () => {
  const [LOCAL_ID, GRID_ID, HOME] = ['U0ADA00001', 'W0ADA00001', 'T0OFFICE01']

  /** May Ada operate, whom Slack knows by two ids, from a workspace that is not ours? */
  async function may({ teams = [HOME, TEAM], operators = [], members = [] }: Partial<Record<string, string[]>>) {
    const user = { id: LOCAL_ID, team_id: HOME, enterprise_user: { id: GRID_ID, teams } }
    await using stub = await startHttpStub(({ path }) => ({
      json: { ok: true, ...(path === '/usergroups.users.list' ? { users: members } : { team_id: TEAM, user }) },
    }))
    const grants = { ...NOBODY, operators }
    const directory = createDirectory({ token: 'xoxb-1', apiUrl: stub.url, clock: createHandClock(T0), grants })
    const permit = await directory.permits('operate', { user: LOCAL_ID, team: HOME })
    return { may: permit.kind === 'no' ? permit.why : permit.kind, asked: stub.requests.map(({ path }) => path) }
  }

  test('a person who is in our workspace too is no outsider, whichever workspace the request names', async () => {
    expect((await may({})).may).toBe('yes')
    expect((await may({ teams: [HOME] })).may).toBe('outsider')
  })

  test.each([false, true])(
    'the workspaces of a person count wherever Slack lists them (beside the account: %s)',
    async (isFlat) => {
      const { may: mayOperate, sandbox } = await open()
      sandbox.acts.setGridTeams(PEOPLE.lin, { teams: [GRID.otherTeam, TEAM], isFlat })
      sandbox.acts.setGridTeams(PEOPLE.ada, { teams: [GRID.otherTeam], isFlat })
      for (const team of [TEAM, GRID.otherTeam, GRID.id, null])
        expect([await mayOperate('operate', PEOPLE.lin, team), await mayOperate('read', PEOPLE.ada, team)]).toEqual([
          'yes',
          'outsider',
        ])
    },
  )

  test.each([
    ['our organization', TEAM, GRID.id, 'yes'],
    ['another organization', OUTSIDE.id, 'E0OUTSIDE1', 'outsider'],
  ])('of a person without workspaces the organization counts: %s', async (_, team, enterprise, verdict) => {
    const user = { id: LOCAL_ID, team_id: enterprise, enterprise_id: enterprise }
    const ours = { team_id: TEAM, enterprise_id: GRID.id }
    await using stub = await startHttpStub(() => ({ json: { ok: true, ...ours, user } }))
    const directory = createDirectory({ token: 'xoxb-1', apiUrl: stub.url, clock: createHandClock(T0), grants: NOBODY })
    const permit = await directory.permits('operate', { user: LOCAL_ID, team })
    expect(permit.kind === 'no' ? permit.why : permit.kind).toBe(verdict)
  })

  test.each([LOCAL_ID, GRID_ID])('a list may name a person by either id: %s', async (id) => {
    const { may: verdict, asked } = await may({ operators: [id, RELEASE] })
    expect(verdict).toBe('yes')
    expect(asked).not.toContain('/usergroups.users.list')
  })

  test.each([LOCAL_ID, GRID_ID])('a user group may name a member by either id: %s', async (id) => {
    expect((await may({ operators: [RELEASE], members: [PEOPLE.lin, id] })).may).toBe('yes')
    expect((await may({ operators: [RELEASE], members: [PEOPLE.lin] })).may).toBe('not-listed')
  })
})

describe('with configured permissions', () => {
  test('only the listed people and the members of listed user groups may operate', async () => {
    const { may } = await open({ operators: [PEOPLE.lin, RELEASE] })
    expect([
      await may('operate', PEOPLE.lin),
      await may('operate', PEOPLE.ada),
      await may('operate', PEOPLE.gus),
    ]).toEqual(['yes', 'yes', 'not-listed'])
  })

  test('the members of an admin group may administer, and an admin outside the group may not', async () => {
    const { may } = await open({ admins: [RELEASE] })
    expect([await may('administer', PEOPLE.ada), await may('administer', PEOPLE.lin)]).toEqual(['yes', 'not-listed'])
    const { may: mayOthers } = await open({ admins: [PEOPLE.lin] })
    expect(await mayOthers('administer', PEOPLE.grace)).toBe('not-listed')
  })

  test('a user group that Slack does not show never stops people who only read or who are listed by name', async () => {
    const { may, sandbox } = await open({ operators: [RELEASE, PEOPLE.lin], admins: [PEOPLE.grace] })
    sandbox.faults.add({ kind: 'error', method: 'usergroups.users.list', error: 'missing_scope' })
    expect(await may('operate', PEOPLE.ada)).toBe('unknown: missing_scope')
    expect([
      await may('read', PEOPLE.ada),
      await may('operate', PEOPLE.lin),
      await may('administer', PEOPLE.ada),
    ]).toEqual(['yes', 'yes', 'not-listed'])
  })

  test('a user group that does not exist permits nobody, and the error code from Slack is given', async () => {
    const { may } = await open({ operators: ['S0NOBODY01'] })
    expect(await may('operate', PEOPLE.ada)).toBe('unknown: no_such_subteam')
  })
})

describe('if Slack does not say who somebody is, nothing is permitted', () => {
  test('for a person that Slack does not know', async () => {
    const { may } = await open()
    expect(await may('operate', 'U0NOBODY01')).toBe('unknown: user_not_found')
    expect(await may('read', 'U0NOBODY01')).toBe('unknown: user_not_found')
  })

  test.each([
    ['down', { kind: 'down' } as const],
    ['failing', { kind: '5xx' } as const],
    ['limiting for long', { kind: 'ratelimited', retryAfterS: RATE_LIMIT_WAIT_MS_MAX / 1_000 + 1 } as const],
  ])('while Slack is %s, and Slack is called again once it is back', async (_, fault) => {
    const { may, sandbox } = await open()
    sandbox.faults.add({ ...fault, method: 'users.info' })
    expect(await may('operate', PEOPLE.ada)).toMatch(/^unknown: /)
    sandbox.faults.clear()
    expect(await may('operate', PEOPLE.ada)).toBe('yes')
  })

  test('while Slack does not say which workspace is ours', async () => {
    const { may, sandbox } = await open()
    sandbox.faults.add({ kind: 'error', method: 'auth.test', error: 'internal_error' })
    expect(await may('operate', PEOPLE.sol, null)).toBe('unknown: internal_error')
  })

  test.each<[string, StubAnswer]>([
    ['no user', { json: { ok: true } }],
    ['a user that is none', { json: { ok: true, user: 'ada' } }],
    ['a page', { text: '<html>' }],
  ])('when Slack answers with %s', async (_, answer) => {
    await using stub = await startHttpStub(() => answer)
    const directory = createDirectory({ token: 'xoxb-1', apiUrl: stub.url, clock: createHandClock(T0), grants: NOBODY })
    expect((await directory.permits('read', { user: PEOPLE.ada, team: null })).kind).toBe('unknown-person')
  })

  test('and no message about it contains a token', async () => {
    const { may, sandbox, warned } = await open()
    sandbox.faults.add({ kind: 'down' })
    expect(await may('operate', PEOPLE.ada)).not.toContain(sandbox.botToken)
    expect(warned.join()).not.toContain(sandbox.botToken)
  })
})

describe('when Slack tells us to wait', () => {
  const patience = (retryAfterS: number, times: number) =>
    ({ kind: 'ratelimited', method: 'users.info', retryAfterS, times }) as const

  test(`we wait up to ${RATE_LIMIT_WAIT_MS_MAX} ms, and then the person who clicked has permission`, async () => {
    const { may, sandbox, clock, waits } = await open()
    sandbox.faults.add(patience(RATE_LIMIT_WAIT_MS_MAX / 1_000, 1))
    const asking = may('operate', PEOPLE.ada)
    await expect.poll(() => waits).toEqual([RATE_LIMIT_WAIT_MS_MAX])
    await clock.advance(RATE_LIMIT_WAIT_MS_MAX - 1)
    expect(sandbox.counters.calls('users.info')).toBe(1)
    await clock.advance(1)
    expect(await asking).toBe('yes')
    expect(sandbox.counters.calls('users.info')).toBe(2)
  })

  test('for longer than that, the person gets the answer at once', async () => {
    const { may, sandbox, waits } = await open()
    sandbox.faults.add(patience(RATE_LIMIT_WAIT_MS_MAX / 1_000 + 1, 1))
    expect(await may('operate', PEOPLE.ada)).toBe('unknown: ratelimited')
    expect([waits, sandbox.counters.calls('users.info')]).toEqual([[], 1])
  })

  test('each request waits only once', async () => {
    const { may, sandbox, clock, waits } = await open()
    sandbox.faults.add(patience(1, 2))
    const asking = may('operate', PEOPLE.ada)
    await expect.poll(() => waits).toEqual([1_000])
    await clock.advance(1_000)
    expect(await asking).toBe('unknown: ratelimited')
    expect(await may('operate', PEOPLE.ada)).toBe('yes')
  })
})

describe('an answer from Slack about a person', () => {
  const infos = (requests: readonly { path: string }[]) => requests.filter(({ path }) => path === '/users.info').length
  const member = { id: PEOPLE.ada, team_id: TEAM }

  test('is remembered for a minute, and then looked up anew', async () => {
    let isRestricted = false
    await using stub = await startHttpStub(() => ({
      json: { ok: true, team_id: TEAM, user: { ...member, is_restricted: isRestricted } },
    }))
    const clock = createHandClock(T0)
    const { permits } = createDirectory({ token: 'xoxb-1', apiUrl: stub.url, clock, grants: NOBODY })
    const may = async () => (await permits('operate', { user: PEOPLE.ada, team: TEAM })).kind
    expect(await may()).toBe('yes')
    isRestricted = true
    await clock.advance(MINUTE - 1)
    expect([await may(), infos(stub.requests)]).toEqual(['yes', 1])
    await clock.advance(1)
    expect([await may(), infos(stub.requests)]).toEqual(['no', 2])
  })

  test('is looked up once for all requests that come at the same moment', async () => {
    await using stub = await startHttpStub(() => ({ json: { ok: true, team_id: TEAM, user: member } }))
    const { permits } = createDirectory({
      token: 'xoxb-1',
      apiUrl: stub.url,
      clock: createHandClock(T0),
      grants: NOBODY,
    })
    await Promise.all(Array.from({ length: 10 }, () => permits('operate', { user: PEOPLE.ada, team: TEAM })))
    expect(stub.requests.map(({ path }) => path).sort()).toEqual(['/auth.test', '/users.info'])
  })

  test('applies only to that person', async () => {
    const { may } = await open()
    expect(await Promise.all([may('operate', PEOPLE.ada), may('operate', PEOPLE.gus)])).toEqual(['yes', 'guest'])
  })
})
