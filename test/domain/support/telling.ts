import { recoveryOf, type Recovery } from '../../../src/domain/recovered.ts'
import { runKey, type Run } from '../../../src/domain/run.ts'
import { isRed } from '../../../src/domain/status.ts'
import { bornRunOf, tellStory, type Story, type StoryContext } from '../../../src/domain/view.ts'
import { OUT_OF_REACH, runsOf, type Said } from '../../support/facts.ts'

export const ADA = 'U0ADA00001'
export const byAda = { message: 'fix login', committer: 'ada', projectName: 'web', shortCommitId: 'a1b2c3d' }

/** The story of a card that was posted while its first run was running, in a channel that hears all and mentions. */
export function told(said: readonly (string | Said)[], context: Partial<StoryContext> = {}): Story {
  const runs = runsOf(
    ...said.map((each) => ({ details: byAda, ...(typeof each === 'string' ? { word: each } : each) })),
  )
  const recoveries = recoveriesOf(runs)
  return tellStory({
    runs,
    recoveries,
    isTold: () => true,
    isLoud: (run) => isRed(run.status) || recoveries.has(runKey(run)),
    bornRun: null,
    quiet: false,
    mentionOf: (committer) => (committer === 'ada' ? ADA : null),
    replaces: null,
    requests: [],
    facilities: OUT_OF_REACH,
    ...context,
  })
}

/** The same, of a card that was posted after the first so many deliveries; without a number, after all of them. */
export const toldOfBorn = (
  said: readonly (string | Said)[],
  bornAfter = said.length,
  context: Partial<StoryContext> = {},
): Story => told(said, { bornRun: bornRunOf(runsOf(...said.slice(0, bornAfter))), ...context })

const recoveriesOf = (runs: readonly Run[]): Map<string, Recovery> =>
  new Map(runs.flatMap((run) => [recoveryOf(run, runs)].flatMap((found) => (found ? [[runKey(run), found]] : []))))

/** What stands in the thread, in order, as `run:512.1 failed`. */
export const slots = (story: Story): string[] => story.replies.map(({ slot, view }) => `${slot} ${view.shown}`)
