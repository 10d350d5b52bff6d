import { describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { ProjectChange } from '../../../src/domain/ci-project/project-change.ts'
import { ORGANIZATION, project as sent, uuidOf } from '../../sources/ci-service/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { requester, keepAll, openProjectStage } from './stage.ts'

// A CI that does not show everything, or not at once.

const WEB = toUuid(uuidOf(1))
const RULE = { notifier: 'slack', branch: 'main', build_statuses: ['failed'], options: { key: 'key-1' } }

const whole = (change: Record<string, unknown> = {}) =>
  sent(1, {
    type: 'basic',
    name: 'acme/web',
    team_ids: [7],
    notification_rules: [RULE],
    build_on_pr_only: false,
    branch_match: 'include',
    branches: [],
    setup_commands: ['npm ci'],
    environment_variables: [{ name: 'TOKEN', value: 'value-1' }],
    ...change,
  })

const branches: ProjectChange = { what: 'builds', onPullRequestsOnly: false, match: 'include', branches: ['main'] }

/** @param shown what CI answers; @param isTaken whether updates change that */
async function open(shown: object, isTaken = true) {
  let current = shown
  const stub = await startHttpStub(({ method, body }) => {
    if (method !== 'PUT') return { json: [current] }
    const { branches: taken } = JSON.parse(body) as { branches: unknown }
    if (isTaken) current = { ...current, branches: taken }
    return { text: '<html>Welcome</html>' }
  })
  const stage = await openProjectStage({ baseUrl: stub.url, organizationUuid: ORGANIZATION, authorization: 'x' })
  await keepAll(stage)
  const preview = (change: ProjectChange) => stage.operations.preview({ project: WEB, change, base: {} }, requester())
  const edit = async (change: ProjectChange) => {
    const looked = await preview(change)
    if (looked.kind !== 'preview') return looked
    return stage.operations.edit({ project: WEB, change, base: looked.base }, requester())
  }
  const puts = () => stub.requests.filter(({ method }) => method === 'PUT')
  return { stub, stage, preview, edit, puts, [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose]() }
}

describe('a secret that CI masks', () => {
  test.each([
    ['a variable', { environment_variables: [{ name: 'TOKEN', value: '****' }] }, 'environment_variables.TOKEN'],
    [
      'a variable without value',
      { environment_variables: [{ name: 'TOKEN', value: null }] },
      'environment_variables.TOKEN',
    ],
    ['a key', { notification_rules: [{ ...RULE, options: { key: '****' } }] }, 'notification_rules[0].options.key'],
  ])('(%s) prevents every edit, since the mask would overwrite it', async (_, change, field) => {
    await using ci = await open(whole(change))
    expect(await ci.edit(branches)).toMatchObject({ kind: 'faults', faults: [{ field }] })
    expect(ci.puts()).toEqual([])
  })

  test('does not prevent an edit that sets it anew', async () => {
    await using ci = await open(whole({ environment_variables: [{ name: 'TOKEN', value: '****' }] }))
    const variables: ProjectChange = { what: 'variables', variables: [{ name: 'TOKEN', value: 'value-2' }] }
    expect((await ci.preview(variables)).kind).toBe('preview')
  })

  test('does not prevent an edit that does not send it: a Pro project has no variables', async () => {
    await using ci = await open(whole({ type: 'pro', environment_variables: [{ name: 'TOKEN', value: '****' }] }))
    expect((await ci.edit(branches)).kind).toBe('edited')
  })

  test('may be the AES key, which no update sends', async () => {
    await using ci = await open(whole({ aes_key: '****' }))
    expect((await ci.edit(branches)).kind).toBe('edited')
  })
})

describe('a field that CI leaves out', () => {
  test.each([
    ['variables', { environment_variables: undefined }, ['environment_variables']],
    ['rules', { notification_rules: undefined }, ['notification_rules']],
    ['keys', { notification_rules: [{ ...RULE, options: {} }] }, ['notification_rules[0].options.key']],
    ['options', { notification_rules: [{ ...RULE, options: undefined }] }, ['notification_rules[0].options.key']],
  ])('(%s) is reported before and after sending, since an update may remove it', async (_, change, unshown) => {
    await using ci = await open(whole(change))
    expect(await ci.preview(branches)).toMatchObject({ kind: 'preview', unshown })
    expect(await ci.edit(branches)).toMatchObject({ kind: 'edited', unshown })
  })

  test('is not reported if the project is complete or empty, and no Basic field is for a Pro project', async () => {
    for (const change of [{}, { notification_rules: [], branches: null }, { type: 'pro', setup_commands: undefined }]) {
      await using ci = await open(whole(change))
      expect(await ci.preview(branches)).toMatchObject({ kind: 'preview', unshown: [] })
    }
  })
})

test('the last rule by which CI tells Buildline of builds is not removed without a warning', async () => {
  const ours = { ...RULE, notifier: 'webhook', options: { url: 'https://bot.example/webhooks/builds/secret' } }
  const remove = (at: number): ProjectChange => ({ what: 'remove-rule', at })
  await using ci = await open(whole({ notification_rules: [RULE, ours] }))
  const preview = (at: number) =>
    ci.stage.operations.preview({ project: WEB, change: remove(at), base: null }, requester())
  expect(await preview(1)).toMatchObject({ kind: 'preview', silences: true })
  expect(await preview(0)).toMatchObject({ kind: 'preview', silences: false })
})

test('makes an update unclear that CI answers with 200 but never shows: a gateway may have answered', async () => {
  await using ci = await open(whole(), false)
  expect(await ci.edit(branches)).toMatchObject({ kind: 'unclear', code: 'taken', lookUp: 'not-shown' })
  expect(ci.puts()).toHaveLength(1)
  expect(await ci.stage.deps.store.read.newestRequests(1)).toMatchObject([{ state: 'unconfirmed', code: 'not-shown' }])
})
