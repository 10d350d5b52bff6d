import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toUuid } from '../../src/domain/ids.ts'
import type { ChannelRule } from '../../src/domain/rule.ts'
import { following, subscriptionSlot, type Follows, type ProjectNames } from '../../src/domain/subscription.ts'
import { channelId } from '../support/build-events.ts'

const WEB = toUuid('3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8')
const API = toUuid('4f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8')

type Named = Extract<Follows, { what: 'project' }>

const project = (name: string, ids: Pick<Named, 'uuid' | 'projectId'> = {}): Named => ({
  what: 'project',
  name,
  ...ids,
})

const named = (name: string, projectId: string, projectUuid: string | null = null): ProjectNames => ({
  projectId,
  projectUuid,
  names: [name],
})

function isFollowed(follows: Follows, by: ProjectNames): boolean {
  const channel = channelId('C0BUILDS01')
  return following([{ channel, follows, rules: null, quiet: false, mention: 'nobody', source: 'slack' }], by).length > 0
}

describe('a subscription that knows its project', () => {
  it.each<[claim: string, follows: Follows, project: ProjectNames, isFollowed: boolean]>([
    ['follows it by uuid under a new name', project('acme/web', { uuid: WEB }), named('acme/site', '41', WEB), true],
    ['follows it by id under a new name', project('acme/web', { projectId: '41' }), named('acme/site', '41'), true],
    ['leaves its old name to another uuid', project('acme/web', { uuid: WEB }), named('acme/web', '42', API), false],
    ['leaves its old name to another id', project('acme/web', { projectId: '41' }), named('acme/web', '42'), false],
    ['goes by name where only the other knows its uuid', project('acme/web'), named('acme/web', '41', WEB), true],
    ['goes by name where only it knows the uuid', project('acme/web', { uuid: WEB }), named('acme/web', '41'), true],
    ['goes by name in its own source alone', project('acme/web', { uuid: WEB }), named('acme/web', 'gitlab:71'), false],
    ['goes by name in every source where it has no id', project('acme/web'), named('acme/web', 'gitlab:71'), true],
    ['goes by no other name then', project('acme/web', { uuid: WEB }), named('acme/site', '41'), false],
    [
      'takes an id of nothing for none',
      project('acme/web', { uuid: null, projectId: '' }),
      named('acme/web', '41', WEB),
      true,
    ],
    ['needs one of two to agree', project('acme/web', { uuid: WEB, projectId: '40' }), named('x', '41', WEB), true],
    [
      'needs one of two to agree, not none',
      project('acme/web', { uuid: WEB, projectId: '40' }),
      named('acme/web', '41', API),
      false,
    ],
    [
      'is told by an id that agrees though the uuid is not known',
      project('acme/web', { uuid: WEB, projectId: '41' }),
      named('x', '41'),
      true,
    ],
    ['does not mind capitals in a uuid', project('x', { uuid: WEB }), named('acme/web', '41', WEB.toUpperCase()), true],
    [
      'tells ids beyond 2^53 apart',
      project('x', { projectId: '9007199254740993' }),
      named('x', '9007199254740992'),
      false,
    ],
  ])('%s', (_, follows, by, expected) => {
    expect(isFollowed(follows, by)).toBe(expected)
  })
})

const rule = (branch: string | null, branchMatch: string | null = null, events: ChannelRule['events'] = 'every') => ({
  branch,
  branchMatch,
  events,
})

describe('two subscriptions of a channel take the same place', () => {
  const web = project('acme/web', { uuid: WEB })

  it.each<[claim: string, one: string, other: string]>([
    ['of one project under two names', subscriptionSlot(web, null), subscriptionSlot({ ...web, name: 'site' }, null)],
    [
      'of one project by uuid, whether its id is known or not',
      subscriptionSlot(web, null),
      subscriptionSlot({ ...web, projectId: '41' }, null),
    ],
    [
      'of one project by id under two names',
      subscriptionSlot(project('a', { projectId: '41' }), null),
      subscriptionSlot(project('b', { projectId: '41' }), null),
    ],
    ['of one name', subscriptionSlot(project(' ACME/Web '), null), subscriptionSlot(project('acme/web'), null)],
    ['without rules and with one for every branch', subscriptionSlot(web, null), subscriptionSlot(web, [rule(null)])],
    [
      'for every branch in other words',
      subscriptionSlot(web, [rule('', 'exact')]),
      subscriptionSlot(web, [rule('**')]),
    ],
    ['of other events', subscriptionSlot(web, [rule('v*')]), subscriptionSlot(web, [rule('v*', null, ['failed'])])],
    [
      'with a mode that is said or seen',
      subscriptionSlot(web, [rule('v*')]),
      subscriptionSlot(web, [rule('v*', 'Wildcard')]),
    ],
    ['by a branch, in two modes', subscriptionSlot(web, [rule('v')]), subscriptionSlot(web, [rule('v', 'wildcard')])],
    [
      'of the same branches in another order',
      subscriptionSlot(web, [rule('a'), rule('b*'), rule('a')]),
      subscriptionSlot(web, [rule('b**'), rule('a')]),
    ],
    ['for all', subscriptionSlot({ what: 'all' }, null), subscriptionSlot({ what: 'all' }, [rule('*')])],
  ])('%s', (_, one, other) => {
    expect(one).toBe(other)
  })
})

describe('two subscriptions of a channel stand beside each other', () => {
  const regexes = [rule('v*', 'exact'), rule('v*', 'regex'), rule('v*', 'wildcard'), rule('V*'), rule('v')]
  const follows: Follows[] = [
    project('acme/web', { uuid: WEB }),
    project('acme/web', { uuid: API }),
    project('acme/web', { projectId: '41' }),
    project('acme/web'),
    project('acme/api'),
    project('all'),
    project('41'),
    { what: 'all' },
    { what: 'unfollowed' },
  ]

  it('for other projects, or for other branches, by mode too', () => {
    const rules = [null, ...regexes.map((one) => [one]), [rule('v*'), rule('w*')], [rule('["v*"]')]]
    const slots = follows.flatMap((one) => rules.map((each) => subscriptionSlot(one, each)))
    expect(new Set(slots).size).toBe(follows.length * rules.length)
  })

  it('whatever their patterns look like', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', '"', ']', ',', '[', ':', '\\'), minLength: 1, maxLength: 4 })
    const patterns = fc.uniqueArray(pattern, { maxLength: 3 })
    const exactly = (some: readonly string[]) => some.map((one) => rule(one, 'exact'))
    fc.assert(
      fc.property(patterns, patterns, (some, others) => {
        const isSame =
          subscriptionSlot({ what: 'all' }, exactly(some)) === subscriptionSlot({ what: 'all' }, exactly(others))
        expect(isSame).toBe(JSON.stringify(some.toSorted()) === JSON.stringify(others.toSorted()))
      }),
    )
  })
})
