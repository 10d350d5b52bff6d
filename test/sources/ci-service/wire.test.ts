import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/lib/json.ts'
import { updateBody } from '../../../src/sources/ci-service/wire.ts'
import { applyChange } from '../../../src/domain/ci-project/project-change.ts'
import { anyProject, CI_OWN_FIELDS, exactly, KNOWN_NOTIFIERS, leavesOf, type Leaf } from './generated-projects.ts'

type Fields = Record<string, unknown>

/** The request for a project that arrives as `text`; `touch` is what an editor changes in between. */
const sentFor = (text: string, touch: (raw: Fields) => Fields = (raw) => raw): unknown =>
  exactly(JSON.stringify(updateBody(touch(parseJson(text) as Fields))))

const rulesSentFor = (...rules: unknown[]) =>
  (updateBody({ type: 'basic', notification_rules: rules }) as { notification_rules: unknown[] }).notification_rules

describe('an update contains', () => {
  test('each field of the request, and none that only CI sets', () => {
    const kept = {
      type: 'basic',
      team_ids: [7],
      build_on_pr_only: true,
      branch_match: 'exclude',
      branches: ['main'],
      setup_commands: ['npm ci'],
      environment_variables: [{ name: 'A', value: 'b' }],
    }
    const answered = {
      uuid: 'u',
      organization_uuid: 'o',
      name: 'acme/web',
      repository_url: 'r',
      repository_provider: 'git',
      authentication_user: 'Ada',
      ssh_key: 's',
      aes_key: null,
      created_at: 'c',
      updated_at: 'u',
      test_pipelines: [{ id: 1 }],
      deployment_pipelines: [{ id: 2 }],
    }
    expect(updateBody({ ...answered, ...kept, colour: { of: ['paint'] } })).toEqual({
      ...kept,
      colour: { of: ['paint'] },
    })
  })

  test.each(['pro', 'turbo', 'Pro'])('no field that only Basic has, for a project of type %s', (type) => {
    expect(updateBody({ type, setup_commands: ['x'], environment_variables: [], branches: null })).toEqual({
      type,
      branches: null,
    })
  })

  test.each(['basic', 'Basic', undefined, null])('every such field if the type is %s', (type) => {
    expect(updateBody({ type, setup_commands: ['x'] })).toEqual({ type, setup_commands: ['x'] })
  })

  test('no field that is missing', () => {
    expect(updateBody({ type: 'basic' })).toEqual({ type: 'basic' })
  })
})

describe('a rule in an update', () => {
  test.each([
    ['slack', { key: 'k' }, { slack: { key: 'k' } }],
    ['webhook', { url: 'https://example.com/' }, { webhook: { url: 'https://example.com/' } }],
    ['campfire', { key: 'k', room: 'r', url: 'd' }, { campfire: { key: 'k', room: 'r', domain: 'd' } }],
    ['flowdock', { key: 'k' }, { flowdock: { key: 'k' } }],
    ['hipchat', { key: 'k', room: 'r' }, { hipchat: { key: 'k', room: 'r' } }],
    ['grove', { key: 'k' }, { grove: { key: 'k' } }],
    ['Slack', { key: 'k' }, { slack: { key: 'k' } }],
    ['slack', { key: 'k', room: 'r', url: null }, { slack: { key: 'k', room: 'r', url: null } }],
    ['slack', { key: 'k', colour: 'red' }, { slack: { key: 'k' }, colour: 'red' }],
    ['slack', { slack: { key: 'k' } }, { slack: { key: 'k' } }],
    ['slack', { key: 'new', slack: { key: 'old', room: 'r' } }, { slack: { key: 'new', room: 'r' } }],
    ['slack', { slack: 'odd', key: 'k' }, { slack: 'odd', key: 'k' }],
    ['campfire', { url: 'u', domain: 'd' }, { campfire: { url: 'u', domain: 'd' } }],
    ['campfire', { url: 'u', campfire: { domain: 'd' } }, { campfire: { url: 'u', domain: 'd' } }],
    ['slack', {}, {}],
    ['slack', null, null],
    ['email', { key: 'k' }, { key: 'k' }],
    ['pigeon', { key: 'k', loft: 'l' }, { key: 'k', loft: 'l' }],
    [undefined, { key: 'k' }, { key: 'k' }],
  ])('for %s sends the options %j as %j', (notifier, options, sent) => {
    expect(rulesSentFor({ notifier, options })).toEqual([{ notifier, options: sent }])
  })

  test.each([
    [{ target: 'committer' }, { email_target: 'committer' }],
    [{ target: null }, { email_target: null }],
    [{ email_target: 'all' }, { email_target: 'all' }],
    [{ target: null, email_target: 'all' }, { email_target: 'all' }],
    [{}, {}],
  ])('sends %j as %j', (rule, sent) => {
    expect(rulesSentFor(rule)).toEqual([sent])
  })

  test('keeps branch, branch_match, build_statuses and unknown fields, and sends something that is not a rule unchanged', () => {
    const rule = { branch: null, branch_match: 'regex', build_statuses: ['deployed'], id: 7, nested: { target: 'x' } }
    expect(rulesSentFor(rule, 'nonsense', null)).toEqual([rule, 'nonsense', null])
  })
})

