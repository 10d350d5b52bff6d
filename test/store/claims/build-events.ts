import { expect, test } from 'vitest'
import { NO_DETAILS } from '../../../src/domain/builds/build-event.ts'
import { idOrder, toUuid } from '../../../src/domain/ids.ts'
import { buildId, COMMIT, MINUTE, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { hear, REVISION, several, waiting } from '../given.ts'

const OTHER = 'ffffffffffffffffffffffffffffffff'

/** At most so many build events of one build are read. */
const BUILD_EVENTS_MAX = 200

/** Build events: stored unchanged, in order of receipt, found by build, revision and card. */
export function buildEventClaims(places: () => Places): void {
  test('a build event is read back unchanged', async () => {
    await using place = await places().open()
    const details = {
      projectName: 'acme/web',
      message: 'fix login',
      buildUuid: toUuid('1b4e28ba-2fa1-11d2-883f-0016d3cca427'),
      startedAt: T0 - MINUTE,
    }
    const seq = await hear(place.store, { word: 'Error', after: MINUTE, details })
    const expected = {
      seq,
      at: T0 + MINUTE,
      cardNumber: null,
      projectId: WEB,
      buildId: '512',
      buildOrder: idOrder('512'),
      branch: 'main',
      commitId: COMMIT,
      revisionKey: REVISION,
      rawStatus: 'Error',
      status: 'failed',
      origin: 'delivery',
      details: { ...NO_DETAILS, ...details },
      isAcknowledged: false,
      isOutcome: true,
    }
    const stored = () => place.store.read.eventsOfBuild(projectId(WEB), buildId('512'))
    expect(await stored()).toEqual([expected])
    await place.store.write((tx) => tx.acknowledge([seq]))
    expect(await stored()).toEqual([{ ...expected, isAcknowledged: true }])
  })

  test('a build event without branch and commit has none', async () => {
    await using place = await places().open()
    await hear(place.store, { branch: null, commit: null })
    const [buildEvent] = await waiting(place.store.read)
    expect(buildEvent).toMatchObject({ branch: null, commitId: null })
  })

  test.each([
    ['other scripts', 'Исправить вход · ログインを直す · إصلاح'],
    ['emoji of several code points', '👩‍👩‍👧‍👦 🏳️‍🌈 🇦🇶 e\u0301'],
    ['quotes, backslashes and placeholders', String.raw`'; drop table fact; -- " \ $1 ? :a %s \u0000`],
    ['line ends and controls', 'a\r\nb\tc\u0001\u2028d'],
    ['ten kilobytes', 'é'.repeat(10_000)],
    ['blanks at both ends', '  indented  '],
    ['an empty text', ''],
  ])('texts are read back unchanged: %s', async (_, text) => {
    await using place = await places().open()
    await hear(place.store, { word: text, branch: text, details: { message: text, committer: text } })
    const [buildEvent] = await waiting(place.store.read)
    expect(buildEvent).toMatchObject({ rawStatus: text, branch: text, details: { message: text, committer: text } })
  })

  test('ids beyond 2^53 keep all their digits', async () => {
    await using place = await places().open()
    await hear(place.store, { build: '18446744073709551615', project: '9007199254740993' })
    const buildEvents = await place.store.read.eventsOfBuild('9007199254740993', '18446744073709551615')
    expect(buildEvents).toMatchObject([{ projectId: '9007199254740993', buildId: '18446744073709551615' }])
    expect(await place.store.read.eventsOfBuild('9007199254740992', '18446744073709551615')).toEqual([])
  })

  test('the build events of a build come in order of receipt, without those of other projects', async () => {
    await using place = await places().open()
    const first = await hear(place.store, { word: 'error', after: MINUTE })
    const second = await hear(place.store, { word: 'initiated', after: 0, revisionKey: OTHER })
    await hear(place.store, { build: '513' })
    await hear(place.store, { project: '42' })
    const buildEvents = await place.store.read.eventsOfBuild(WEB, '512')
    expect(buildEvents.map(({ seq }) => seq)).toEqual([first, second])
  })

  test('an id that ends like another one is a different build', async () => {
    await using place = await places().open()
    await hear(place.store, { project: '4', build: '1512' })
    expect(await place.store.read.eventsOfBuild('41', '512')).toEqual([])
  })

  test(`of a build with more than ${BUILD_EVENTS_MAX} events the newest are read, in order of receipt`, async () => {
    await using place = await places().open()
    const seqs = await Promise.all(several(BUILD_EVENTS_MAX + 2, () => hear(place.store)))
    const buildEvents = await place.store.read.eventsOfBuild(WEB, '512')
    expect(buildEvents.map(({ seq }) => seq)).toEqual(seqs.toSorted((a, b) => a - b).slice(2))
  })

  test('the build events of several builds come in order of receipt, whatever their revision and card', async () => {
    await using place = await places().open()
    const [a, b] = [await hear(place.store, { build: '513' }), await hear(place.store, { build: '512' })]
    await hear(place.store, { build: '514' })
    await hear(place.store, { build: '512', project: '42' })
    const c = await hear(place.store, { build: '513', revisionKey: OTHER })
    await place.store.write((tx) => tx.placeEvent(b, 1))
    const buildEvents = await place.store.read.eventsOfBuilds(['41/512', '41/513', '41/999'])
    expect(buildEvents.map(({ seq, cardNumber }) => [seq, cardNumber])).toEqual([
      [a, null],
      [b, 1],
      [c, null],
    ])
    expect(await place.store.read.eventsOfBuilds([])).toEqual([])
  })

  test('a repetition is counted on the event that it repeats, and on no other', async () => {
    await using place = await places().open()
    const [a] = [await hear(place.store), await hear(place.store)]
    await place.store.write((tx) => tx.countRepeat(a))
    await Promise.all(several(5, () => place.store.write((tx) => tx.countRepeat(a))))
    expect(await place.sql('select repeats from fact order by seq')).toEqual([{ repeats: 6 }, { repeats: 0 }])
  })

  test('a delivery is stored unchanged, with the build event that it led to', async () => {
    await using place = await places().open()
    const body = '{"build":{"message":"ein 🐛 weniger"},  "odd" : true}'
    const delivery = { receivedAt: T0, answer: 'recorded', eventSeq: await hear(place.store), body }
    await place.store.write((tx) => tx.insertDelivery(delivery))
    const [row] = await place.sql('select answer, fact_seq, body from delivery')
    expect({ ...row, fact_seq: Number(row!['fact_seq']) }).toEqual({
      answer: 'recorded',
      fact_seq: delivery.eventSeq,
      body,
    })
  })

  test('a delivery is found by its key, which is stored once; many have none', async () => {
    await using place = await places().open()
    const [a, b] = [await hear(place.store), await hear(place.store)]
    const delivery = { receivedAt: T0, answer: 'recorded', body: '{}' }
    const before = (key: string) => place.store.write((tx) => tx.deliveredBefore(key))
    await place.store.write(async (tx) => {
      await tx.insertDelivery({ ...delivery, eventSeq: a, key: 'k1' })
      await tx.insertDelivery({ ...delivery, eventSeq: b, key: 'k1' })
      for (const _ of [1, 2]) await tx.insertDelivery({ ...delivery, eventSeq: b, key: null })
    })
    expect(await place.sql('select key from delivery order by id')).toEqual([
      { key: 'k1' },
      { key: null },
      { key: null },
    ])
    expect(await before('k1')).toEqual({ seq: a, revisionKey: REVISION })
    expect(await before('k2')).toBeNull()
    await place.sql('delete from fact')
    expect(await before('k1')).toEqual({ seq: a, revisionKey: '' })
    await place.store.write((tx) => tx.removeDeliveries(T0 + 1, 9))
    expect(await before('k1')).toBeNull()
  })
}
