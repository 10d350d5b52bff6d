import { describe, expect, test } from 'vitest'
import { recordListedBuilds } from '../../../src/ci-sync/undelivered.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import type { Target } from '../../../src/projects/outcomes.ts'
import type { AttemptRef } from '../../../src/domain/cards/request.ts'
import { buildId, MINUTE, SECOND } from '../../support/build-events.ts'
import { lin, ofAttempt, openStage, outcomeInBrief, type Built, type Stage } from '../operations-stage.ts'
import { findSummary } from '../../../src/ci-sync/ci-lookup.ts'

// CI delivers builds with their uuids. Its legacy interface shows the same builds by number.
const BY_UUID = { switches: { buildIdForm: 'uuid' } } as const

const refOf = ({ ref, uuid }: Built): AttemptRef => ({ ...ref, buildId: buildId(uuid) })

const shortOf = ({ uuid }: Built): string => uuid.slice(0, 8)

const cards = ({ reconcile }: Stage) =>
  reconcile.slack.messages.flatMap(({ view }) => (view.kind === 'card' ? [view] : []))

const shownOn = (stage: Stage) => cards(stage).map(({ shown, build }) => `${build.buildId} ${shown}`)

/** Reads CI's list and ingests what follows. */
async function look({ main, clock }: Stage): Promise<void> {
  await main.deps.refresh()
  await clock.advance(5 * SECOND)
}

describe('a build with a UUID', () => {
  test('has a card with its short form, has attempts, and fixes its branch', async () => {
    await using stage = await openStage(BY_UUID)
    const red = await stage.ended('error')
    expect(shownOn(stage)).toEqual([`${shortOf(red)} failed`])
    stage.ci.restart(red.uuid, 'none')
    await stage.deliver()
    expect(stage.card()).toMatchObject({ shown: 'started', attemptNumber: 2, ref: `11/${red.uuid}.2` })
    stage.ci.finish(red.uuid, 'error')
    await stage.deliver()
    const green = await stage.ended('success')
    expect(shownOn(stage)).toEqual([`${shortOf(red)} failed`, `${shortOf(green)} fixed`])
    expect(stage.card()?.streak).toMatchObject({ builds: 1 })
  })

  test.each(['acme/web', 'acme/ios'])('can be stopped, in %s', async (project) => {
    await using stage = await openStage(BY_UUID)
    const built = await stage.running({}, project)
    expect(stage.card()?.offers).toEqual(['stop'])
    expect(outcomeInBrief(await stage.main.operations.stop(ofAttempt(refOf(built)), lin()))).toBe('requested')
    expect(stage.ci.calls().at(-1)?.path).toContain(`/builds/${built.uuid}/stop`)
    await stage.deliver()
    expect(stage.card()).toMatchObject({ shown: 'stopped', request: { stage: 'confirmed' } })
  })

  test('is known to have stopped when CI shows that, even without a delivery', async () => {
    await using stage = await openStage(BY_UUID)
    const built = await stage.running()
    await stage.main.operations.stop(ofAttempt(refOf(built)), lin())
    await stage.clock.advance(SECOND)
    stage.lose()
    await stage.pass(3 * MINUTE)
    expect(await stage.requests()).toMatchObject([{ state: 'confirmed', buildId: built.uuid }])
    expect(cards(stage)).toMatchObject([{ shown: 'stopped', ref: `11/${built.uuid}.1` }])
  })

  test('cannot be restarted, since CI restarts by number, and the card says why', async () => {
    await using stage = await openStage(BY_UUID)
    const built = await stage.ended()
    expect(stage.card()).toMatchObject({ offers: [], missing: { action: 'restart', why: 'no-build-number' } })
    const outcome = await stage.main.operations.restart(ofAttempt(refOf(built)), lin())
    expect(outcomeInBrief(outcome)).toBe('impossible no-build-number')
    expect(stage.writes()).toEqual([])
  })

  test('is found by its UUID, by the short form on the card, and by its address', async () => {
    await using stage = await openStage({ switches: { ...BY_UUID.switches, buildUrlForm: 'uuids' } })
    const built = await stage.running()
    await stage.running({ branch: 'fix/login' })
    const find = (target: Target) => findSummary(stage.main.deps, target)
    const { buildUrl } = cards(stage)[0]!.build
    for (const target of [
      { kind: 'uuid', uuid: toUuid(built.uuid) },
      { kind: 'build-url', url: buildUrl! },
      { kind: 'build-number', number: shortOf(built), project: null },
      { kind: 'build-number', number: shortOf(built), project: 'acme/web' },
    ] as const) {
      expect(await find(target)).toMatchObject({ kind: 'found', build: { ref: refOf(built) } })
    }
    expect((await find({ kind: 'build-number', number: 'ffffffff', project: null })).kind).toBe('unknown-build')
  })
})

