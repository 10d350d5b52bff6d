import { expect, test } from 'vitest'
import { MINUTE, type Said } from '../../support/build-events.ts'
import { openStage, ingestDue, type Stage } from '../stage.ts'

const red = (committer: string | null, said: Partial<Said> = {}): Said => ({
  word: 'error',
  details: { committer },
  ...said,
})

async function hear(stage: Stage, ...said: Said[]): Promise<void> {
  await stage.hear(...said)
  await ingestDue(stage.embody().deps)
}

const redBuildsOf = async (stage: Stage, ...handles: string[]) =>
  (await stage.store.read.redBuildsOf(handles, 10)).map(({ buildId }) => buildId)

test("a failed build is its committer's red build until a newer build of the branch has an outcome", async () => {
  await using stage = await openStage()
  await hear(stage, red('Ada'))
  expect(await redBuildsOf(stage, 'ada')).toEqual(['512'])
  expect(await redBuildsOf(stage, 'grace')).toEqual([])
  const next = { build: '513', commit: 'b'.repeat(40), details: { committer: 'Grace' } }
  await hear(stage, { word: 'initiated', ...next })
  expect(await redBuildsOf(stage, 'ada', 'grace')).toEqual(['512'])
  await hear(stage, { word: 'success', ...next })
  expect(await redBuildsOf(stage, 'ada', 'grace')).toEqual([])
})

test('the committer stays known if a later delivery names none', async () => {
  await using stage = await openStage()
  await hear(stage, { word: 'initiated', details: { committer: 'Ada' } }, red(null, { after: MINUTE }))
  expect(await redBuildsOf(stage, 'ada')).toEqual(['512'])
})

test('a build that passes after a restart is no longer a red build', async () => {
  await using stage = await openStage()
  await hear(stage, red('Ada'))
  await hear(stage, { word: 'success', after: 5 * MINUTE, details: { committer: 'Ada' } })
  expect(await redBuildsOf(stage, 'ada')).toEqual([])
})
