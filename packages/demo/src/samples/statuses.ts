import type { StatusOutcome } from '../../../../src/catalog/outcomes.ts'
import { buildOf, projectOf, RED_AT, testsOf, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { BUILD_STATES, each, type Cases, type Of } from './words.ts'

export const statuses = (cast: Cast): Cases<StatusOutcome> => ({
  status: [
    ...each(BUILD_STATES, (shown): Of<StatusOutcome, 'status'> => ({
      kind: 'status',
      project: projectOf(cast.project),
      branch: cast.branch,
      builds: [buildOf(cast, shown)],
    })),
    {
      when: 'it failed, and a build step reported its tests',
      outcome: {
        kind: 'status',
        project: projectOf(cast.project),
        branch: cast.branch,
        builds: [buildOf(cast, 'failed', { failedTests: testsOf(cast) })],
      },
    },
    { when: 'several branches were built', outcome: severalBranches(cast) },
    {
      when: 'nothing can be done, and why is known',
      outcome: {
        kind: 'status',
        project: projectOf(cast.project),
        branch: cast.branch,
        builds: [
          buildOf(cast, 'failed', { offers: [], missing: { action: 'restart', why: 'pro-project' }, attemptNumber: 2 }),
        ],
      },
    },
  ],
  'channel-status': [
    {
      when: "the channel's projects were built",
      outcome: { kind: 'channel-status', builds: severalBranches(cast).builds, more: 2 },
    },
    { when: "none of the channel's projects was built", outcome: { kind: 'channel-status', builds: [], more: 0 } },
  ],
  ...notFound(cast),
})

const severalBranches = (cast: Cast): Of<StatusOutcome, 'status'> => ({
  kind: 'status',
  project: projectOf(cast.project),
  branch: null,
  builds: [
    buildOf(cast, 'failed', { redSince: { at: RED_AT, builds: 12, atLeast: true } }),
    buildOf(cast, 'started', { branch: cast.typed }),
    buildOf(cast, 'passed', { branch: null }),
  ],
})
