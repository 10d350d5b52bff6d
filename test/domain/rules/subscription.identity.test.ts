import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import { meantSources } from '../../../src/projects/named-sources.ts'
import { following, type Follows, type ProjectNames, subscriptionSlot } from '../../../src/domain/rules/subscription.ts'
import { channelId } from '../../support/build-events.ts'

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

describe('a subscription to a project', () => {
  it.each<[claim: string, follows: Follows, project: ProjectNames, isFollowed: boolean]>([
    ['follows its uuid under a new name', project('acme/web', { uuid: WEB }), named('acme/site', '41', WEB), true],
    ['follows its id under a new name', project('acme/web', { projectId: '41' }), named('acme/site', '41'), true],
    ['leaves its name to another uuid', project('acme/web', { uuid: WEB }), named('acme/web', '42', API), false],
    ['leaves its name to another id', project('acme/web', { projectId: '41' }), named('acme/web', '42'), false],
    ['goes by name if it has no uuid itself', project('acme/web'), named('acme/web', '41', WEB), true],
    ['goes by name if the project has no uuid', project('acme/web', { uuid: WEB }), named('acme/web', '41'), true],
    ['goes by name in its own source only', project('acme/web', { uuid: WEB }), named('acme/web', 'gitlab:71'), false],
    ['goes by name in every source if it has no id', project('acme/web'), named('acme/web', 'gitlab:71'), true],
    [
      'goes by name in its sources',
      { ...project('acme/web'), sources: ['gitlab'] },
      named('acme/web', 'gitlab:71'),
      true,
    ],
    [
      'goes by name in no other source',
      { ...project('acme/web'), sources: ['gitlab'] },
      named('acme/web', '41'),
      false,
    ],
    ['goes by id in no other source', { ...project('41'), sources: ['gitlab'] }, named('x', '41'), false],
    ['follows no other name', project('acme/web', { uuid: WEB }), named('acme/site', '41'), false],
    [
      'treats an empty id as no id',
      project('acme/web', { uuid: null, projectId: '' }),
      named('acme/web', '41', WEB),
      true,
    ],
    ['needs its uuid or id to match', project('acme/web', { uuid: WEB, projectId: '40' }), named('x', '41', WEB), true],
    [
      'does not go by name if neither matches',
      project('acme/web', { uuid: WEB, projectId: '40' }),
      named('acme/web', '41', API),
      false,
    ],
    [
      'is satisfied by a matching id if the project has no uuid',
      project('acme/web', { uuid: WEB, projectId: '41' }),
      named('x', '41'),
      true,
    ],
    ['ignores case in a uuid', project('x', { uuid: WEB }), named('acme/web', '41', WEB.toUpperCase()), true],
    [
      'distinguishes ids beyond 2^53',
      project('x', { projectId: '9007199254740993' }),
      named('x', '9007199254740992'),
      false,
    ],
  ])('%s', (_, follows, by, expected) => {
    expect(isFollowed(follows, by)).toBe(expected)
  })
})

describe('a name without a source means', () => {
  const [ofCi, listed, github, gitlab] = [
    { source: 'ci', isListed: false },
    { source: 'ci', isListed: true },
    { source: 'github', isListed: false },
    { source: 'gitlab', isListed: false },
  ] as const
  const every = ['ci', 'github', 'gitlab']

  it.each([
    ['any source while none has it', [], every],
    ['any source while only CI has it', [ofCi], every],
    ['no project of CI that only deliveries name, if GitHub has one', [github, ofCi], ['github', 'gitlab']],
    ['no later project of CI, if GitLab has one', [gitlab], ['github', 'gitlab']],
    ['GitHub and GitLab if both have it', [github, gitlab], ['github', 'gitlab']],
    ['also the project that CI lists', [github, ofCi, listed], every],
  ])('%s', (_, namesakes, sources) => {
    expect(meantSources(namesakes)).toEqual(sources)
    expect(meantSources(namesakes.toReversed())).toEqual(sources)
  })
})

const rule = (branch: string | null, branchMatch: string | null = null, events: ChannelRule['events'] = 'every') => ({
  branch,
  branchMatch,
  events,
})

describe('two subscriptions of a channel share one slot', () => {
  const web = project('acme/web', { uuid: WEB })

  it.each<[claim: string, one: string, other: string]>([
    ['for one project with two names', subscriptionSlot(web, null), subscriptionSlot({ ...web, name: 'site' }, null)],
    [
      'for one project by uuid, whether its id is known or not',
      subscriptionSlot(web, null),
      subscriptionSlot({ ...web, projectId: '41' }, null),
    ],
    [
      'for one project by id with two names',
      subscriptionSlot(project('a', { projectId: '41' }), null),
      subscriptionSlot(project('b', { projectId: '41' }), null),
    ],
    ['for one name', subscriptionSlot(project(' ACME/Web '), null), subscriptionSlot(project('acme/web'), null)],
    ['without rules and with one for every branch', subscriptionSlot(web, null), subscriptionSlot(web, [rule(null)])],
    [
      'with two spellings of every branch',
      subscriptionSlot(web, [rule('', 'exact')]),
      subscriptionSlot(web, [rule('**')]),
    ],
    ['for other events', subscriptionSlot(web, [rule('v*')]), subscriptionSlot(web, [rule('v*', null, ['failed'])])],
    [
      'with an explicit and an implicit mode',
      subscriptionSlot(web, [rule('v*')]),
      subscriptionSlot(web, [rule('v*', 'Wildcard')]),
    ],
    ['for one branch in two modes', subscriptionSlot(web, [rule('v')]), subscriptionSlot(web, [rule('v', 'wildcard')])],
    [
      'with the same branches in another order',
      subscriptionSlot(web, [rule('a'), rule('b*'), rule('a')]),
      subscriptionSlot(web, [rule('b**'), rule('a')]),
    ],
    ['for all projects', subscriptionSlot({ what: 'all' }, null), subscriptionSlot({ what: 'all' }, [rule('*')])],
  ])('%s', (_, one, other) => {
    expect(one).toBe(other)
  })
})

describe('two subscriptions of a channel have different slots', () => {
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

  it('for different projects, and for different branches or modes', () => {
    const rules = [null, ...regexes.map((one) => [one]), [rule('v*'), rule('w*')], [rule('["v*"]')]]
    const slots = follows.flatMap((one) => rules.map((each) => subscriptionSlot(one, each)))
    expect(new Set(slots).size).toBe(follows.length * rules.length)
  })

  it('for different patterns, whatever characters they have', () => {
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
