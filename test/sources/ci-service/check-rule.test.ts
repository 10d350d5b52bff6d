import { describe, expect, test } from 'vitest'
import {
  checkFilter,
  LIST_ITEMS_MAX,
  checkRule,
  LINE_CHARS_MAX,
  unknownNotifiers,
} from '../../../src/sources/ci-service/check-rule.ts'
import { COVERS_NO_BRANCH } from '../../../src/domain/rules/rule.ts'
import { PATTERN_CHARS_MAX } from '../../../src/domain/rules/pattern.ts'

const rule = (more: Record<string, unknown> = {}) => ({ notifier: 'email', build_statuses: ['failed'], ...more })

describe('a valid rule for creation', () => {
  test.each([
    [{}],
    [{ target: 'committer', branch: 'main', branch_match: 'exact' }],
    [{ target: null, branch: null, branch_match: null, options: null }],
    [{ branch: 'release/*', branch_match: 'wildcard' }],
    [{ branch: '^release/(a|b)+$', branch_match: 'regex' }],
    [{ branch: '(', branch_match: 'exact' }],
    [{ build_statuses: ['started', 'failed', 'success', 'recovered'] }],
    [{ notifier: 'slack', options: { key: 'k' } }],
    [{ notifier: 'webhook', options: { url: 'https://example.com/hook' } }],
    [{ notifier: 'campfire', options: { url: 'u', key: 'k', room: 'r' } }],
    [{ notifier: 'flowdock', options: { key: 'k' } }],
    [{ notifier: 'hipchat', options: { key: 'k', room: 'r' } }],
    [{ notifier: 'grove', options: { key: 'k' } }],
    [{ notifier: 'pigeon', options: { loft: 7 }, colour: 'grey' }],
    [{ notifier: 'slack', options: { key: 'k'.repeat(LINE_CHARS_MAX) } }],
    [{ branch: 'b'.repeat(PATTERN_CHARS_MAX) }],
  ])('may contain %j', (more) => {
    expect(checkRule(rule(more), 'create')).toEqual([])
  })

  test.each([
    [{ notifier: undefined }, 'notifier', 'is required'],
    [{ notifier: ' ' }, 'notifier', 'is required'],
    [{ notifier: 7 }, 'notifier', 'must be text'],
    [{ target: 'everyone' }, 'target', 'must be all or committer'],
    [{ email_target: 'everyone' }, 'email_target', 'must be all or committer'],
    [{ branch: 7 }, 'branch', 'must be text'],
    [{ branch: 'b'.repeat(PATTERN_CHARS_MAX + 1) }, 'branch', `has more than ${PATTERN_CHARS_MAX} characters`],
    [{ branch: 'a', branch_match: 'glob' }, 'branch_match', 'must be exact, regex or wildcard'],
    [{ branch: '(', branch_match: 'regex' }, 'branch', 'is not a valid regular expression (RE2)'],
    [{ branch: '(?=a)', branch_match: 'regex' }, 'branch', 'is not a valid regular expression (RE2)'],
    [{ branch: '^(a' }, 'branch', COVERS_NO_BRANCH],
    [{ branch: '^release/.*$', branch_match: 'exact' }, 'branch', COVERS_NO_BRANCH],
    [{ build_statuses: [] }, 'build_statuses', 'at least one event is needed'],
    [{ build_statuses: undefined }, 'build_statuses', 'at least one event is needed'],
    [{ build_statuses: 'failed' }, 'build_statuses', 'must be a list'],
    [
      { build_statuses: ['failed', 'deployed'] },
      'build_statuses[1]',
      'must be one of started, failed, success, recovered',
    ],
    [{ build_statuses: ['waiting'] }, 'build_statuses[0]', 'must be one of started, failed, success, recovered'],
    [{ options: 'k' }, 'options', 'must be an object'],
    [{ notifier: 'slack' }, 'options.key', 'slack needs a key'],
    [{ notifier: 'slack', options: { key: ' ' } }, 'options.key', 'slack needs a key'],
    [{ notifier: 'slack', options: { slack: { key: 'k' } } }, 'options.key', 'slack needs a key'],
    [{ notifier: 'webhook', options: {} }, 'options.url', 'webhook needs a url'],
    [{ notifier: 'webhook', options: { url: 'ftp://x' } }, 'options.url', 'must be an http or https address'],
    [{ notifier: 'webhook', options: { url: 'hook' } }, 'options.url', 'must be an http or https address'],
    [{ notifier: 'campfire', options: { domain: 'd', key: 'k', room: 'r' } }, 'options.url', 'campfire needs a url'],
    [{ notifier: 'campfire', options: { url: 'u', key: 'k' } }, 'options.room', 'campfire needs a room'],
    [{ notifier: 'flowdock' }, 'options.key', 'flowdock needs a key'],
    [{ notifier: 'hipchat', options: { key: 'k' } }, 'options.room', 'hipchat needs a room'],
    [{ notifier: 'grove' }, 'options.key', 'grove needs a key'],
    [
      { notifier: 'slack', options: { key: 'k'.repeat(LINE_CHARS_MAX + 1) } },
      'options.key',
      `has more than ${LINE_CHARS_MAX} characters`,
    ],
  ])('must not contain %j, because %s %s', (more, field, reason) => {
    expect(checkRule(rule(more), 'create')).toEqual([{ field, reason }])
  })

  test('is refused with all of its faults at once', () => {
    expect(checkRule({ notifier: 'campfire', options: { key: 7 } }, 'create').map(({ field }) => field)).toEqual([
      'build_statuses',
      'options.key',
      'options.url',
      'options.room',
    ])
  })
})

