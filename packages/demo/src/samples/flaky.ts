import type { FlakyOutcome } from '../../../../src/features/flaky/flaky.ts'
import { answerDays, answerFlaky } from '../../../../src/features/flaky/messages.ts'
import { RED_AT, type Cast } from './cast.ts'
import { digestOf, NO_LISTS } from './digests.ts'
import { noProject } from './not-found.ts'
import { askedWith, sample, samplesOfKinds, type Sample } from './sample.ts'
import type { Cases, Of } from './words.ts'

export const flakySamples = (cast: Cast): Sample[] => [
  ...samplesOfKinds<FlakyOutcome>('flaky', flakies(cast), (outcome) => answerFlaky(outcome, askedWith('flaky', cast))),
  sample('flaky', 'not-understood', 'it is not a period', answerDays(cast.typed)),
]

const flakies = (cast: Cast): Cases<FlakyOutcome> => ({
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
