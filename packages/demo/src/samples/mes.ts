import { claimable } from '../../../../src/domain/handle.ts'
import {
  HANDLES_MAX,
  type MeOutcome,
  type NotAPerson,
  type NotClaimable,
} from '../../../../src/features/people/people.ts'
import type { Me } from '../../../../src/projects/people.ts'
import { invariant } from '../../../../src/lib/assert.ts'
import { BUILD_AT, REFERENCE, type Cast } from './cast.ts'
import { each, refusals, type Cases, type Of, type Some } from './words.ts'
import { samplesOfKinds } from './sample.ts'
import { answerMe } from '../../../../src/features/people/messages.ts'

export const peopleSamples = (cast: Cast) =>
  samplesOfKinds<MeOutcome>('me', mes(cast), (outcome) =>
    answerMe(outcome, { by: REQUESTER, reference: REFERENCE, isAdmin: false }),
  )

export const mes = (cast: Cast): Cases<MeOutcome> => {
  const handle = handleOf(cast)
  return {
    me: [
      { when: 'one name is theirs', outcome: { kind: 'me', me: meOf(cast) } },
      { when: 'no name is theirs', outcome: { kind: 'me', me: meOf(cast, { handles: [] }) } },
      { when: 'they want no mentions', outcome: { kind: 'me', me: meOf(cast, { mentions: false }) } },
    ],
    claimed: [
      { when: 'it was free', outcome: { kind: 'claimed', handle, isNew: true, me: meOf(cast) } },
      { when: 'it was theirs', outcome: { kind: 'claimed', handle, isNew: false, me: meOf(cast) } },
      {
        when: 'they have two now',
        outcome: { kind: 'claimed', handle, isNew: true, me: meOf(cast, { handles: two(cast) }) },
      },
    ],
    taken: [
      {
        when: "it is another person's",
        outcome: { kind: 'taken', handle, by: cast.user, isGone: false },
      },
      {
        when: 'it is of somebody who has left',
        outcome: { kind: 'taken', handle, by: cast.user, isGone: true },
      },
    ],
    'not-claimable': each(NOT_CLAIMABLE, (why) => ({ kind: 'not-claimable', handle: cast.committer, why })),
    'no-committer': [{ when: 'the build is not kept any more', outcome: { kind: 'no-committer' } }],
    'too-many': [
      { when: 'they have enough', outcome: { kind: 'too-many', user: REQUESTER, max: HANDLES_MAX } },
      { when: 'the other one has enough', outcome: { kind: 'too-many', user: cast.user, max: HANDLES_MAX } },
    ],
    given: [
      given('it was free', cast, { was: null }),
      given("it was another person's", cast, { was: OTHER }),
      given('it was theirs already', cast, { was: cast.user }),
      given('an admin takes it', cast, { user: REQUESTER, was: cast.user }),
      given('an admin gives their own', cast, { was: REQUESTER }),
      given('both cannot be told', cast, { was: OTHER, unreached: [cast.user, OTHER] }),
    ],
    'not-a-person': each(NOT_A_PERSON, (why) => ({ kind: 'not-a-person', handle, user: cast.user, why })),
    released: [
      { when: 'it was their only one', outcome: { kind: 'released', handle, me: meOf(cast, { handles: [] }) } },
    ],
    'not-yours': [
      { when: "it is another person's", outcome: { kind: 'not-yours', handle, by: cast.user } },
      { when: "it is nobody's", outcome: { kind: 'not-yours', handle, by: null } },
    ],
    mentions: [
      { when: 'they want them', outcome: { kind: 'mentions', me: meOf(cast) } },
      { when: 'they want none', outcome: { kind: 'mentions', me: meOf(cast, { mentions: false }) } },
      {
        when: 'they want none and have no name',
        outcome: { kind: 'mentions', me: meOf(cast, { handles: [], mentions: false }) },
      },
    ],
    forbidden: forbidden(cast),
    'unknown-person': [{ when: 'Slack does not say who asks', outcome: { kind: 'unknown-person', code: cast.code } }],
  }
}

/** Who asks, in these samples. */
export const REQUESTER = 'U0GRACE'
const OTHER = 'U0ADA'

// What is claimed has been looked at; what somebody typed has not.
function handleOf({ committer }: Cast): string {
  const read = claimable(committer)
  return read.kind === 'ok' ? read.handle : committer
}

const meOf = (cast: Cast, change: Partial<Me> = {}): Me => ({
  user: cast.user,
  handles: [{ handle: handleOf(cast), at: BUILD_AT }],
  mentions: true,
  ...change,
})

const two = (cast: Cast): Me['handles'] => [
  { handle: handleOf(cast), at: BUILD_AT },
  { handle: 'ada@acme.example', at: BUILD_AT },
]

type Given = Extract<MeOutcome, { kind: 'given' }>

const given = (when: string, cast: Cast, change: Partial<Given>): { when: string; outcome: Given } => ({
  when,
  outcome: { kind: 'given', handle: handleOf(cast), user: cast.user, was: null, unreached: [], ...change },
})

const NOT_CLAIMABLE: Record<NotClaimable, string> = {
  empty: 'it is empty',
  'too-long': 'it is too long',
  bot: "it is a bot's",
  'no-reply': 'it is a no-reply address',
  'not-a-handle': 'nobody commits under it',
}

const NOT_A_PERSON: Record<NotAPerson, string> = {
  deactivated: 'that account is deactivated',
  bot: 'that is a bot',
  outsider: 'that account is of another workspace',
  unknown: 'Slack does not say who that is',
}

/** Rights that only admins have are lacked in other ways than those that everybody has. */
function forbidden(cast: Cast): Some<Of<MeOutcome, 'forbidden'>> {
  const [first, ...others] = refusals(cast)
    .filter(({ outcome }) => outcome.why !== 'guest')
    .map(({ when, outcome: permit }) => {
      const action = permit.why === 'not-admin' || permit.why === 'not-listed' ? 'give' : 'claim'
      return { when, outcome: { kind: 'forbidden', action, permit } as const }
    })
  invariant(first, 'somebody may not')
  return [first, ...others]
}
