import { recoveryOf, type Judgement } from '../../../src/domain/builds/streak.ts'
import type { Attempt } from '../../../src/domain/builds/attempt.ts'
import { isRed } from '../../../src/domain/builds/status.ts'
import { postedAttemptOf, storyFor, type Story, type StoryContext } from '../../../src/domain/cards/story.ts'
import { OUT_OF_REACH, attemptsOf, capabilitiesWith, type Said } from '../../support/build-events.ts'

export const ADA = 'U0ADA00001'
export const byAda = { message: 'fix login', committer: 'ada', projectName: 'web', shortCommitId: 'a1b2c3d' }

/** The story of a card that was posted during its first attempt, in a channel that gets all events and mentions. */
export function told(said: readonly (string | Said)[], context: Partial<StoryContext> = {}): Story {
  const attempts = attemptsOf(
    ...said.map((each) => ({ details: byAda, ...(typeof each === 'string' ? { word: each } : each) })),
  )
  const judgements = judgementsOf(attempts)
  return storyFor({
    attempts,
    judgements,
    failures: new Map(),
    isAnnounced: () => true,
    isLoud: (attempt) => isRed(attempt.status) || judgements.has(attempt.finalSeq ?? 0),
    postedAttempt: null,
    quiet: false,
    mentionOf: (committer) => (committer === 'ada' ? ADA : null),
    isUnclaimed: (committer) => committer === 'lin',
    proposed: null,
    replaces: null,
    ownership: null,
    changes: [],
    reminders: new Map(),
    requests: [],
    capabilities: capabilitiesWith(OUT_OF_REACH, attempts),
    ...context,
  })
}

/** The same for a card that was posted after the first `bornAfter` deliveries, by default after all of them. */
export const toldOfBorn = (
  said: readonly (string | Said)[],
  bornAfter = said.length,
  context: Partial<StoryContext> = {},
): Story => told(said, { postedAttempt: postedAttemptOf(attemptsOf(...said.slice(0, bornAfter))), ...context })

/** Only of recoveries. */
const judgementsOf = (attempts: readonly Attempt[]): Map<number, Judgement> =>
  new Map(
    attempts.flatMap((attempt) => {
      const streak = recoveryOf(attempt, attempts)
      return streak ? [[attempt.finalSeq!, { change: 'recovered', streak }] as const] : []
    }),
  )

/** The replies in the thread, in order, as `run:512.1 failed`. */
export const slots = (story: Story): string[] => story.replies.map(({ slot, view }) => `${slot} ${view.shown}`)
