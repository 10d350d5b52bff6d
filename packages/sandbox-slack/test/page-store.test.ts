import { describe, expect, test } from 'vitest'
import { isForMe, messagesFor, unreadIn } from '../page/store/read.ts'
import { channelsOf, emptyState, reduce } from '../page/store/state.ts'
import type { Action, Kept, State } from '../page/store/state.ts'
import { createStore } from '../page/store/store.ts'
import type { Message, Snapshot } from '../page/store/wire.ts'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { openStage } from './stage.ts'

const { ada, grace, gus } = PEOPLE
const { builds, web, ops, secret, elsewhere } = CHANNELS
const DIRECT = 'D0ADA00001'

const NOTHING_KEPT: Kept = { person: '', readMarks: {}, dismissed: new Set(), theme: 'system', dock: null }

/** A page's store with the state of a real sandbox. */
async function openState(kept: Partial<Kept> = {}) {
  const stage = await openStage()
  await stage.post({ text: 'said before' })
  const snapshot = (await (await fetch(`${stage.sandbox.url}/sandbox/state`)).json()) as Snapshot
  const store = createStore<State, Action>(reduce, emptyState({ ...NOTHING_KEPT, ...kept }))
  store.dispatch({ kind: 'loaded', snapshot })
  store.dispatch({ kind: 'went', hash: `#${builds}` })
  const tell = (message: Partial<Message>, isInSight = true) =>
    store.dispatch({ kind: 'changed', change: { kind: 'message', message: { ...aMessage, ...message } }, isInSight })
  return { store, tell, unread: (channel: string) => unreadIn(store.get(), channel) }
}

const LATER = '1900000000.000100'
const aMessage: Message = {
  ts: LATER,
  channel: web,
  root: null,
  user: 'U0BUILDBOT',
  text: 'acme/web #512 failed',
  isBroadcast: false,
  isTombstone: false,
  editCount: 0,
}

describe('the unread state', () => {
  test('is set by a message in a channel that is not open, until the channel is opened', async () => {
    const { store, tell, unread } = await openState()
    expect(unread(web)).toEqual({ isUnread: false, mentions: 0 })
    tell({})
    expect(unread(web)).toEqual({ isUnread: true, mentions: 0 })
    store.dispatch({ kind: 'went', hash: `#${web}` })
    expect(unread(web)).toEqual({ isUnread: false, mentions: 0 })
  })

  test('is not set by one’s own messages, or by messages in the visible open channel', async () => {
    const { tell, unread } = await openState()
    tell({ user: ada })
    tell({ channel: builds })
    expect([unread(web).isUnread, unread(builds).isUnread]).toEqual([false, false])
  })

  test('is set by a message in the open channel while the page is hidden', async () => {
    const { store, tell, unread } = await openState()
    tell({ channel: builds }, false)
    expect(unread(builds).isUnread).toBe(true)
    store.dispatch({ kind: 'read' })
    expect(unread(builds).isUnread).toBe(false)
  })

  test('counts mentions of the person, in threads too, and none of others', async () => {
    const { store, tell, unread } = await openState()
    tell({ text: `<@${ada}> broke it` })
    tell({ ts: '1900000000.000200', text: '<!channel> stop', root: LATER })
    tell({ ts: '1900000000.000300', text: `<@${grace}> too`, root: LATER })
    expect(unread(web)).toEqual({ isUnread: true, mentions: 2 })
    store.dispatch({ kind: 'acts-as', person: grace })
    expect(unread(web)).toEqual({ isUnread: true, mentions: 2 })
    store.dispatch({ kind: 'acts-as', person: gus })
    expect(unread(web)).toEqual({ isUnread: true, mentions: 1 })
  })

  test('is set by everything in the app’s direct channel, but not by a reply without a mention', async () => {
    const { store, tell, unread } = await openState()
    const channel = { id: DIRECT, name: 'ada', kind: 'im' as const, members: [ada], isArchived: false }
    const change = { kind: 'channel' as const, channel: { ...channel, isShared: false, hasBot: true } }
    store.dispatch({ kind: 'changed', change, isInSight: true })
    tell({ channel: DIRECT })
    tell({ root: '1800000000.000100' })
    expect(unread(DIRECT)).toEqual({ isUnread: true, mentions: 1 })
    expect(unread(web).isUnread).toBe(false)
  })

  test('is kept over a reload, with the place of the line “New”', async () => {
    const marks = { [ada]: { [builds]: '1700000000.000100' } }
    const { store } = await openState({ person: ada, readMarks: marks })
    expect(store.get().newFrom).toBe('1700000000.000100')
    const fresh = await openState()
    expect(fresh.store.get().newFrom).toBeNull()
  })

  test('is set after a reload for a channel without a read mark, unless the person is new', async () => {
    const known = await openState({ person: ada, readMarks: { [ada]: { [web]: '' } } })
    expect(known.store.get().newFrom).toBe('')
    const newcomer = await openState({ person: ada, readMarks: { [grace]: { [web]: '' } } })
    expect(newcomer.store.get().newFrom).toBeNull()
  })
})