describe('numbers beyond 2^53', () => {
  const LONG = '18446744073709551615'
  const text = `{"type":"basic","id":${LONG},"digits":"${LONG}","team_ids":[${LONG},"${LONG}",7],"list":[[${LONG},1]],
    "notification_rules":[{"notifier":"slack","id":${LONG},"code":"${LONG}","options":{"key":"${LONG}","serial":${LONG}}}]}`
  const sent = {
    type: 'basic',
    id: `#${LONG}`,
    digits: LONG,
    team_ids: [`#${LONG}`, `#${LONG}`, '#7'],
    list: [[`#${LONG}`, '#1']],
    notification_rules: [
      { notifier: 'slack', id: `#${LONG}`, code: LONG, options: { slack: { key: LONG }, serial: `#${LONG}` } },
    ],
  }

  test('are sent as numbers, and digit strings as strings, but team ids are always numbers in a request', () => {
    expect(sentFor(text)).toEqual(sent)
  })

  test('stay exact even after an editor has spread the project and its rules', () => {
    const spread = (raw: Fields) => ({
      ...raw,
      notification_rules: (raw['notification_rules'] as Fields[]).map((rule) => ({ ...rule })),
    })
    expect(sentFor(text, spread)).toEqual(sent)
  })

  test('stay exact in the rule that an edit changes', () => {
    const rule = {
      notifier: 'slack',
      target: null,
      branch: 'main',
      branchMatch: null,
      options: {},
      events: ['failed'],
    }
    const edit = (raw: Fields) => {
      const effect = applyChange(raw, { what: 'rule', at: 0, rule })
      if (effect.kind !== 'changed') throw new Error('the edit has faults')
      return effect.raw
    }
    expect(sentFor(text, edit)).toEqual({
      ...sent,
      notification_rules: [{ ...sent.notification_rules[0]!, branch: 'main', build_statuses: ['failed'] }],
    })
  })

  test('are replaced if an editor has set another value', () => {
    expect(sentFor(text, (raw) => ({ ...raw, id: '18446744073709551614', list: [LONG] }))).toEqual({
      ...sent,
      id: '18446744073709551614',
      list: [LONG],
    })
  })
})

describe('for any project', () => {
  const isSent = ({ path }: Leaf, type: unknown) => {
    if (CI_OWN_FIELDS.includes(String(path[0]))) return false
    // A number is not a word: `#…` is how `exactly` shows it.
    const isOther = typeof type === 'string' && !/^(#-?\d.*|\s*|basic)$/i.test(type)
    return !isOther || !['setup_commands', 'environment_variables'].includes(String(path[0]))
  }

  /** The place in the request for the value that CI answered at `path`. */
  function requestPath(path: Leaf['path'], project: Fields): Leaf['path'] {
    const [list, at, field, option, ...rest] = path
    if (list !== 'notification_rules' || typeof at !== 'number' || field === undefined) return path
    if (field === 'target') return [list, at, 'email_target', ...path.slice(3)]
    const notifier = String((project[list] as Fields[])[at]!['notifier']).toLowerCase()
    const hasOwn = notifier !== 'email' && KNOWN_NOTIFIERS.some((known) => known === notifier)
    if (field !== 'options' || !hasOwn || !['key', 'url', 'room'].includes(String(option))) return path
    const name = notifier === 'campfire' && option === 'url' ? 'domain' : option!
    return [list, at, field, notifier, name, ...rest]
  }

  const asLines = (leaves: Leaf[]) => leaves.map((leaf) => JSON.stringify(leaf)).sort()

  test('an update contains every value under its request name, except those that only CI sets, and nothing else', () => {
    fc.assert(
      fc.property(anyProject, (generated) => {
        const text = JSON.stringify(generated)
        const project = exactly(text) as Fields
        const expected = leavesOf(project)
          .filter((leaf) => isSent(leaf, project['type']))
          .map(({ path, value }) => ({ path: requestPath(path, project), value }))
        const sent = sentFor(text)
        expect(asLines(leavesOf(sent).filter(({ path }) => path.length > 0))).toEqual(asLines(expected))
      }),
      { numRuns: 400 },
    )
  })

  test('making an update does not change the project', () => {
    fc.assert(
      fc.property(anyProject, (generated) => {
        const raw = parseJson(JSON.stringify(generated)) as Fields
        const before = structuredClone(raw)
        updateBody(raw)
        expect(JSON.stringify(raw)).toBe(JSON.stringify(before))
      }),
    )
  })
})
