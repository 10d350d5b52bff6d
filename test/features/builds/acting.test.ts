import { expect, test } from 'vitest'
import { ACTING } from '../../../src/features/builds/acting.ts'

type LookUp = Parameters<(typeof ACTING)['approve']['lookUp']>

const GATE = { kind: 'environment', id: '9', name: 'production' } as const

/** What looking up an approval with a lost answer finds. @param comments of the gate's decisions, as the source lists them */
function found(status: string, comments: readonly string[], gates: readonly object[] = []) {
  const request = { id: 'ours', state: 'unclear', projectId: 'gitlab:71', buildId: '5', target: { gate: GATE } }
  const builds = [{ buildId: '5', rawStatus: status, details: { gates } }] as unknown as LookUp[1]
  const source = { readDecisions: async () => comments } as unknown as LookUp[2]
  return ACTING.approve.lookUp(request as unknown as LookUp[0], builds, source, {} as LookUp[3])
}

test('an approval with a lost answer is ours by the id in its comment, also while others are missing', async () => {
  expect(await found('initiated', ['Approved by Lin in Slack (ours)'])).toMatchObject({ buildId: '5' })
  expect(await found('waiting', ['Approved by Lin in Slack (ours)'], [GATE])).toMatchObject({ buildId: '5' })
  expect(await found('waiting', ['Fine (Ada)'], [GATE])).toBeUndefined()
})

test('somebody else was faster if the build goes on with their decision alone, and not if it has only ended', async () => {
  expect(await found('initiated', ['Fine (Ada)'])).toBe('others')
  expect(await found('stopped', ['Fine (Ada)'])).toBeUndefined()
  expect(await found('initiated', [])).toBeUndefined()
})