describe('a rule in an update', () => {
  test.each([
    [{ notifier: 'campfire', options: { url: 'u', key: 'k', room: 'r' } }],
    [{ notifier: 'campfire', options: { domain: 'd', key: 'k', room: 'r' } }],
    [{ notifier: 'campfire', options: { campfire: { domain: 'd', key: 'k', room: 'r' } } }],
    [{ notifier: 'slack', options: { slack: { key: 'k' } } }],
    [{ target: 'everyone', build_statuses: ['deployed'] }],
  ])('may contain what CI may have made of it: %j', (more) => {
    expect(checkRule(rule(more), 'update')).toEqual([])
  })

  test.each([
    [{ notifier: 'campfire', options: { key: 'k', room: 'r' } }, 'options.domain', 'campfire needs a domain'],
    [{ notifier: 'slack', options: { slack: {} } }, 'options.key', 'slack needs a key'],
    [{ notifier: 'webhook', options: { webhook: { url: 'x' } } }, 'options.url', 'must be an http or https address'],
    [{ build_statuses: [] }, 'build_statuses', 'at least one event is needed'],
  ])('must contain what its notifier needs: %j', (more, field, reason) => {
    expect(checkRule(rule(more), 'update')).toEqual([{ field, reason }])
  })
})

describe('the notifiers that CI does not know', () => {
  const rules = ['slack', 'pigeon', 'owl', 'pigeon'].map((notifier) => rule({ notifier }))

  test.each([
    ['notification_rules.2.notifier: not a known notifier', ['owl']],
    [
      'notification_rules[0].notifier is not allowed; notification_rules/1/notifier is not allowed',
      ['slack', 'pigeon'],
    ],
    ['Notifier must be one of email, slack, webhook', ['pigeon', 'owl']],
    ['notification_rules.0.options: slack needs key', []],
    ['team_ids is required', []],
    [null, []],
  ])('are those that the reason mentions: %s', (reason, notifiers) => {
    expect(unknownNotifiers(reason, rules)).toEqual(notifiers)
  })

  test('are empty if all rules have notifiers of the interface', () => {
    expect(unknownNotifiers('unknown notifier', [rule(), rule({ notifier: 'Slack' }), 7, {}])).toEqual([])
  })
})

describe('a branch filter', () => {
  test('may contain full names and whole regexes', () => {
    expect(checkFilter(['main', 'release/1.x', '*', 'a^b$c', '^release/.*$', '^$'])).toEqual([])
  })

  test.each([
    ['^half', 'a regular expression must start with ^ and end with $'],
    ['half$', 'a regular expression must start with ^ and end with $'],
    ['^(a$', 'is not a valid regular expression (RE2)'],
    [' ', 'is empty'],
    [7, 'must be text'],
    ['b'.repeat(PATTERN_CHARS_MAX + 1), `has more than ${PATTERN_CHARS_MAX} characters`],
  ])('must not contain %s', (entry, reason) => {
    expect(checkFilter(['main', entry])).toEqual([{ field: 'branches[1]', reason }])
  })

  test('may have as many entries as the limit, and no more', () => {
    const entries = Array.from({ length: LIST_ITEMS_MAX }, () => 'b'.repeat(PATTERN_CHARS_MAX))
    expect(checkFilter(entries)).toEqual([])
    expect(checkFilter([...entries, 'main'])).toEqual([{ field: 'branches', reason: 'has more than 200 entries' }])
  })
})
