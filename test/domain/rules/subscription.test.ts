import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { following, type ProjectNames, type Subscription } from '../../../src/domain/rules/subscription.ts'
import { channelId } from '../../support/build-events.ts'

const BUILDS = 'C0BUILDS01'

const web: ProjectNames = {
  projectId: '41',
  projectUuid: '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8',
  names: ['acme/web', null, 'web'],
}

function subscription(channel: string, follows: Subscription['follows'] | string): Subscription {
  return {
    channel: channelId(channel),
    follows: typeof follows === 'string' ? { what: 'project', name: follows } : follows,
    rules: null,
    quiet: false,
    mention: 'nobody',
    source: 'slack',
  }
}

const all = (channel: string) => subscription(channel, { what: 'all' })
const unfollowed = (channel: string) => subscription(channel, { what: 'unfollowed' })

describe('a subscription to a project', () => {
  it.each([
    ['its full name', 'acme/web'],
    ['its name', 'web'],
    ['its uuid', '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8'],
    ['its legacy id', '41'],
    ['capitals', 'ACME/Web'],
    ['a uuid in capitals', '3F2A1B4C-5D6E-4F70-8192-A3B4C5D6E7F8'],
    ['blanks around it', ' acme/web '],
  ])('follows it by %s', (_, name) => {
    expect(following([subscription(BUILDS, name)], web)).toHaveLength(1)
  })

  it.each(['acme/api', 'acme', 'acme/we', 'acme/web2', '4', '410', '', 'null', 'all'])(
    'does not follow it by %j',
    (name) => {
      expect(following([subscription(BUILDS, name)], web)).toEqual([])
    },
  )

  it('follows a project in any script', () => {
    const project = { projectId: '42', projectUuid: null, names: ['акме/веб', '会社/ウェブ'] }
    const names = ['Акме/Веб', '会社/ウェブ', 'acme/web']
    expect(
      following(
        names.map((name) => subscription(BUILDS, name)),
        project,
      ),
    ).toHaveLength(2)
  })

  it('distinguishes ids beyond 2^53', () => {
    const project = { projectId: '9007199254740993', projectUuid: null, names: [] }
    expect(following([subscription(BUILDS, '9007199254740993')], project)).toHaveLength(1)
    expect(following([subscription(BUILDS, '9007199254740992')], project)).toEqual([])
  })

  it('to an empty name does not follow a project without a name', () => {
    const project = { projectId: '42', projectUuid: null, names: [null] }
    expect(following([subscription(BUILDS, 'null'), subscription(BUILDS, '')], project)).toEqual([])
  })
})

describe('a subscription to every project', () => {
  it('follows every project', () => {
    expect(following([all(BUILDS)], web)).toHaveLength(1)
  })

  it("counts beside another channel's subscription to the project, in their order", () => {
    const both = [all('C0EVERY001'), subscription(BUILDS, 'acme/web')]
    expect(following(both, web)).toEqual(both)
    expect(following(both.toReversed(), web)).toEqual(both.toReversed())
  })

  it("does not count beside the same channel's subscription to the project", () => {
    const named = subscription(BUILDS, 'acme/web')
    expect(following([all(BUILDS), named], web)).toEqual([named])
    expect(following([named, all(BUILDS)], web)).toEqual([named])
  })

  it("counts beside the same channel's subscription to another project", () => {
    const everything = all(BUILDS)
    expect(following([everything, subscription(BUILDS, 'acme/api')], web)).toEqual([everything])
  })

  it('yields to subscriptions of its own channel only', () => {
    const [here, there, named] = [all(BUILDS), all('C0OTHER001'), subscription(BUILDS, 'acme/web')]
    expect(following([here, there, named], web)).toEqual([there, named])
  })
})

describe('two subscriptions of one channel to one project', () => {
  it('both count, even under two names', () => {
    const both = [subscription(BUILDS, 'acme/web'), subscription(BUILDS, '41')]
    expect(following(both, web)).toEqual(both)
  })

  it('both count if both are for every project', () => {
    const both = [all(BUILDS), all(BUILDS)]
    expect(following(both, web)).toEqual(both)
  })
})

describe('a default channel', () => {
  const fallback = unfollowed(BUILDS)
  const anyChannel = fc.constantFrom(BUILDS, 'C0OTHER001', 'C0THIRD001')
  const anyName = fc.constantFrom('acme/web', 'acme/api')
  const anyOthers = fc.array(
    fc.oneof(
      fc.tuple(anyChannel, anyName).map(([c, n]) => subscription(c, n)),
      anyChannel.map(all),
    ),
  )
  const isWeb = (follows: Subscription['follows']) => follows.what === 'project' && follows.name === 'acme/web'

  it.each<[claim: string, others: Subscription[], counts: boolean]>([
    ['gets a project that nobody follows', [], true],
    ['gets a project if others follow only another', [subscription('C0OTHER001', 'acme/api')], true],
    ['does not get a project that another channel follows', [subscription('C0OTHER001', 'acme/web')], false],
    ['gets no project if another channel follows all', [all('C0OTHER001')], false],
    ['yields to its own subscription by name', [subscription(BUILDS, 'acme/web')], false],
    ['does not yield to its own subscription to another project', [subscription(BUILDS, 'acme/api')], true],
    ['yields to its own subscription to all projects', [all(BUILDS)], false],
    [
      'does not get a project that it and another channel follow',
      [subscription(BUILDS, 'acme/web'), subscription('C0OTHER001', 'acme/web')],
      false,
    ],
    ['gets a project beside another default channel', [unfollowed('C0OTHER001')], true],
  ])('%s', (_, others, counts) => {
    expect(following([fallback, ...others], web).includes(fallback)).toBe(counts)
    expect(following([...others, fallback], web).includes(fallback)).toBe(counts)
  })

  it('keeps its own subscription by name if another channel follows the project too', () => {
    const [own, other] = [subscription(BUILDS, 'acme/web'), all('C0OTHER001')]
    expect(following([fallback, own, other], web)).toEqual([own, other])
  })

  it('gets exactly the projects that nobody else follows', () => {
    fc.assert(
      fc.property(anyOthers, (subscriptions) => {
        const followers = following([fallback, ...subscriptions], web)
        const isTaken = subscriptions.some(({ follows }) => follows.what === 'all' || isWeb(follows))
        expect(followers.length).toBeGreaterThan(0)
        expect(followers.includes(fallback)).toBe(!isTaken)
      }),
    )
  })

  it('does not exist here: each channel with a subscription to the project keeps its most specific one', () => {
    fc.assert(
      fc.property(anyOthers, (subscriptions) => {
        const followers = following(subscriptions, web)
        const channels = (some: readonly Subscription[]) => [...new Set(some.map((one) => one.channel))].sort()
        const candidates = subscriptions.filter(({ follows }) => follows.what === 'all' || isWeb(follows))
        expect(channels(followers)).toEqual(channels(candidates))
        for (const { channel, follows } of followers)
          if (follows.what === 'all')
            expect(candidates.some((one) => one.channel === channel && isWeb(one.follows))).toBe(false)
      }),
    )
  })
})