describe('what a person sees', () => {
  test('is all public channels and their own; a guest sees only their own', async () => {
    const { store } = await openState()
    const shown = () => channelsOf(store.get()).map(({ id }) => id)
    expect(shown()).toEqual(expect.arrayContaining([builds, web, ops, elsewhere]))
    expect(shown()).not.toContain(secret)
    store.dispatch({ kind: 'acts-as', person: grace })
    expect(shown()).toContain(secret)
    store.dispatch({ kind: 'acts-as', person: gus })
    expect(shown()).toEqual(expect.arrayContaining([builds, web, elsewhere]))
    expect(shown()).not.toContain(ops)
  })

  test('is their first channel if they cannot see the open one', async () => {
    const { store } = await openState()
    store.dispatch({ kind: 'went', hash: `#${ops}/1.0` })
    expect(store.get().place).toEqual({ kind: 'channel', channel: ops, thread: '1.0' })
    store.dispatch({ kind: 'acts-as', person: gus })
    expect(store.get().place).toEqual({ kind: 'channel', channel: builds, thread: null })
  })

  test('does not include ephemeral messages of others or dismissed ones', async () => {
    const { store, tell } = await openState()
    tell({ onlyFor: ada })
    const own = store.get().messages.get(web)!.get(LATER)!
    expect(messagesFor(store.get(), web)).toEqual([own])
    expect(isForMe({ person: grace, dismissed: new Set() }, own)).toBe(false)
    store.dispatch({ kind: 'dismissed', message: own })
    expect(messagesFor(store.get(), web)).toEqual([])
  })
})

test.each(['#%', '#home/x/y', '#C0NOBODY', ''])('an invalid hash, %j, opens a valid place', async (hash) => {
  const { store } = await openState()
  store.dispatch({ kind: 'went', hash })
  expect(store.get().place).toMatchObject({ channel: builds, kind: hash.startsWith('#home') ? 'home' : 'channel' })
})

test('if the acting person is deactivated, another person becomes the acting one', async () => {
  const { store } = await openState()
  const user = { ...store.get().users.get(ada)!, isDeactivated: true }
  store.dispatch({ kind: 'changed', change: { kind: 'user', user }, isInSight: true })
  expect(store.get().person).toBe(grace)
})

test('a channel with a new id keeps its messages and stays open', async () => {
  const { store } = await openState()
  const channel = { ...store.get().channels.get(builds)!, id: 'C0MOVED001' }
  store.dispatch({ kind: 'changed', change: { kind: 'moved', from: builds, channel }, isInSight: true })
  expect(store.get().place.channel).toBe('C0MOVED001')
  expect(store.get().channels.has(builds)).toBe(false)
  expect(messagesFor(store.get(), 'C0MOVED001').map(({ text }) => text)).toEqual(['said before'])
})
