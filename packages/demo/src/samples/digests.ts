import type { DigestView } from '../../../../src/domain/cards/view.ts'
import type { FlakyOutcome } from '../../../../src/features/flaky/flaky.ts'
import { answerDays } from '../../../../src/features/flaky/messages.ts'
import type { DigestOutcome } from '../../../../src/features/subscriptions/digest.ts'
import { answerDigestFault } from '../../../../src/features/subscriptions/digest-command.ts'
import { typed, type Answer } from '../../../../src/slack/messages/answer.ts'
import type { StoredDigest } from '../../../../src/store/records.ts'
import { BUILD_AT, CAST, CHANNEL, RED_AT, type Cast } from './cast.ts'
import { noProject } from './not-found.ts'
import { forbidden } from './subscriptions.ts'
import type { Cases, Of } from './words.ts'

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

export const flakies = (cast: Cast): Cases<FlakyOutcome> => ({
  flaky: [
    { when: "some branches of the channel's projects are", outcome: flaky(cast) },
    {
      when: 'there are more than ten',
      outcome: {
        ...flaky(cast),
        branches: { ...flaky(cast).branches, more: 3 },
        tests: { ...flaky(cast).tests, more: 2 },
      },
    },
    {
      when: 'nothing is, in one project',
      outcome: { ...flaky(cast), project: cast.project, days: 1, branches: NO_LISTS, tests: NO_LISTS },
    },
    {
      when: 'builds of the beginning of the period are no longer kept',
      outcome: { ...flaky(cast), project: cast.project, days: 90, since: RED_AT },
    },
  ],
  ...noProject(cast),
})

const flaky = (cast: Cast): Of<FlakyOutcome, 'flaky'> => ({
  kind: 'flaky',
  project: null,
  days: 14,
  since: null,
  branches: digestOf({}, cast).flaky,
  tests: {
    shown: [
      { project: cast.project, name: `LoginTest › ${cast.message}`, commits: 3 },
      { project: cast.other, name: 'CartTest › sums', commits: 1 },
    ],
    more: 0,
  },
})

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

/** Answers to a wrong period and a wrong time of day. */
export const unclearTimes = (cast: Cast): { command: string; when: string; answer: Answer }[] => [
  { command: 'flaky', when: 'it is not a period', answer: answerDays(cast.typed) },
  {
    command: 'digest',
    when: 'there is no such time',
    answer: answerDigestFault(`${typed(cast.typed)} is not a time of day`, '/ci digest daily 9:00'),
  },
]
