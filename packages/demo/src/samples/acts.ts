import type { MissingCapability } from '../../../../src/domain/cards/capabilities.ts'
import type { Action, RequestState } from '../../../../src/domain/cards/request.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import { BUILD_AT, BUILD_UUID, buildOf, NEW_BUILD, type Cast } from './cast.ts'
import { notFound } from './not-found.ts'
import { BUILD_STATES, ciTrouble, CODES, each, refusals, type Cases, type Of, type Some } from './words.ts'
import type { ActionOutcome } from '../../../../src/features/builds/action.ts'
import type { RunningOutcome } from '../../../../src/features/builds/status.ts'
import { asked, samplesOfKinds, type Sample } from './sample.ts'
import { answerAction } from '../../../../src/features/builds/action-messages.ts'
import { answerRunning } from '../../../../src/features/builds/status-messages.ts'

export const actionSamples = (cast: Cast): Sample[] => [
  ...samplesOfKinds<RunningOutcome>('stop', runnings(cast), answerRunning),
  ...(['stop', 'restart'] as const).flatMap((action) =>
    samplesOfKinds<ActionOutcome>(action, acts(cast, action), (outcome) => answerAction(outcome, asked(action, cast))),
  ),
]

export const acts = (cast: Cast, action: Action): Cases<ActionOutcome> => ({
  requested: requested(cast, action),
  'asked-already': each(
    STATES,
    (state) => ({
      kind: 'asked-already',
      action,
      build: running(cast, action),
      by: cast.user,
      at: BUILD_AT,
      state,
    }),
    ', after somebody asked already',
  ),
  repeated: each(STATES, (state) => ({ kind: 'repeated', action, state }), ', after this very request'),
  'not-now': each(BUILD_STATES, (shown) => ({ kind: 'not-now', action, build: buildOf(cast, shown) })),
  impossible: impossible(cast, action),
  'not-confirmed': [
    {
      when: 'CI does not list the build',
      outcome: { kind: 'not-confirmed', action, build: running(cast, action), shown: null },
    },
    {
      when: 'CI has the build in a project with another name',
      outcome: {
        kind: 'not-confirmed',
        action,
        build: running(cast, action),
        shown: { project: cast.other, url: cast.buildUrl },
      },
    },
  ],
  'to-confirm': [
    {
      when: 'CI cannot be asked which build it is',
      outcome: { kind: 'to-confirm', action, build: { ...running(cast, action), unconfirmed: BUILD_UUID } },
    },
  ],
  'ci-refused': each(
    CODES,
    (code) => ({
      kind: 'ci-refused',
      action,
      code,
      reason: code === 'bad-request' ? cast.reason : null,
      build: running(cast, action),
    }),
    ', and has surely not done it',
  ),
  unclear: each(
    CODES,
    (code) => ({ kind: 'unclear', action, code, build: running(cast, action) }),
    ', and may have done it',
  ),
  'ci-trouble': ciTrouble(cast, ' before it could be asked'),
  forbidden: forbidden(cast, action),
  'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
  ...notFound(cast),
})

const SHOWN = { stop: 'started', restart: 'failed', approve: 'waiting', reject: 'waiting', play: 'waiting' } as const

const running = (cast: Cast, action: Action) => buildOf(cast, SHOWN[action])

/** Only what can be missing for this action. */
function impossible(cast: Cast, action: Action): Some<Of<ActionOutcome, 'impossible'>> {
  const build = running(cast, action)
  const all = each(MISSING, (why): Of<ActionOutcome, 'impossible'> => ({
    kind: 'impossible',
    action,
    why,
    build: { ...build, offers: [], missing: { action, why } },
  }))
  const [first, ...others] = all.filter(({ outcome }) => NEEDED[outcome.why].includes(action))
  invariant(first, 'something can be missing for every action')
  return [first, ...others]
}

function requested(cast: Cast, action: Action): Some<Of<ActionOutcome, 'requested'>> {
  const outcome = { kind: 'requested', action, build: running(cast, action), newBuildId: null } as const
  const first = { when: 'CI takes the request', outcome }
  const other = { when: 'CI names another build', outcome: { ...outcome, newBuildId: NEW_BUILD } }
  return action === 'restart' ? [first, other] : [first]
}

function forbidden(cast: Cast, action: Action): Some<Of<ActionOutcome, 'forbidden'>> {
  // Operating is not for admins only.
  const [first, ...others] = refusals(cast)
    .filter(({ outcome }) => outcome.why !== 'not-admin')
    .map(({ when, outcome: permit }) => ({ when, outcome: { kind: 'forbidden', action, permit } as const }))
  invariant(first, 'somebody may not')
  return [first, ...others]
}

export const runnings = (cast: Cast): Cases<RunningOutcome> => ({
  running: [
    { when: 'nothing runs', outcome: { kind: 'running', where: 'channel', builds: [], more: 0 } },
    {
      when: 'one build runs',
      outcome: { kind: 'running', where: 'channel', builds: [buildOf(cast, 'started')], more: 0 },
    },
    { when: 'several run, and not all can be stopped', outcome: severalRunning(cast) },
  ],
})

const severalRunning = (cast: Cast): RunningOutcome => ({
  kind: 'running',
  where: 'channel',
  builds: [
    buildOf(cast, 'started'),
    buildOf(cast, 'started', {
      project: cast.other,
      offers: [],
      missing: { action: 'stop', why: 'no-build-uuid' },
      attemptNumber: 2,
    }),
  ],
  more: 3,
})

const STATES: Record<RequestState, string> = {
  calling: 'CI is being asked',
  accepted: 'CI accepted',
  unclear: 'it is unclear whether CI heard it',
  confirmed: 'CI confirmed',
  refused: 'CI refused',
  unconfirmed: 'CI did not confirm',
}

const MISSING: Record<MissingCapability, string> = {
  'no-github': 'there is no token for GitHub',
  'no-gitlab': 'there is no token for GitLab',
  'no-v2': 'the v2 interface is not configured',
  'no-legacy': 'the legacy interface is not configured',
  'no-build-uuid': "the build's uuid is not known",
  'no-build-number': 'the id of the build is a UUID, and CI restarts builds by number',
  'pro-project': 'the project is a Pro project',
  'project-unknown': 'CI does not list the project',
  'not-reviewer': "the token's owner is not a reviewer",
}

const NEEDED: Record<MissingCapability, readonly Action[]> = {
  'no-github': ['stop', 'restart'],
  'no-gitlab': ['stop', 'restart'],
  'no-v2': ['stop'],
  'no-legacy': ['restart'],
  'no-build-uuid': ['stop'],
  'no-build-number': ['restart'],
  'pro-project': ['restart'],
  'project-unknown': ['stop', 'restart'],
  'not-reviewer': ['approve', 'reject', 'play'],
}
