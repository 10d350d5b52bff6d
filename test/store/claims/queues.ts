import { expect, test } from 'vitest'
import type { ChannelId } from '../../../src/domain/ids.ts'
import { QUEUES, type Queue } from '../../../src/domain/cards/plan.ts'
import { channelId, MINUTE, SECOND, T0 } from '../../support/build-events.ts'
import type { Place, Places } from '../../support/stores.ts'
import { BUILDS, RELEASES, several, stand } from '../given.ts'

const LIMIT = 10
const NOW = T0 + MINUTE

interface Waiting {
  subject: string
  queue: Queue
  after?: number
  priority?: number
  channel?: ChannelId
}

const wait = ({ store }: Place, { subject, queue, after = 0, priority = 0, channel = BUILDS }: Waiting) =>
  stand(store, { subject, channel }, { [queue]: { at: T0 + after, priority } })

const subjectsDue = async (
  { store }: Place,
  queue: Queue,
  {
    channel = null,
    not = [],
    limit = LIMIT,
    now = NOW,
  }: Partial<{ channel: ChannelId | null; not: ChannelId[]; limit: number; now: number }> = {},
) => (await store.read.dueCards(queue, now, limit, channel, not)).map(({ subject }) => subject)

/** The durable queues before Slack: which card is next, in which channel. */
export function laneClaims(places: () => Places): void {
  test.each(QUEUES)('the %s queue gives the most urgent cards first, then the longest waiting ones', async (queue) => {
    await using place = await places().open()
    await wait(place, { subject: 'old', queue, priority: 4 })
    await wait(place, { subject: 'late', queue, priority: 0, after: SECOND })
    await wait(place, { subject: 'early', queue, priority: 0 })
    await wait(place, { subject: 'middle', queue, priority: 2 })
    expect(await subjectsDue(place, queue)).toEqual(['early', 'late', 'middle', 'old'])
    expect(await subjectsDue(place, queue, { limit: 2 })).toEqual(['early', 'late'])
    expect(await subjectsDue(place, queue, { channel: BUILDS, limit: 2 })).toEqual(['early', 'late'])
  })

  test.each(QUEUES)('the %s queue gives no card before its time, and none from other queues', async (queue) => {
    await using place = await places().open()
    await wait(place, { subject: 'due', queue })
    await wait(place, { subject: 'later', queue, after: 1 })
    for (const other of QUEUES) if (other !== queue) await wait(place, { subject: other, queue: other })
    expect(await subjectsDue(place, queue, { now: T0 - 1 })).toEqual([])
    expect(await subjectsDue(place, queue, { now: T0 })).toEqual(['due'])
  })

  test.each(QUEUES)('the %s queue can be read for one channel, or for all except some', async (queue) => {
    await using place = await places().open()
    const third = channelId('C0THIRD')
    for (const channel of [BUILDS, RELEASES, third]) await wait(place, { subject: `in ${channel}`, queue, channel })
    const allBut = async (...not: ChannelId[]) => (await subjectsDue(place, queue, { not })).sort()
    expect(await subjectsDue(place, queue, { channel: RELEASES })).toEqual([`in ${RELEASES}`])
    expect(await allBut()).toHaveLength(3)
    expect(await allBut(BUILDS, third)).toEqual([`in ${RELEASES}`])
    expect(await subjectsDue(place, queue, { channel: RELEASES, not: [RELEASES] })).toEqual([])
    expect(await subjectsDue(place, queue, { channel: channelId('C0NOBODY') })).toEqual([])
  })

  test('a card whose queue is cleared is not given again', async () => {
    await using place = await places().open()
    await wait(place, { subject: 'told', queue: 'post' })
    await stand(place.store, { subject: 'told', channel: BUILDS })
    expect(await subjectsDue(place, 'post')).toEqual([])
    expect(await place.store.read.channelsToPost()).toEqual([])
  })

  test('each channel with a card to post is listed once, due or not', async () => {
    await using place = await places().open()
    const channels = several(30, (i) => channelId(`C0CHANNEL${i}`))
    for (const [i, channel] of channels.entries()) {
      await wait(place, { subject: 'one', queue: 'post', channel, after: i * MINUTE })
      await wait(place, { subject: 'two', queue: 'post', channel, priority: 3 })
    }
    expect(await place.store.read.channelsToPost()).toEqual(channels.toSorted())
  })

  test('a channel without a card to post is not listed', async () => {
    await using place = await places().open()
    expect(await place.store.read.channelsToPost()).toEqual([])
    await wait(place, { subject: 'edited', queue: 'edit', channel: channelId('C0AAA') })
    await wait(place, { subject: 'posted', queue: 'post', channel: channelId('C0BBB') })
    await wait(place, { subject: 'looked for', queue: 'look', channel: channelId('C0CCC') })
    expect(await place.store.read.channelsToPost()).toEqual(['C0BBB'])
  })
}
