import { answerHome, homeView, type HomeView } from '../../../src/features/home/view.ts'
import { answerNotAllowed } from '../../../src/features/kit/not-allowed.ts'
import { owned } from '../../../packages/demo/src/samples/streaks.ts'
import { buildOf, CAST, CHANNEL, RED_AT, REFERENCE, type Cast } from '../../../packages/demo/src/samples/cast.ts'
import type { HomeState, Some } from '../../../src/features/home/home.ts'
import type { ShownSubscription } from '../../../src/projects/subscriptions.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'

/** More items than any Home shows. */
export const LARGE = 10_000

const NONE: Some<never> = { shown: [], more: 0 }
const some = <One>(...shown: readonly One[]): Some<One> => ({ shown, more: 0 })
export const many = <One>(one: One, count = LARGE): One[] => Array<One>(count).fill(one)

export const EMPTY_HOME: HomeState = {
  me: { user: 'U0ADA00001', handles: [], mentions: true },
  red: NONE,
  othersRed: null,
  waiting: NONE,
  subscriptions: NONE,
}

const subscriptionOf = ({ project, branch }: Cast, change: Partial<Subscription> = {}): ShownSubscription => ({
  subscription: {
    channel: CHANNEL,
    follows: { what: 'project', name: project },
    rules: [{ branch, branchMatch: 'exact', events: ['failed', 'recovered'] }],
    quiet: false,
    mention: 'committer',
    source: 'slack',
    id: '7',
    ...change,
  },
  project: null,
  rules: null,
  rulesFrom: 'channel',
  paused: null,
})

export const memberHome = (cast: Cast = CAST): HomeState => ({
  me: { user: 'U0ADA00001', handles: [{ handle: cast.committer, at: RED_AT }], mentions: true },
  red: some(
    buildOf(cast, 'failed', { ownership: owned(cast) }),
    buildOf(cast),
    buildOf(cast, 'failed', { project: cast.other, offers: [], missing: { action: 'restart', why: 'pro-project' } }),
  ),
  othersRed: some(buildOf(cast, 'failed', { branch: 'next', ownership: owned(cast) })),
  waiting: some(buildOf(cast, 'waiting')),
  subscriptions: some(
    subscriptionOf(cast),
    subscriptionOf(cast, { follows: { what: 'all' }, rules: null, source: 'default-channel' }),
    { ...subscriptionOf(cast, { source: 'file' }), paused: { code: 'is_archived', at: RED_AT } },
  ),
})

/** A state with LARGE items of each kind. */
export const largeHome = (cast: Cast = CAST): HomeState => {
  const { subscriptions, ...member } = memberHome(cast)
  return {
    ...member,
    me: { ...member.me, handles: many(member.me.handles[0]!) },
    red: { shown: many(member.red.shown[0]!), more: LARGE },
    othersRed: { shown: many(member.red.shown[0]!), more: LARGE },
    waiting: { shown: many(member.waiting.shown[0]!), more: LARGE },
    subscriptions: { shown: many(subscriptions!.shown[2]!), more: LARGE },
  }
}

const OUTSIDER = { kind: 'no', why: 'outsider', who: [] } as const

/** Every Home, and when people see it. */
export const HOMES: readonly [name: string, when: string, view: HomeView][] = [
  ['empty', 'Somebody opens Home for the first time: nothing is claimed, nothing is followed.', homeView(EMPTY_HOME)],
  ['member', 'A member opens Home, with red builds and a build that waits.', homeView(memberHome())],
  [
    'unclaimed',
    'A member opens Home who has claimed no committer name.',
    homeView({ ...memberHome(), me: EMPTY_HOME.me, red: NONE, othersRed: NONE }),
  ],
  [
    'mentions-off',
    'Somebody opens Home who has turned their mentions off.',
    homeView({ ...memberHome(), me: { ...memberHome().me, mentions: false } }),
  ],
  [
    'slack-silent',
    'Slack does not say which channels somebody is in.',
    homeView({ ...EMPTY_HOME, me: memberHome().me, subscriptions: null }),
  ],
  ['largest', 'There is more of everything than Home shows.', homeView(largeHome())],
  [
    'outsider',
    'Somebody of another workspace opens Home in a shared channel.',
    answerHome(answerNotAllowed(OUTSIDER, { action: null, reference: REFERENCE })),
  ],
]
