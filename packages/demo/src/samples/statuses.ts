import type { BuildSummary } from '../../../../src/projects/outcomes.ts'
import { buildOf, projectOf, RED_AT, testsOf, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { BUILD_STATES, each, type Cases, type Of } from './words.ts'
import type { StatusOutcome } from '../../../../src/features/builds/status.ts'
import { asked, samplesOfKinds } from './sample.ts'
import { answerStatus } from '../../../../src/features/builds/status-messages.ts'

export const statusSamples = (cast: Cast) =>
  samplesOfKinds<StatusOutcome>('status', statuses(cast), (outcome) => answerStatus(outcome, asked('status', cast)))

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
        builds: [buildOf(cast, 'failed', { failures: testsOf(cast) })],
      },
    },
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
  'project-status': [
    {
      when: 'several branches were built, and one is red',
      outcome: { kind: 'project-status', project: projectOf(cast.project), builds: branches(cast), more: 5, red: 1 },
    },
    {
      when: 'no branch is red',
      outcome: {
        kind: 'project-status',
        project: projectOf(cast.project),
        builds: branches(cast).slice(1),
        more: 0,
        red: 0,
      },
    },
  ],
  'channel-status': [
    {
      when: "the channel's projects were built",
      outcome: { kind: 'channel-status', where: 'channel', builds: branches(cast), more: 2, red: 1 },
    },
    {
      when: 'the channel follows no project, and no branch is red',
      outcome: { kind: 'channel-status', where: 'everywhere', builds: branches(cast).slice(1), more: 0, red: 0 },
    },
    {
      when: "none of the channel's projects was built",
      outcome: { kind: 'channel-status', where: 'channel', builds: [], more: 0, red: 0 },
    },
  ],
  ...notFound(cast),
})

const branches = (cast: Cast): readonly BuildSummary[] => [
  buildOf(cast, 'failed', { streak: { at: RED_AT, builds: 12, atLeast: true } }),
  buildOf(cast, 'started', { branch: cast.typed }),
  buildOf(cast, 'passed', { branch: null }),
]
