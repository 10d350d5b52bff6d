import { expect, test } from 'vitest'
import { messageTs, MINUTE, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { CARD, claimed, RELEASES } from '../given.ts'

const TS = messageTs('1772460000.000100')

/** Claims, and the messages that they become. */
export function messageClaims(places: () => Places): void {
  test('a message is read back unchanged', async () => {
    await using place = await places().open()
    const message = claimed({
      key: 'key-ü',
      slot: 'run:512.1',
      generation: 2,
      state: 'posted',
      lookedAt: T0 + 1,
      ts: TS,
      digest: 'd',
      sending: 's',
      sendingAt: T0 + 2,
      recheckAt: T0 + 3,
      doubtAt: T0 + 4,
      writtenAt: T0 + 5,
      postedAttempt: '512.1',
    })
    await place.store.write((tx) => tx.insertMessage(message))
    const { subject: _, channel: __, ...stored } = message
    expect(await place.store.read.messagesOf(CARD)).toEqual([stored])
  })

  test('the messages of a card come in the order of their claims, without those of other cards', async () => {
    await using place = await places().open()
    await place.store.write(async (tx) => {
      await tx.insertMessage(claimed({ key: 'b', claimedAt: T0 + MINUTE }))
      await tx.insertMessage(claimed({ key: 'a', slot: 'run:512.1' }))
      await tx.insertMessage(claimed({ key: 'c', channel: RELEASES }))
      await tx.insertMessage(claimed({ key: 'd', subject: 'another/1' }))
    })
    expect((await place.store.read.messagesOf(CARD)).map(({ key }) => key)).toEqual(['a', 'b'])
  })

  test('a slot is claimed once in each generation, and a second claim is rolled back with its whole write', async () => {
    await using place = await places().open()
    const { write } = place.store
    await write((tx) => tx.insertMessage(claimed({ key: 'first' })))
    const second = write(async (tx) => {
      await tx.setLastDoneAt('second', T0)
      await tx.insertMessage(claimed({ key: 'second' }))
    })
    await expect(second).rejects.toThrow()
    expect((await place.store.read.messagesOf(CARD)).map(({ key }) => key)).toEqual(['first'])
    expect(await place.store.read.lastDoneAt('second')).toBeNull()
  })

  test('one of several concurrent claims of a slot succeeds', async () => {
    await using place = await places().open()
    const claims = ['a', 'b', 'c'].map((key) => place.store.write((tx) => tx.insertMessage(claimed({ key }))))
    const settled = await Promise.allSettled(claims)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await place.store.read.messagesOf(CARD)).toHaveLength(1)
  })

  test.each([
    ['the next generation', { generation: 2 }],
    ['another slot', { slot: 'run:512.1' }],
    ['another channel', { channel: RELEASES }],
    ['another card', { subject: 'another/1' }],
  ])('a claim does not prevent one of %s', async (_, other) => {
    await using place = await places().open()
    await place.store.write((tx) => tx.insertMessage(claimed({ key: 'first' })))
    await place.store.write((tx) => tx.insertMessage(claimed({ key: 'second', ...other })))
    expect(await place.sql('select key from message order by key')).toEqual([{ key: 'first' }, { key: 'second' }])
  })

  test('a key belongs to one message, even in different channels', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.insertMessage(claimed()))
    const again = place.store.write((tx) => tx.insertMessage(claimed({ channel: RELEASES })))
    await expect(again).rejects.toThrow()
  })

  test('an update changes the given fields and no others', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.insertMessage(claimed({ digest: 'kept', lookedAt: T0 })))
    await write((tx) => tx.insertMessage(claimed({ key: 'other', slot: 'run:512.1', claimedAt: T0 + 1 })))
    const [before, other] = await read.messagesOf(CARD)
    await write((tx) => tx.updateMessage('key-1', { state: 'posted', ts: TS, lookedAt: null }))
    expect(await read.messagesOf(CARD)).toEqual([{ ...before, state: 'posted', ts: TS, lookedAt: null }, other])
  })

  test('an update of a missing message creates none', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.updateMessage('nobody', { state: 'gone' }))
    expect(await place.sql('select key from message')).toEqual([])
  })

  // The type allows an update without fields; SQL does not.
  test('an update without fields changes nothing', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.insertMessage(claimed()))
    await place.store.write((tx) => tx.updateMessage('key-1', {}))
  })

  test('a deleted claim frees its slot', async () => {
    await using place = await places().open()
    const { read, write } = place.store
    await write((tx) => tx.insertMessage(claimed({ key: 'other', slot: 'run:512.1' })))
    await write((tx) => tx.insertMessage(claimed()))
    await write((tx) => tx.deleteMessage('key-1'))
    expect((await read.messagesOf(CARD)).map(({ key }) => key)).toEqual(['other'])
    await write((tx) => tx.insertMessage(claimed({ key: 'again' })))
    expect(await read.messagesOf(CARD)).toHaveLength(2)
  })
}
