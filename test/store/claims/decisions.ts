import { expect, test } from 'vitest'
import type { StoredDecision } from '../../../src/store/records.ts'
import { idOrder } from '../../../src/domain/ids.ts'
import { MINUTE, projectId, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import type { Queues } from '../../../src/domain/cards/plan.ts'
import { branchKey, noticeSubject } from '../../../src/domain/builds/revision.ts'
import { BUILDS, CARD, decided, hear, RELEASES, REVISION, stand } from '../given.ts'

const DAY = '2026-03-02'

const onCard = ({ eventSeq, verdict, reason, change, loud, decidedAt }: StoredDecision) => ({
  eventSeq,
  verdict,
  reason,
  change,
  loud,
  decidedAt,
})

/** Decisions, and the notices that are read from them. */
export function decisionClaims(places: () => Places): void {
  test('a decision is read back unchanged, by card and by build event', async () => {
    await using place = await places().open()
    const decision = decided({
      eventSeq: await hear(place.store),
      verdict: 'silent',
      reason: 'branch-not-matched',
      rulesFrom: 'ci',
      ruleResults: [
        { rule: { branch: 'dev', branchMatch: null, events: ['failed'] }, from: 'ci', verdict: 'branch-not-matched' },
        {
          rule: { branch: 'm*\u0000', branchMatch: 'wildcard', events: 'every' },
          from: 'channel',
          verdict: 'event-not-selected',
        },
      ],
      loud: true,
      change: 'recovered',
      noticeDay: DAY,
    })
    await place.store.write((tx) => tx.saveDecision(decision))
    expect(await place.store.read.decisionsOf(CARD)).toEqual([onCard(decision)])
    expect(await place.store.read.decisionsOfEvent(decision.eventSeq)).toEqual([decision])
  })

  test('what outcomes did to their branch is read back by card, until it is forgotten from a build on', async () => {
    await using place = await places().open()
    const judgements = {
      512: { change: 'broken', streak: { at: T0, builds: 1, atLeast: false } },
      513: { change: null, streak: { at: T0, builds: 500, atLeast: true } },
      514: { change: 'recovered', streak: { at: T0, builds: 2, atLeast: false } },
      515: { change: null, streak: null },
    } as const
    for (const [build, judgement] of Object.entries(judgements)) {
      const seq = await hear(place.store, { build })
      await place.store.write((tx) => tx.placeEvent(seq, 1))
      await place.store.write((tx) => tx.saveJudgement(seq, judgement))
    }
    const read = async (cardNumber = 1) => [...(await place.store.read.judgements(REVISION, cardNumber)).values()]
    const forget = (build: string, ofBuild: boolean) =>
      place.store.write((tx) => tx.forgetJudgements(branchKey(projectId(WEB), 'main'), idOrder(build), { ofBuild }))
    expect(await read()).toEqual(Object.values(judgements))
    expect(await read(2)).toEqual([])
    await forget('514', false)
    expect(await read()).toEqual([judgements[512], judgements[513], judgements[514]])
    await forget('513', true)
    expect(await read()).toEqual([judgements[512]])
  })

  test('a decision from before rules were recorded has no rules', async () => {
    await using place = await places().open()
    const eventSeq = await hear(place.store)
    await place.store.write((tx) => tx.saveDecision(decided({ eventSeq })))
    await place.sql(`update decision set looked = '["branch-not-matched","selects"]'`)
    expect((await place.store.read.decisionsOfEvent(eventSeq))[0]!.ruleResults).toEqual([])
  })

  test('a build event has one decision in a channel, the last one', async () => {
    await using place = await places().open()
    const first = decided({ eventSeq: await hear(place.store), verdict: 'silent', reason: 'event-not-selected' })
    const last = decided({
      ...first,
      verdict: 'post',
      reason: 'event-selected',
      change: 'recovered',
      decidedAt: T0 + MINUTE,
    })
    await place.store.write((tx) => tx.saveDecision(first))
    await place.store.write((tx) => tx.saveDecision(last))
    expect(await place.store.read.decisionsOf(CARD)).toEqual([onCard(last)])
  })

  test('the decisions of a card come in order of receipt, without those of other cards and channels', async () => {
    await using place = await places().open()
    const [a, b, c] = [await hear(place.store), await hear(place.store), await hear(place.store)]
    await place.store.write(async (tx) => {
      for (const eventSeq of [c, a]) await tx.saveDecision(decided({ eventSeq }))
      await tx.saveDecision(decided({ eventSeq: a, channel: RELEASES }))
      await tx.saveDecision(decided({ eventSeq: b, subject: 'another/1' }))
    })
    expect((await place.store.read.decisionsOf(CARD)).map(({ eventSeq }) => eventSeq)).toEqual([a, c])
  })

  test('a build event has one decision for each channel, ordered by channel', async () => {
    await using place = await places().open()
    const [a, b] = [await hear(place.store), await hear(place.store)]
    await place.store.write(async (tx) => {
      for (const channel of [RELEASES, BUILDS]) await tx.saveDecision(decided({ eventSeq: a, channel }))
      await tx.saveDecision(decided({ eventSeq: b }))
    })
    expect((await place.store.read.decisionsOfEvent(a)).map(({ channel }) => channel)).toEqual([BUILDS, RELEASES])
    expect(await place.store.read.decisionsOfEvent(b + 1)).toEqual([])
  })

  test('a notice lists the first builds of its day, oldest first, and counts all of them by status', async () => {
    await using place = await places().open()
    const seqs: number[] = []
    for (const [i, word] of ['ignored', 'blocked', 'ignored', 'ignored'].entries())
      seqs.push(await hear(place.store, { word, build: String(900 - i) }))
    await place.store.write(async (tx) => {
      for (const eventSeq of seqs.toReversed()) await tx.saveDecision(decided({ eventSeq, noticeDay: DAY }))
    })
    const { buildEvents, counts } = await place.store.read.noticeEvents(DAY, BUILDS, 2)
    expect(buildEvents.map(({ seq, status }) => [seq, status])).toEqual([
      [seqs[0], 'ignored'],
      [seqs[1], 'blocked'],
    ])
    expect(counts).toEqual(
      new Map([
        ['ignored', 3],
        ['blocked', 1],
      ]),
    )
  })

  test('a notice has no builds of other days and channels, and none that the channel does not get', async () => {
    await using place = await places().open()
    const seqs = [await hear(place.store), await hear(place.store), await hear(place.store), await hear(place.store)]
    await place.store.write(async (tx) => {
      await tx.saveDecision(decided({ eventSeq: seqs[0]!, noticeDay: '2026-03-03' }))
      await tx.saveDecision(decided({ eventSeq: seqs[1]!, noticeDay: DAY, channel: RELEASES }))
      await tx.saveDecision(decided({ eventSeq: seqs[2]!, noticeDay: DAY, verdict: 'silent', reason: 'duplicate' }))
      await tx.saveDecision(decided({ eventSeq: seqs[3]! }))
    })
    expect(await place.store.read.noticeEvents(DAY, BUILDS, 20)).toEqual({ buildEvents: [], counts: new Map() })
  })

  test('what a channel has not shown, and was not decided for another one, is found by its cards and notices', async () => {
    await using place = await places().open()
    const { store } = place
    const due = { post: { at: T0, priority: 0 } }
    const shown = async (revisionKey: string, more: object = {}, queues: Partial<Queues> = due) => {
      const subject = `${revisionKey}/1`
      const eventSeq = await hear(store, { revisionKey, build: revisionKey })
      await stand(store, { subject, channel: BUILDS }, queues)
      await store.write((tx) => tx.saveDecision(decided({ eventSeq, subject, ...more })))
      return { eventSeq, subject }
    }
    await shown('1')
    await shown('2', {}, {})
    const edited = await shown('3', {}, { edit: { at: T0, priority: 0 } })
    await shown('4', { reason: 'account-notice', noticeDay: DAY }, {})
    await shown('5', { channel: RELEASES })
    const unshown = async () => (await store.read.unshownIn(BUILDS, RELEASES, 9)).toSorted()
    expect(await unshown()).toEqual(['1', '3'])
    await stand(store, { subject: noticeSubject(DAY), channel: BUILDS }, due)
    expect(await unshown()).toEqual(['1', '3', '4'])
    await store.write((tx) => tx.saveDecision(decided({ ...edited, channel: RELEASES })))
    expect(await unshown()).toEqual(['1', '4'])
    expect(await store.read.unshownIn(BUILDS, RELEASES, 1)).toHaveLength(1)
  })
}
