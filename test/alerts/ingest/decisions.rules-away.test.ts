import { expect, test } from 'vitest'
import { createProjectRules } from '../../../src/ci-sync/reading.ts'
import { MINUTE, projectId, WEB } from '../../support/build-events.ts'
import { openStage } from '../stage.ts'

const PROJECT = { projectId: projectId(WEB), projectUuid: null, names: ['acme/web'] }
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

test('an alert waits for the first read of the rules, but not again after a failed read', async () => {
  await using stage = await openStage()
  const readings: PromiseWithResolvers<never>[] = []
  const listProjects = () => {
    readings.push(Promise.withResolvers<never>())
    return readings.at(-1)!.promise
  }
  const { store, clock } = stage
  const { rulesOf } = createProjectRules({ store, clock, log: SILENT, v2: { listProjects }, legacy: null })
  expect(await rulesOf(PROJECT)).toBe('wait')
  readings[0]!.reject(new Error('nobody answers'))
  await expect.poll(() => rulesOf(PROJECT)).toBe(null)
  await clock.advance(MINUTE)
  expect(await rulesOf(PROJECT)).toBe(null)
  expect(readings).toHaveLength(2)
})
