import { describe, expect, onTestFinished, test } from 'vitest'
import type { Permit } from '../../../src/slack/api/permission.ts'
import type { Presence } from '../../../src/slack/api/directory.ts'
import {
  HANDLES_MAX,
  CHECK_AGAIN_MS,
  CHECK_GAP_MS,
  CHECKS_MAX,
  checkClaimants,
  type PersonDeps,
  createPersonOperations,
} from '../../../src/features/people/people.ts'
import { recordingLog } from '../kit/stage.ts'
import { databasePath, testFolder } from '../../support/app.ts'
import { LIN, MINUTE, T0 } from '../../support/build-events.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { openBesideHandClock } from '../../support/stores.ts'
import { GRACE, grace, lin } from '../operations-stage.ts'

/** The operations on their own store. Time stands still. Slack says that everybody exists and may do everything. */
async function open(changes: Partial<PersonDeps> = {}) {
  const clock = createHandClock(T0)
  const store = openBesideHandClock(databasePath(testFolder()))
  await store.migrate()
  onTestFinished(() => store.close())
  const { log, lines } = recordingLog()
  const asked: string[] = []
  const said: string[] = []
  const presences = new Map<string, Presence>()
  const deps: PersonDeps = {
    store,
    clock,
    log,
    permits: async () => ({ kind: 'yes' }),
    newId: () => `change-${Math.random()}`,
    presenceOf: async (user) => {
      asked.push(user)
      return presences.get(user) ?? { kind: 'here' }
    },
    sendText: async (to) => {
      said.push(to)
      return { kind: 'unsent', code: 'nobody_listens' }
    },
    ...changes,
  }
  const stopping = new AbortController()
  return {
    clock,
    store,
    lines,
    asked,
    said,
    presences,
    stopping,
    people: createPersonOperations(deps),
    claim: (user: string, handle: string) => store.write((tx) => tx.claimHandle(handle, user, clock.now())),
    look: () => checkClaimants(deps, stopping.signal),
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `ada${at}`)

describe('a person', () => {
  test(`has at most ${HANDLES_MAX} names, and room for another after one is released`, async () => {
    const { people } = await open()
    for (const name of names(HANDLES_MAX)) expect(await people.claim(name, lin())).toMatchObject({ kind: 'claimed' })
    const full = { kind: 'too-many', user: LIN, max: HANDLES_MAX }
    expect(await people.claim('one-more', lin())).toEqual(full)
    expect(await people.give('one-more', LIN, grace())).toEqual(full)
    expect(await people.claim('ada0', lin())).toMatchObject({ kind: 'claimed' })
    await people.release('ada0', lin())
    expect(await people.claim('one-more', lin())).toMatchObject({ kind: 'claimed' })
  })

  test('who claims a name again keeps it as it was', async () => {
    const { people, clock } = await open()
    await people.claim('ada', lin())
    await clock.advance(MINUTE)
    const me = { user: LIN, handles: [{ handle: 'ada', at: T0 }], mentions: true }
    expect(await people.claim(' ADA ', lin())).toEqual({ kind: 'claimed', handle: 'ada', isNew: false, me })
    expect(await people.me(lin())).toEqual({ kind: 'me', me })
  })

  test('a person who may not read changes nothing', async () => {
    const permit: Permit = { kind: 'no', why: 'outsider', who: [] }
    const { people, claim, store } = await open({ permits: async () => permit })
    await claim(LIN, 'ada')
    const forbidden = { kind: 'forbidden', action: 'claim', permit }
    for (const ended of [people.me(lin()), people.claim('x', lin()), people.release('ada', lin())])
      expect(await ended).toEqual(forbidden)
    expect(await people.setMentions(false, lin())).toEqual(forbidden)
    expect(await people.give('ada', GRACE, lin())).toEqual({ ...forbidden, action: 'give' })
    expect([await store.read.personOf('ada'), await store.read.claimOf('x')]).toEqual([LIN, null])
  })

  test('whom Slack cannot identify changes nothing, and gets no name from others', async () => {
    const unknown = { kind: 'unknown-person', code: 'ratelimited' } as const
    const { people, store } = await open({ permits: async () => unknown })
    expect([await people.claim('ada', lin()), await people.give('ada', GRACE, lin())]).toEqual([unknown, unknown])
    const known = await open({ permits: async (right) => (right === 'read' ? unknown : { kind: 'yes' }) })
    expect(await known.people.give('ada', GRACE, lin())).toEqual({
      kind: 'not-a-person',
      handle: 'ada',
      user: GRACE,
      why: 'unknown',
    })
    expect(await store.read.claimOf('ada')).toBeNull()
  })

  test('who cannot get messages is reported to the admin', async () => {
    const { people, claim, said } = await open()
    await claim(LIN, 'ada')
    expect(await people.give('Ada', 'U0ADA00001', grace())).toEqual({
      kind: 'given',
      handle: 'ada',
      user: 'U0ADA00001',
      was: LIN,
      unreached: ['U0ADA00001', LIN],
    })
    expect(said).toEqual(['U0ADA00001', LIN])
  })
})

describe('the people with claimed names', () => {
  test('are checked once a day, and not mentioned after they left until they return', async () => {
    const { claim, look, asked, presences, clock, store } = await open()
    await claim(LIN, 'lin')
    await claim(GRACE, 'grace')
    presences.set(LIN, { kind: 'gone' })
    await finish(clock, look())
    expect([await store.read.personOf('lin'), await store.read.personOf('grace')]).toEqual([null, GRACE])
    await clock.advance(CHECK_AGAIN_MS - MINUTE)
    await finish(clock, look())
    expect(asked.toSorted()).toEqual([GRACE, LIN])
    presences.clear()
    await clock.advance(MINUTE)
    await finish(clock, look())
    expect(asked).toHaveLength(4)
    expect(await store.read.personOf('lin')).toBe(LIN)
  })

  test(`are checked at most ${CHECKS_MAX} in a run, one a second; the next run continues`, async () => {
    const { claim, look, asked, clock } = await open()
    const users = Array.from({ length: CHECKS_MAX + 1 }, (_, at) => `U0MANY${100 + at}`)
    for (const user of users) await claim(user, user)
    await finish(clock, look())
    expect(asked).toEqual(users.slice(0, CHECKS_MAX))
    expect(clock.now() - T0).toBeGreaterThanOrEqual((CHECKS_MAX - 1) * CHECK_GAP_MS)
    await finish(clock, look())
    expect(asked).toEqual(users)
  })

  test('stay unchanged if Slack does not answer, and are checked again', async () => {
    const { claim, look, asked, presences, clock, store, lines } = await open()
    await claim(GRACE, 'grace')
    await claim(LIN, 'lin')
    presences.set(GRACE, { kind: 'unknown', code: 'ratelimited' })
    await finish(clock, look())
    expect([asked, await store.read.personOf('grace')]).toEqual([[GRACE], GRACE])
    expect(lines.map(({ fields }) => fields)).toEqual([{ user: GRACE, code: 'ratelimited' }])
    presences.clear()
    await finish(clock, look())
    expect(asked).toEqual([GRACE, GRACE, LIN])
  })

  test('do not hold up a stop of the bot', async () => {
    const { claim, look, asked, clock, stopping, store } = await open()
    await claim(GRACE, 'grace')
    await claim(LIN, 'lin')
    const looking = look()
    await clock.settle()
    stopping.abort()
    await looking
    expect([asked, await store.read.lastDoneAt('look-at-claimants')]).toEqual([[GRACE], null])
  })
})

/** Advances the clock until the work is done. */
async function finish(clock: ReturnType<typeof createHandClock>, work: Promise<void>): Promise<void> {
  const progress = { isDone: false }
  const done = work.finally(() => (progress.isDone = true))
  while (!progress.isDone) await clock.advance(CHECK_GAP_MS)
  await done
}
