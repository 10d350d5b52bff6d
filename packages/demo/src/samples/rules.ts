import type { Decision } from '../../../../src/domain/rules/decide.ts'
import type { ChannelRule } from '../../../../src/domain/rules/rule.ts'
import type { ShownSubscription } from '../../../../src/projects/subscriptions.ts'
import { CHANNEL, projectOf, RED_AT, type Cast } from './cast.ts'
import { keptDigest } from './digests.ts'
import { noProject } from './not-found.ts'
import { ofDefault, ofFile, ruleOf, shownOf } from './shown.ts'
import type { Cases, Of } from './words.ts'
import type { DryChannel, DryRunOutcome } from '../../../../src/features/subscriptions/dry-run.ts'
import type { RulesOutcome } from '../../../../src/features/subscriptions/channel.ts'
import { askedWith, samplesOfKinds, type Sample } from './sample.ts'
import { answerDryRun } from '../../../../src/features/subscriptions/dry-run-messages.ts'
import { answerRules, RULES_SHOWN_MAX } from '../../../../src/features/subscriptions/rules-messages.ts'

export const ruleSamples = (cast: Cast): Sample[] => [
  ...samplesOfKinds<RulesOutcome>('rules', rulings(cast), answerRules),
  ...samplesOfKinds<DryRunOutcome>('rules', dryRuns(cast), (outcome) =>
    answerDryRun(outcome, askedWith('rules', cast)),
  ),
]

export const rulings = (cast: Cast): Cases<RulesOutcome> => ({
  rules: [
    { when: 'the channel follows nothing', outcome: rulesWith([]) },
    { when: 'the channel has its own rules', outcome: rulesWith([shownOf(cast)]) },
    {
      when: 'the channel follows nothing, and has a digest',
      outcome: { ...rulesWith([]), digest: keptDigest(cast) },
    },
    { when: 'it has a digest', outcome: { ...rulesWith([shownOf(cast)]), digest: keptDigest(cast) } },
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
    { when: 'the project is no longer known', outcome: rulesWith([shownOf(cast, {}, { project: null })]) },
    { when: 'the file and the settings keep them', outcome: rulesWith([ofFile(cast), ofDefault(cast)]) },
    {
      when: 'the channel is closed',
      outcome: rulesWith([shownOf(cast, {}, { paused: { code: 'is_archived', at: RED_AT } })]),
    },
    {
      when: 'there are more than fit',
      outcome: rulesWith(Array.from({ length: RULES_SHOWN_MAX + 2 }, (_, n) => shownOf(cast, { id: String(n + 1) }))),
    },
  ],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
})

const rulesWith = (subscriptions: readonly ShownSubscription[]): Of<RulesOutcome, 'rules'> => ({
  kind: 'rules',
  channel: CHANNEL,
  subscriptions,
  digest: null,
})

const byCi = (cast: Cast, rules: readonly ChannelRule[] | null): ShownSubscription =>
  shownOf(cast, { rules: null }, { rules, rulesFrom: 'ci' })

export const dryRuns = (cast: Cast): Cases<DryRunOutcome> => ({
  'dry-run': [
    { when: 'channels follow the project', outcome: dryRunOf(cast) },
    { when: 'nobody follows it', outcome: { ...dryRunOf(cast), events: [{ event: 'failed', channels: [] }] } },
    { when: 'the rules are not read yet', outcome: { ...dryRunOf(cast), unread: true } },
    { when: 'the asker cannot look into some of the channels', outcome: { ...dryRunOf(cast), hidden: 2 } },
    {
      when: 'the asker cannot look into the only channel',
      outcome: { ...dryRunOf(cast), events: [{ event: 'failed', channels: [] }], hidden: 1 },
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
    { event: 'started', channels: [unreached(cast)] },
    { event: 'waiting', channels: [unreached(cast)] },
  ],
  unread: false,
  hidden: 0,
})

const CLOSED_NOW = { code: 'is_archived', at: RED_AT }

const told = (cast: Cast, change: Partial<DryChannel>): DryChannel => ({
  channel: CHANNEL,
  decision: decisionOf(cast, { verdict: 'post', reason: 'event-selected', loud: true }, 'selects'),
  quiet: false,
  mentions: true,
  paused: null,
  ...change,
})

const unreached = (cast: Cast): DryChannel => ({
  ...told(cast, {}),
  decision: decisionOf(cast, { verdict: 'silent', reason: 'event-not-selected', loud: false }, 'event-not-selected'),
})

const decisionOf = (
  cast: Cast,
  made: Pick<Decision, 'verdict' | 'reason' | 'loud'>,
  verdict: Decision['ruleResults'][number]['verdict'],
): Decision => ({ ...made, rulesFrom: 'channel', ruleResults: [{ rule: ruleOf(cast), from: 'channel', verdict }] })
