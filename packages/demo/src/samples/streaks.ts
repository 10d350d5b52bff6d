import type { StreakChange, DoneByPeople, Ownership } from '../../../../src/domain/builds/streak.ts'
import type { BuildSummary } from '../../../../src/projects/outcomes.ts'
import type { StreakOutcome, RedBranch } from '../../../../src/features/streaks/action.ts'
import { BUILD_AT, buildOf, RED_AT, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { each, refusals, type Cases, type Of, type Some } from './words.ts'
import { asked, sample, samplesOfKinds, type Sample } from './sample.ts'
import { answerRed, answerStreak } from '../../../../src/features/streaks/messages.ts'

export function streakSamples(cast: Cast): Sample[] {
  const builds = redBuilds(cast)
  return [
    ...samplesOfKinds<StreakOutcome>(
      'red',
      streaks(cast),
      (outcome) => answerStreak(outcome, asked('red', cast)),
      'own',
    ),
    sample('red', 'red', 'some branches are red', answerRed({ builds, more: 2 }, ' in all projects')),
    sample('red', 'red', 'one branch is red', answerRed({ builds: builds.slice(0, 1), more: 0 }, ' in all projects')),
    sample('red', 'red', 'none is', answerRed({ builds: [], more: 0 }, ' in all projects')),
  ]
}

export const streaks = (cast: Cast): Cases<StreakOutcome> => ({
  changed: each(KINDS, (kind) => ({ kind: 'changed', change: changeOf(cast, kind), red: redOf(cast) })),
  unchanged: [
    { when: 'they are on it already', outcome: { kind: 'unchanged', action: 'take', red: redOf(cast, owned(cast)) } },
    {
      when: 'reminders are snoozed already',
      outcome: { kind: 'unchanged', action: 'snooze', red: redOf(cast, snoozed(cast)) },
    },
    { when: 'nobody is on it', outcome: { kind: 'unchanged', action: 'let-go', red: redOf(cast) } },
    {
      when: 'it is theirs already',
      outcome: { kind: 'unchanged', action: 'hand', red: redOf(cast, owned(cast)) },
    },
  ],
  'not-a-member': [
    { when: 'Slack does not list that person as a full member', outcome: { kind: 'not-a-member', user: cast.user } },
  ],
  fixed: [
    {
      when: 'the branch is already green',
      outcome: { kind: 'fixed', project: cast.project, branch: cast.branch, by: buildOf(cast, 'fixed') },
    },
    {
      when: 'the branch is green, and the build that fixed it is no longer stored',
      outcome: { kind: 'fixed', project: cast.project, branch: cast.branch, by: null },
    },
  ],
  'not-red': [
    { when: 'no build of the branch has failed', outcome: { kind: 'not-red', build: null } },
    { when: 'the same of a known build', outcome: { kind: 'not-red', build: buildOf(cast, 'passed') } },
    {
      when: 'it has only CI machine errors',
      outcome: {
        kind: 'not-red',
        build: buildOf(cast, 'infrastructure_failure', { streak: { at: RED_AT, builds: 1, atLeast: false } }),
      },
    },
  ],
  forbidden: forbidden(cast),
  'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
  ...notFound(cast),
})

function forbidden(cast: Cast): Some<Of<StreakOutcome, 'forbidden'>> {
  const [first, ...others] = refusals(cast)
  const caseOf = ({ when, outcome: permit }: typeof first) =>
    ({ when, outcome: { kind: 'forbidden', action: 'own', permit } }) as const
  return [caseOf(first), ...others.map(caseOf)]
}

const NOBODY: Ownership = { id: '7', owner: null, snoozedUntil: null }
const HOUR_MS = 60 * 60_000

export const owned = ({ user }: Cast): Ownership => ({
  ...NOBODY,
  owner: { user, since: BUILD_AT, until: BUILD_AT + HOUR_MS },
})

export const snoozed = (cast: Cast): Ownership => ({ ...owned(cast), snoozedUntil: BUILD_AT + 24 * HOUR_MS })

export const redOf = ({ project, branch }: Cast, ownership = NOBODY): RedBranch => ({
  project,
  branch,
  at: RED_AT,
  builds: 3,
  atLeast: false,
  ownership,
})

/** One branch that nobody is on, one that somebody is on, and one with a CI machine error. */
export const redBuilds = (cast: Cast): BuildSummary[] => [
  buildOf(cast, 'failed', { ownership: NOBODY }),
  buildOf(cast, 'failed', { streak: { at: RED_AT, builds: 3, atLeast: false }, ownership: snoozed(cast) }),
  buildOf(cast, 'infrastructure_failure'),
]

const KINDS: Record<DoneByPeople, string> = {
  taken: 'they are on it now',
  handed: 'somebody else is on it now',
  snoozed: 'reminders are snoozed now',
  'let-go': 'they have let it go',
  left: 'they have left',
}

const changeOf = ({ user }: Cast, kind: DoneByPeople): StreakChange => ({
  id: 'c1',
  streakId: '7',
  interactionKey: null,
  kind,
  by: user,
  to: kind === 'handed' ? user : null,
  until: kind === 'let-go' || kind === 'left' ? null : BUILD_AT + HOUR_MS,
  at: BUILD_AT,
  subject: '',
  channel: null,
  number: null,
})
