import type { DigestView } from '../../../../src/domain/cards/view.ts'
import type { DigestOutcome } from '../../../../src/features/subscriptions/digest.ts'
import { answerDigest, answerDigestFault } from '../../../../src/features/subscriptions/digest-command.ts'
import { typed } from '../../../../src/slack/messages/answer.ts'
import type { StoredDigest } from '../../../../src/store/records.ts'
import { BUILD_AT, CAST, CHANNEL, RED_AT, REFERENCE, type Cast } from './cast.ts'
import { sample, samplesOfKinds, type Sample } from './sample.ts'
import { forbidden } from './subscriptions.ts'
import type { Cases } from './words.ts'

export const digestSamples = (cast: Cast): Sample[] => [
  ...samplesOfKinds<DigestOutcome>('digest', digests(cast), (outcome) =>
    answerDigest(outcome, { reference: REFERENCE }),
  ),
  sample(
    'digest',
    'not-understood',
    'there is no such time',
    answerDigestFault(`${typed(cast.typed)} is not a time of day`, '/ci digest daily 9:00'),
  ),
]

const MIN_MS = 60_000

/** A week with something in every list. */
export const digestOf = (
  change: Partial<DigestView> = {},
  { project, other, branch, committer }: Cast = CAST,
): DigestView => ({
  kind: 'digest',
  about: 'acme',
  every: 'week',
  firstDay: '2026-11-16',
  lastDay: '2026-11-22',
  since: null,
  builds: 212,
  passed: 199,
  before: { builds: 190, passed: 175 },
  days: [30, 44, 38, 51, 42, 0, 7].map((builds, at) => ({
    day: `2026-11-${16 + at}`,
    builds,
    passed: Math.max(0, builds - (at === 2 ? 8 : 1)),
  })),
  red: {
    shown: [
      { project, branch, forMs: 247 * MIN_MS },
      { project: other, branch: 'release/2', forMs: 50 * MIN_MS },
    ],
    more: 1,
  },
  redNow: {
    shown: [
      {
        project,
        branch,
        since: { at: RED_AT, builds: 3, atLeast: false },
        onIt: { name: committer, since: RED_AT, until: RED_AT + 240 * MIN_MS },
      },
      { project: other, branch, since: { at: RED_AT, builds: 500, atLeast: true } },
    ],
    more: 0,
  },
  flaky: { shown: [flakyOf(project, branch), { ...flakyOf(other, branch), flaky: 1, lostMs: 0 }], more: 0 },
  slower: { shown: [{ project, branch, beforeMs: 9 * MIN_MS, nowMs: 12 * MIN_MS }], more: 0 },
  picture: 'F0CHART001',
  ...change,
})

const flakyOf = (project: string, branch: string) => ({ project, branch, commits: 31, flaky: 4, lostMs: 42 * MIN_MS })

export const NO_LISTS = { shown: [], more: 0 } as const

export const quietDigest = (cast: Cast = CAST): DigestView =>
  digestOf(
    { builds: 0, passed: 0, before: null, red: NO_LISTS, flaky: NO_LISTS, slower: NO_LISTS, picture: null },
    cast,
  )

export const keptDigest = ({ user }: Cast, change: Partial<StoredDigest> = {}): StoredDigest => ({
  channel: CHANNEL,
  schedule: { kind: 'weekly', weekday: 1, minute: 9 * 60, zone: 'Europe/Berlin' },
  setBy: user,
  setAt: BUILD_AT,
  nextAt: RED_AT,
  last: null,
  ...change,
})

export const digests = (cast: Cast): Cases<DigestOutcome> => ({
  digest: [
    { when: 'the channel has one', outcome: { kind: 'digest', digest: keptDigest(cast) } },
    { when: 'the channel has none', outcome: { kind: 'digest', digest: null } },
  ],
  set: [
    {
      when: 'it is set',
      outcome: {
        kind: 'set',
        digest: keptDigest(cast, { schedule: { kind: 'daily', weekday: null, minute: 17 * 60 + 5, zone: 'UTC' } }),
        announced: { kind: 'told' },
      },
    },
    {
      when: 'it is set in a channel that is closed',
      outcome: {
        kind: 'set',
        digest: keptDigest(cast),
        announced: { kind: 'not-told', code: 'is_archived', isClosed: true },
      },
    },
  ],
  same: [{ when: 'the same digest is already set', outcome: { kind: 'same', digest: keptDigest(cast) } }],
  off: [{ when: 'it is turned off', outcome: { kind: 'off', announced: { kind: 'told' } } }],
  'off-already': [{ when: 'there is none to turn off', outcome: { kind: 'off-already' } }],
  preview: [
    { when: 'there were builds', outcome: { kind: 'preview', view: digestOf({}, cast) } },
    { when: 'there were none', outcome: { kind: 'preview', view: quietDigest(cast) } },
  ],
  'no-zone': [{ when: 'there is no such time zone', outcome: { kind: 'no-zone', zone: cast.typed } }],
  'no-channel': [{ when: 'it was asked in a direct message', outcome: { kind: 'no-channel' } }],
  ...forbidden(cast),
})
