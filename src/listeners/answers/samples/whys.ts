import type { Reason } from '../../../domain/decide.ts'
import type { ChannelRule, RuleVerdict } from '../../../domain/rule.ts'
import type { Explained, KeptLook, WhyOutcome } from '../../../operations/asked.ts'
import { BUILD_AT, buildOf, CHANNEL, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { each, type Cases, type Of } from './words.ts'

export const whys = (cast: Cast): Cases<WhyOutcome> => ({
  why: [
    ...each(REASONS, (reason) => whyOf(cast, [decisionOf(reason)])),
    { when: 'nobody follows the project', outcome: whyOf(cast, []) },
    {
      when: 'there are more decisions than fit',
      outcome: { ...whyOf(cast, [decisionOf('late'), decisionOf('event-selected')]), more: 30 },
    },
    {
      when: 'an older version decided',
      outcome: whyOf(cast, [{ ...decisionOf('late'), word: cast.word, reason: cast.word, looked: [oldLooked(cast)] }]),
    },
  ],
  ...notFound(cast),
})

const whyOf = (cast: Cast, decisions: readonly Explained[]): Of<WhyOutcome, 'why'> => ({
  kind: 'why',
  build: buildOf(cast),
  decisions,
  more: 0,
})

// What is kept can be of a version that knew other words.
const oldLooked = ({ word }: Cast): KeptLook => ({ rule: null, from: null, verdict: word })

const decisionOf = (reason: Reason): Explained => ({
  channel: CHANNEL,
  word: 'error',
  at: BUILD_AT,
  reason,
  posted: [],
  ...DECIDED[reason],
})

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
}

const LOOKED: Record<RuleVerdict, RuleVerdict> = {
  'branch-not-matched': 'branch-not-matched',
  'branch-unknown': 'branch-unknown',
  'pattern-invalid': 'pattern-invalid',
  'event-not-selected': 'event-not-selected',
  selects: 'selects',
}

const byCi = (verdict: Explained['verdict'], verdicts: readonly RuleVerdict[]) =>
  ({
    verdict,
    rulesFrom: 'ci',
    looked: verdicts.map((one): KeptLook => ({ rule: RULE, from: 'ci', verdict: one })),
  }) as const
const RULE: ChannelRule = { branch: 'main', branchMatch: 'exact', events: ['failed'] }
const byNobody = (verdict: Explained['verdict']) => ({ verdict, rulesFrom: 'nobody', looked: [] }) as const

const DECIDED: Record<Reason, Pick<Explained, 'verdict' | 'rulesFrom' | 'looked'>> = {
  'event-selected': byCi('tell', Object.values(LOOKED)),
  'every-event': byNobody('tell'),
  'rules-unread': byNobody('tell'),
  'account-notice': { ...byCi('tell', ['selects']), rulesFrom: 'channel' },
  'updates-card': byCi('update', ['event-not-selected']),
  'event-not-selected': byCi('silent', ['branch-not-matched', 'event-not-selected']),
  'branch-not-matched': byCi('silent', ['branch-not-matched']),
  'branch-unknown': byCi('silent', ['branch-unknown']),
  'pattern-invalid': byCi('silent', ['pattern-invalid']),
  duplicate: byNobody('silent'),
  late: byNobody('silent'),
}