describe('builds with UUIDs that CI shows when it is asked', () => {
  test('are known by their UUIDs, in the order of their start', async () => {
    await using stage = await openStage()
    const first = stage.push({ commitId: '1'.repeat(40) })
    await stage.clock.advance(MINUTE)
    stage.ci.finish(first.uuid, 'error')
    const second = stage.push({ commitId: '2'.repeat(40) })
    await stage.clock.advance(MINUTE)
    stage.ci.finish(second.uuid, 'success')
    stage.lose()
    const { legacy } = stage.main.deps
    const shown = await legacy!.getProject(first.ref.projectId)
    const ids = new Map([
      [first.ref.buildId, buildId('ffffffff-0000-0000-0000-000000000001')],
      [second.ref.buildId, buildId('00000000-0000-0000-0000-000000000002')],
    ])
    const builds = shown.builds
      .filter((build) => ids.has(build.buildId))
      .map((build) => {
        const id = ids.get(build.buildId)!
        return { ...build, buildId: id, details: { ...build.details, buildUuid: toUuid(id) } }
      })
    await recordListedBuilds(stage.main.deps, {
      projects: [{ ...shown, builds }],
      requestedAt: stage.clock.now(),
      isWhole: true,
    })
    await stage.clock.advance(5 * SECOND)
    expect(shownOn(stage)).toEqual(['ffffffff failed', '00000000 fixed'])
  })
})

describe('a build that CI delivers by uuid and shows by number', () => {
  test('is one build, which people see with its number once that is known', async () => {
    await using stage = await openStage(BY_UUID)
    const built = await stage.running()
    await look(stage)
    expect(shownOn(stage)).toEqual([`${shortOf(built)} started`])
    await stage.rest(10 * MINUTE)
    stage.ci.finish(built.uuid, 'error')
    stage.lose()
    await look(stage)
    expect(shownOn(stage)).toEqual([`${built.ref.buildId} failed`])
    expect(stage.card()).toMatchObject({ ref: `11/${built.uuid}.1`, offers: [] })
  })

  test('keeps its number as its id if CI showed it before the delivery', async () => {
    await using stage = await openStage(BY_UUID)
    const built = stage.push()
    await look(stage)
    await stage.deliver()
    stage.ci.finish(built.uuid, 'error')
    await stage.deliver()
    expect(shownOn(stage)).toEqual([`${built.ref.buildId} failed`])
    expect(stage.card()).toMatchObject({ ref: `11/${built.ref.buildId}.1`, offers: ['restart'] })
  })
})

test('comes after older builds when a service changes to UUIDs, and back again', async () => {
  await using stage = await openStage()
  await stage.ended('error')
  stage.ci.setSwitches({ buildIdForm: 'uuid' })
  const green = await stage.ended('success')
  expect(stage.card()).toMatchObject({ shown: 'fixed', build: { buildId: shortOf(green) } })
  stage.ci.setSwitches({ buildIdForm: 'integer' })
  const red = await stage.ended('error')
  expect(stage.card()).toMatchObject({ shown: 'failed', build: { buildId: red.ref.buildId } })
  expect(await findSummary(stage.main.deps, { kind: 'project', project: 'acme/web', branch: 'main' })).toMatchObject({
    build: { ref: red.ref, shown: 'failed' },
  })
})
