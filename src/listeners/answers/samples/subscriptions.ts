import type { Decision } from '../../../domain/decide.ts'
import type { ChannelRule } from '../../../domain/rule.ts'
import type { Subscription } from '../../../domain/subscription.ts'
import type { Refused } from '../../../operations/asked.ts'
import type {
  DryChannel,
  DryRunOutcome,
  RulesOutcome,
  ShownSubscription,
  SubscribeOutcome,
  UnsubscribeOutcome,
} from '../../../operations/subscription/asked.ts'
import { BUILD_AT, CHANNEL, projectOf, RED_AT, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { refusals, type Cases, type Of } from './words.ts'

const ruleOf = ({ branch }: Cast): ChannelRule => ({ branch, branchMatch: 'exact', events: ['failed', 'recovered'] })

const shownOf = (cast: Cast, change: Partial<Subscription> = {}, more: Partial<ShownSubscription> = {}) => {
  const rules = [ruleOf(cast)]
  const subscription: Subscription = {
    channel: CHANNEL,
    follows: { what: 'project', name: cast.project },
    rules,
    quiet: false,
    mention: 'committer',
    source: 'slack',
    id: '7',
    createdBy: cast.user,
    createdAt: BUILD_AT,
    ...change,
  }
  const shown: ShownSubscription = {
    subscription,
    project: projectOf(cast.project),
    rules: subscription.rules,
    rulesFrom: 'channel',
    paused: null,
    ...more,
  }
  return shown
}

const kept = ({ source, ...rest }: Omit<Subscription, 'id' | 'createdBy' | 'createdAt'>): Subscription => ({
  ...rest,
  source,
})

const ofFile = (cast: Cast): ShownSubscription => {
  const { subscription, ...shown } = shownOf(cast)
  const { channel, follows, rules, quiet, mention } = subscription
  return {
    ...shown,
    subscription: kept({ channel, follows, rules, quiet, mention, source: 'file' }),
    rulesFrom: 'file',
  }
}

const ofDefault = (cast: Cast): ShownSubscription => ({
  ...shownOf(cast),
  subscription: kept({
    channel: CHANNEL,
    follows: { what: 'unfollowed' },
    rules: null,
    quiet: false,
    mention: 'committer',
    source: 'default-channel',
  }),
  project: null,
  rules: null,
  rulesFrom: 'ci',
})

const TOLD = { kind: 'told' } as const
const notTold = (code: string, isClosed: boolean) => ({ kind: 'not-told', code, isClosed }) as const

const CLOSED = {
  is_archived: 'the channel is archived',
  not_in_channel: 'Buildline is not in the channel',
  channel_not_found: 'Slack does not show Buildline the channel',
} as const

const forbidden = (cast: Cast): Cases<Refused> => {
  const [first, ...others] = refusals(cast)
  const of = ({ when, outcome: permit }: (typeof others)[number]) => ({
    when,
    outcome: { kind: 'forbidden', action: 'subscribe', permit } as const,
  })
  return {
    forbidden: [of(first), ...others.map(of)],
    'unknown-person': [
      { when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } as const },
    ],
  }
}

const noProject = (cast: Cast) => {
  const { 'no-project': none, 'several-projects': several } = notFound(cast)
  return { 'no-project': none, 'several-projects': several } as const
}

export const subscribes = (cast: Cast): Cases<SubscribeOutcome> => ({
  subscribed: [
    {
      when: 'the channel follows it from now on',
      outcome: { kind: 'subscribed', shown: shownOf(cast), was: null, announced: TOLD, silent: null },
    },
    {
      when: 'the default channel hears nothing of it any more',
      outcome: { kind: 'subscribed', shown: shownOf(cast), was: null, announced: TOLD, silent: CHANNEL },
    },
    {
      when: 'it takes the place of another one',
      outcome: {
        kind: 'subscribed',
        shown: shownOf(cast, { rules: null, quiet: true, mention: 'nobody' }),
        was: shownOf(cast),
        announced: TOLD,
        silent: null,
      },
    },
    ...Object.entries({ ...CLOSED, [cast.code]: 'Slack says something else' }).map(([code, when]) => ({
      when,
      outcome: {
        kind: 'subscribed',
        shown: shownOf(cast),
        was: null,
        announced: notTold(code, true),
        silent: null,
      } as const,
    })),
    {
      when: 'it is not clear whether the channel was told',
      outcome: {
        kind: 'subscribed',
        shown: shownOf(cast),
        was: null,
        announced: notTold('timeout', false),
        silent: null,
      },
    },
  ],
  same: [{ when: 'it is so already', outcome: { kind: 'same', shown: shownOf(cast) } }],
  'kept-by-file': [{ when: 'the file keeps it', outcome: { kind: 'kept-by-file', shown: ofFile(cast) } }],
  'too-many': [{ when: 'the channel follows too much', outcome: { kind: 'too-many', max: 50 } }],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
  'not-in-channel': [
    {
      when: 'the channel was chosen in Home by who is not in it',
      outcome: { kind: 'not-in-channel', channel: CHANNEL },
    },
  ],
  faults: [
    {
      when: 'the pattern is invalid',
      outcome: { kind: 'faults', faults: [{ field: 'branch', reason: 'is no valid pattern, or too large a one' }] },
    },
  ],
  ...noProject(cast),
  ...forbidden(cast),
})

