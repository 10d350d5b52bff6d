import type { Reason } from '../../../../src/domain/rules/decide.ts'
import type { ChannelRule, RuleVerdict } from '../../../../src/domain/rules/rule.ts'
import { BUILD_AT, buildOf, CARD_TS, CHANNEL, REPLY_TS, testsOf, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { each, type Cases, type Of } from './words.ts'
import type { Explained, Posted, WhyOutcome } from '../../../../src/features/why/why.ts'
import { asked, samplesOfKinds } from './sample.ts'
import { answerWhy } from '../../../../src/features/why/messages.ts'

export const whySamples = (cast: Cast) =>
  samplesOfKinds<WhyOutcome>('why', whys(cast), (outcome) => answerWhy(outcome, asked('why', cast)))

export const whys = (cast: Cast): Cases<WhyOutcome> => ({
  why: [
    ...each(REASONS, (reason) => whyOf(cast, [decisionOf(cast, reason)])),
    {
      when: 'a build step reported its tests',
      outcome: {
        ...whyOf(cast, [decisionOf(cast, 'event-selected')]),
        build: buildOf(cast, 'failed', { failures: testsOf(cast) }),
      },
    },
    { when: 'nobody follows the project', outcome: whyOf(cast, []) },
    {
      when: 'there are more decisions than fit',
      outcome: { ...whyOf(cast, [decisionOf(cast, 'late'), decisionOf(cast, 'event-selected')]), more: 30 },
    },
    {
      when: 'two build events were decided alike',
      outcome: whyOf(cast, [
        {
          ...decisionOf(cast, 'event-not-selected'),
          rawStatus: 'initiated',
          at: BUILD_AT - 60_000,
          events: ['started'],
        },
        decisionOf(cast, 'event-not-selected'),
      ]),
    },
    {
      when: 'an older version decided',
      outcome: whyOf(cast, [{ ...decisionOf(cast, 'late'), rawStatus: cast.word, reason: cast.word }]),
    },
    {
      when: 'the card and its reply are gone',
      outcome: whyOf(cast, [{ ...decisionOf(cast, 'event-selected'), posted: standing('gone') }]),
    },
    {
      when: 'the card and its reply wait',
      outcome: whyOf(cast, [{ ...decisionOf(cast, 'event-selected'), posted: standing('waiting') }]),
    },
    {
      when: 'not posted yet',
      outcome: whyOf(cast, [{ ...decisionOf(cast, 'event-selected'), posted: [] }]),
    },
    {
      when: 'it went into the notice of the day',
      outcome: whyOf(cast, [{ ...decisionOf(cast, 'account-notice'), posted: NOTICE }]),
    },
    {
      when: 'the asker cannot look into some of the channels',
      outcome: { ...whyOf(cast, [decisionOf(cast, 'event-selected')]), hidden: 2 },
    },
    { when: 'the asker cannot look into the only channel', outcome: { ...whyOf(cast, []), hidden: 1 } },
  ],
  ...notFound(cast),
})

const whyOf = (cast: Cast, decisions: readonly Explained[]): Of<WhyOutcome, 'why'> => ({
  kind: 'why',
  build: buildOf(cast),
  decisions,
  more: 0,
  hidden: 0,
})

const decisionOf = (cast: Cast, reason: Reason): Explained => {
  const { verdicts, from, verdict } = DECIDED[reason]
  return {
    channel: CHANNEL,
    rawStatus: 'error',
    at: BUILD_AT,
    branch: reason === 'branch-unknown' ? null : cast.branch,
    events: ['failed'],
    verdict,
    reason,
    rulesFrom: verdicts.length === 0 ? 'nobody' : from === 'ci' ? 'ci' : 'channel',
    ruleResults: verdicts.map((one) => ({ rule: RULES(cast)[one], from, verdict: one })),
    posted: POSTED[verdict],
  }
}

const REASONS: Record<Reason, string> = {
  'event-selected': 'a rule selects it',
  'every-event': 'the channel follows every event',
  'rules-unread': 'the rules could not be read',
  'account-notice': "it is the account's trouble",
  'updates-card': 'only the card changes',
  'event-not-selected': 'no rule selects the event',
  'branch-not-matched': 'no rule covers the branch',
  'branch-unknown': 'CI named no branch',
  'pattern-invalid': 'a pattern is invalid',
  duplicate: 'CI said it twice',
  late: 'it came too late',
  history: 'it was there before the first look',
}

const LOOKED: Record<RuleVerdict, RuleVerdict> = {
  'branch-not-matched': 'branch-not-matched',
  'branch-unknown': 'branch-unknown',
  'pattern-invalid': 'pattern-invalid',
  'event-not-selected': 'event-not-selected',
  selects: 'selects',
}

/** A rule for each way to look at a failed build of the branch. */
const RULES = ({ branch, word }: Cast): Record<RuleVerdict, ChannelRule> => ({
  'branch-not-matched': { branch: 'release/*', branchMatch: 'wildcard', events: 'every' },
  'branch-unknown': { branch, branchMatch: 'exact', events: ['failed'] },
  'pattern-invalid': { branch: `${branch}(`, branchMatch: 'regex', events: ['failed'] },
  'event-not-selected': { branch, branchMatch: null, events: ['success', word] },
  selects: { branch: null, branchMatch: null, events: ['failed', 'recovered'] },
})

interface Decided {
  verdict: Explained['verdict']
  from: 'ci' | 'channel' | 'file'
  verdicts: readonly RuleVerdict[]
}

const by = (from: Decided['from'], verdict: Explained['verdict'], ...verdicts: readonly RuleVerdict[]): Decided => ({
  verdict,
  from,
  verdicts,
})

const DECIDED: Record<Reason, Decided> = {
  'event-selected': by('ci', 'post', ...Object.values(LOOKED)),
  'every-event': by('ci', 'post'),
  'rules-unread': by('ci', 'post'),
  'account-notice': by('channel', 'post', 'selects'),
  'updates-card': by('file', 'update', 'event-not-selected'),
  'event-not-selected': by('ci', 'silent', 'branch-not-matched', 'event-not-selected'),
  'branch-not-matched': by('ci', 'silent', 'branch-not-matched'),
  'branch-unknown': by('ci', 'silent', 'branch-unknown'),
  'pattern-invalid': by('channel', 'silent', 'pattern-invalid'),
  duplicate: by('ci', 'silent'),
  late: by('ci', 'silent'),
  history: by('ci', 'silent'),
}

const standing = (state: 'gone' | 'waiting'): Posted[] => POSTED.post.map(({ slot }) => ({ slot, state, ts: null }))

const POSTED: Record<Explained['verdict'], readonly Posted[]> = {
  post: [
    { slot: 'card', state: 'posted', ts: CARD_TS },
    { slot: 'run:512.1', state: 'posted', ts: REPLY_TS },
  ],
  update: [{ slot: 'card', state: 'posted', ts: CARD_TS }],
  silent: [],
}

const NOTICE: readonly Posted[] = [{ slot: 'notice', state: 'posted', ts: CARD_TS }]
