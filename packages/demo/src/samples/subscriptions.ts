import type { Refused } from '../../../../src/projects/outcomes.ts'
import { CHANNEL, type Cast } from './cast.ts'
import { noProject } from './not-found.ts'
import { ofDefault, ofFile, shownOf } from './shown.ts'
import { each, refusals, type Cases } from './words.ts'
import type { SubscribeOutcome, UnsubscribeOutcome } from '../../../../src/features/subscriptions/subscribe.ts'
import { askedWith, sample, samplesOfKinds, type Sample } from './sample.ts'
import { answerMisread, answerSubscribe, answerUnsubscribe } from '../../../../src/features/subscriptions/messages.ts'

export const subscriptionSamples = (cast: Cast): Sample[] => [
  ...samplesOfKinds<SubscribeOutcome>('subscribe', subscribes(cast), (outcome) =>
    answerSubscribe(outcome, askedWith('subscribe', cast)),
  ),
  ...samplesOfKinds<UnsubscribeOutcome>('unsubscribe', unsubscribes(cast), (outcome) =>
    answerUnsubscribe(outcome, askedWith('unsubscribe', cast)),
  ),
  ...misread(cast),
]

function misread({ typed }: Cast): Sample[] {
  const readings: readonly [when: string, reading: Parameters<typeof answerMisread>[0]][] = [
    ['a word is nearly one that means something', { kind: 'near', typed, meant: 'failed' }],
    ['no branch can be called so', { kind: 'no-branch', typed, regex: '^release/.*$' }],
    ['two words are at odds', { kind: 'contradiction', one: 'mention', other: 'no-mention' }],
  ]
  return readings.map(([when, reading]) =>
    sample('subscribe', 'unclear', when, answerMisread(reading, '/ci subscribe project')),
  )
}

export const subscribes = (cast: Cast): Cases<SubscribeOutcome> => ({
  subscribed: [
    { when: 'the channel follows it from now on', outcome: subscribed(cast) },
    { when: 'the default channel hears nothing of it any more', outcome: subscribed(cast, { silent: CHANNEL }) },
    {
      when: 'it takes the place of another one',
      outcome: subscribed(cast, {
        shown: shownOf(cast, { rules: null, quiet: true, mention: 'nobody' }),
        was: shownOf(cast),
      }),
    },
    ...Object.entries({ ...CLOSED, [cast.code]: 'Slack says something else' }).map(([code, when]) => ({
      when,
      outcome: subscribed(cast, { announced: notTold(code, true) }),
    })),
    {
      when: 'it is not clear whether the channel was told',
      outcome: subscribed(cast, { announced: notTold('timeout', false) }),
    },
    {
      when: 'a known branch is near',
      outcome: subscribed(cast, { unmatched: { branch: cast.typed, project: cast.project, nearest: cast.branch } }),
    },
    {
      when: 'no branch of any project matches',
      outcome: subscribed(cast, { unmatched: { branch: 'relase/*', project: null, nearest: null } }),
    },
  ],
  same: [{ when: 'it is so already', outcome: { kind: 'same', shown: shownOf(cast) } }],
  'set-elsewhere': [{ when: 'the file keeps it', outcome: { kind: 'set-elsewhere', shown: ofFile(cast) } }],
  'too-many': [{ when: 'the channel follows too much', outcome: { kind: 'too-many', max: 50 } }],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
  'cannot-post': cannotPost,
  faults: [
    {
      when: 'the pattern is invalid',
      outcome: { kind: 'faults', faults: [{ field: 'branch', reason: 'is not a valid pattern, or is too large' }] },
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
  'set-elsewhere': [
    { when: 'the file keeps it', outcome: { kind: 'set-elsewhere', shown: ofFile(cast) } },
    {
      when: 'it is the default channel',
      outcome: { kind: 'set-elsewhere', shown: ofDefault(cast) },
    },
  ],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
  ...noProject(cast),
  ...forbidden(cast),
})

export const cannotPost = each(
  {
    is_archived: 'the channel is archived',
    not_in_channel: 'Buildline is not in the channel',
    channel_not_found: 'Slack does not show Buildline the channel',
    restricted_action: 'only some may post in the channel',
  },
  (code) => ({ kind: 'cannot-post', channel: CHANNEL, code }) as const,
)

type Subscribed = Extract<SubscribeOutcome, { kind: 'subscribed' }>

const subscribed = (cast: Cast, more: Partial<Subscribed> = {}): Subscribed => ({
  kind: 'subscribed',
  shown: shownOf(cast),
  was: null,
  over: null,
  announced: TOLD,
  silent: null,
  unmatched: null,
  ...more,
})

export const TOLD = { kind: 'told' } as const
const notTold = (code: string, isClosed: boolean) => ({ kind: 'not-told', code, isClosed }) as const

const CLOSED = {
  is_archived: 'the channel is archived',
  not_in_channel: 'Buildline is not in the channel',
  channel_not_found: 'Slack does not show Buildline the channel',
} as const

export const forbidden = (cast: Cast): Cases<Refused> => {
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