export const unsubscribes = (cast: Cast): Cases<UnsubscribeOutcome> => ({
  unsubscribed: [
    {
      when: 'the channel follows it no more',
      outcome: { kind: 'unsubscribed', removed: [shownOf(cast)], announced: TOLD },
    },
    {
      when: 'there were many of the project',
      outcome: {
        kind: 'unsubscribed',
        removed: Array.from({ length: 12 }, () => shownOf(cast)),
        announced: notTold('is_archived', true),
      },
    },
  ],
  'not-subscribed': [
    {
      when: 'the channel does not follow it',
      outcome: { kind: 'not-subscribed', text: cast.typed, here: [shownOf(cast)] },
    },
    { when: 'the channel follows nothing', outcome: { kind: 'not-subscribed', text: null, here: [] } },
  ],
  which: [
    {
      when: 'the channel follows several',
      outcome: { kind: 'which', here: [shownOf(cast), shownOf(cast, { id: '8', rules: null }), ofFile(cast)] },
    },
  ],
  'kept-by-file': [{ when: 'the file keeps it', outcome: { kind: 'kept-by-file', shown: ofFile(cast) } }],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
  ...noProject(cast),
  ...forbidden(cast),
})

export const rulings = (cast: Cast): Cases<RulesOutcome> => ({
  rules: [
    { when: 'the channel follows nothing', outcome: rulesWith([]) },
    { when: 'the channel has rules of its own', outcome: rulesWith([shownOf(cast)]) },
    { when: "the project's own rules decide", outcome: rulesWith([byCi(cast, [ruleOf(cast)])]) },
    { when: 'the project has no rules for Slack', outcome: rulesWith([byCi(cast, [])]) },
    { when: "the project's rules are not read yet", outcome: rulesWith([byCi(cast, null)]) },
    {
      when: 'it follows all projects, quietly, and mentions nobody',
      outcome: rulesWith([
        shownOf(
          cast,
          { follows: { what: 'all' }, rules: null, quiet: true, mention: 'nobody' },
          { project: null, rulesFrom: 'ci' },
        ),
      ]),
    },
    { when: 'nobody knows the project any more', outcome: rulesWith([shownOf(cast, {}, { project: null })]) },
    { when: 'the file and the settings keep them', outcome: rulesWith([ofFile(cast), ofDefault(cast)]) },
    {
      when: 'the channel is closed',
      outcome: rulesWith([shownOf(cast, {}, { paused: { code: 'is_archived', at: RED_AT } })]),
    },
    {
      when: 'there are more than fit',
      outcome: rulesWith(Array.from({ length: 6 }, (_, n) => shownOf(cast, { id: String(n + 1) }))),
    },
  ],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
})

const rulesWith = (subscriptions: readonly ShownSubscription[]): Of<RulesOutcome, 'rules'> => ({
  kind: 'rules',
  channel: CHANNEL,
  subscriptions,
})

const byCi = (cast: Cast, rules: readonly ChannelRule[] | null): ShownSubscription =>
  shownOf(cast, { rules: null }, { rules, rulesFrom: 'ci' })

export const dryRuns = (cast: Cast): Cases<DryRunOutcome> => ({
  'dry-run': [
    { when: 'channels follow the project', outcome: dryRunOf(cast) },
    { when: 'nobody follows it', outcome: { ...dryRunOf(cast), events: [{ event: 'failed', channels: [] }] } },
    { when: 'the rules are not read yet', outcome: { ...dryRunOf(cast), unread: true } },
    { when: 'its branch filter is not known', outcome: { ...dryRunOf(cast), filter: null } },
    {
      when: 'CI builds every branch',
      outcome: { ...dryRunOf(cast), filter: { words: { kind: 'all' }, isBuilt: true, by: null, invalid: [] } },
    },
    {
      when: 'CI does not build it',
      outcome: {
        ...dryRunOf(cast),
        filter: { words: { kind: 'not', entries: [cast.branch] }, isBuilt: false, by: cast.branch, invalid: ['^('] },
      },
    },
    {
      when: 'CI does not say which way its filter works',
      outcome: {
        ...dryRunOf(cast),
        filter: {
          words: { kind: 'unclear', mode: null, entries: [cast.branch] },
          isBuilt: null,
          by: cast.branch,
          invalid: [],
        },
      },
    },
  ],
  'unknown-event': [
    {
      when: 'there is no such event',
      outcome: { kind: 'unknown-event', text: cast.typed, events: ['started', 'failed'] },
    },
  ],
  ...noProject(cast),
})

const dryRunOf = (cast: Cast): Of<DryRunOutcome, 'dry-run'> => ({
  kind: 'dry-run',
  project: projectOf(cast.project),
  branch: cast.branch,
  events: [
    { event: 'failed', channels: [told(cast, {}), told(cast, { quiet: true }), told(cast, { paused: CLOSED_NOW })] },
    { event: 'started', channels: [untold(cast)] },
    { event: 'waiting', channels: [untold(cast)] },
  ],
  filter: { words: { kind: 'only', entries: [cast.branch] }, isBuilt: true, by: cast.branch, invalid: [] },
  unread: false,
})

const CLOSED_NOW = { code: 'is_archived', at: RED_AT }

const told = (cast: Cast, change: Partial<DryChannel>): DryChannel => ({
  channel: CHANNEL,
  decision: decisionOf(cast, { verdict: 'tell', reason: 'event-selected', loud: true }, 'selects'),
  quiet: false,
  mentions: true,
  paused: null,
  ...change,
})

const untold = (cast: Cast): DryChannel => ({
  ...told(cast, {}),
  decision: decisionOf(cast, { verdict: 'silent', reason: 'event-not-selected', loud: false }, 'event-not-selected'),
})

const decisionOf = (
  cast: Cast,
  made: Pick<Decision, 'verdict' | 'reason' | 'loud'>,
  verdict: Decision['looked'][number]['verdict'],
): Decision => ({ ...made, rulesFrom: 'channel', looked: [{ rule: ruleOf(cast), from: 'channel', verdict }] })
