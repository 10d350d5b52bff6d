import type { Theme } from '../look/theme.ts'
import { plainText } from '../slack/mrkdwn.ts'
import type { AppWords, Change, Channel, Message, Snapshot, Team, User, Views } from './wire.ts'

/** What is open, from the URL's hash: `#C0BUILDS01`, `#C0BUILDS01/<ts>` with a thread, `#home`. */
export interface Place {
  kind: 'channel' | 'home'
  /** the open channel; while the home tab is open, the last one */
  channel: string
  thread: string | null
}

/** The ts up to which a person has read a channel, by person and channel. */
export type ReadMarks = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface State {
  /** false until the first state arrives */
  isLoaded: boolean
  isLive: boolean
  /** the sandbox's time, updated every minute */
  nowMs: number
  team: Team
  bot: { userId: string; name: string }
  app: AppWords
  hasGallery: boolean
  users: ReadonlyMap<string, User>
  userGroups: Snapshot['userGroups']
  channels: ReadonlyMap<string, Channel>
  /** by channel, then by ts */
  messages: ReadonlyMap<string, ReadonlyMap<string, Message>>
  views: Readonly<Record<string, Views>>
  /** the id of the acting person; '' until people are known */
  person: string
  place: Place
  readMarks: ReadMarks
  /** the ts after which the line "New" is drawn: the read mark when the channel was opened; null: nothing was new */
  newFrom: string | null
  /** the ephemeral messages that were dismissed, as `channel/ts` */
  dismissed: ReadonlySet<string>
  /** whether the acting person has done something and waits for an answer */
  isWaiting: boolean
  /** `channel/ts` of the newest message that resulted: their own, or an answer that only they see */
  answer: string | null
  /** the last error */
  trouble: string | null
  /** the text for screen readers */
  news: string
  theme: Theme
  /** the open panel of the dock */
  dock: string | null
  isMenuOpen: boolean
}

export type Action =
  | { kind: 'loaded'; snapshot: Snapshot }
  | { kind: 'changed'; change: Change; isInSight: boolean }
  | { kind: 'clock'; nowMs: number }
  | { kind: 'lost' }
  | { kind: 'went'; hash: string }
  | { kind: 'acts-as'; person: string }
  | { kind: 'acted' }
  | { kind: 'read' }
  | { kind: 'dismissed'; message: Message }
  | { kind: 'told'; trouble: string | null }
  | { kind: 'theme'; theme: Theme }
  | { kind: 'dock'; panel: string | null }
  | { kind: 'menu'; isOpen: boolean }

export type Kept = Pick<State, 'person' | 'readMarks' | 'dismissed' | 'theme' | 'dock'>

/** The state before the stream starts. `kept` is from the browser's storage. */
export const emptyState = (kept: Kept): State => ({
  isLoaded: false,
  isLive: false,
  nowMs: 0,
  team: { id: '', name: 'Sandbox' },
  bot: { userId: '', name: '' },
  app: { commands: [], shortcuts: [], isReadOnly: true },
  hasGallery: false,
  users: new Map(),
  userGroups: [],
  channels: new Map(),
  messages: new Map(),
  views: {},
  place: { kind: 'channel', channel: '', thread: null },
  newFrom: null,
  isWaiting: false,
  answer: null,
  trouble: null,
  news: '',
  isMenuOpen: false,
  ...kept,
})

export function reduce(state: State, action: Action): State {
  switch (action.kind) {
    case 'loaded':
      return load(state, action.snapshot)
    case 'changed':
      return applyChange(state, action.change, action.isInSight)
    case 'clock':
      return { ...state, nowMs: action.nowMs }
    case 'lost':
      return { ...state, isLive: false }
    case 'went':
      return go(state, action.hash)
    case 'acts-as':
      return actAs(state, action.person)
    case 'acted':
      return { ...state, isWaiting: true }
    case 'read':
      return markRead({ ...state, newFrom: newFromIn(state) ?? state.newFrom })
    case 'dismissed':
      return { ...state, dismissed: new Set([...state.dismissed, keyOf(action.message)]) }
    case 'told':
      return { ...state, trouble: action.trouble }
    case 'theme':
      return { ...state, theme: action.theme }
    case 'dock':
      return { ...state, dock: action.panel }
    case 'menu':
      return { ...state, isMenuOpen: action.isOpen }
    default:
      return action satisfies never
  }
}

export const keyOf = ({ channel, ts }: Pick<Message, 'channel' | 'ts'>): string => `${channel}/${ts}`

function load(state: State, snapshot: Snapshot): State {
  const { nowMs, team, bot, app, hasGallery, users, userGroups, channels, views } = snapshot
  const known = {
    ...state,
    isLoaded: true,
    isLive: true,
    nowMs,
    team,
    bot,
    app,
    hasGallery,
    userGroups,
    views,
    users: new Map(users.map((user) => [user.id, user])),
    channels: new Map(channels.map(({ messages: _messages, ...channel }) => [channel.id, channel])),
    messages: new Map(channels.map(({ id, messages }) => [id, new Map(messages.map((one) => [one.ts, one]))])),
  }
  const people = actorsOf(known)
  const person = people.some(({ id }) => id === state.person) ? state.person : (people[0]?.id ?? '')
  return { ...known, person, readMarks: withStart(known, people) }
}

/** For a new person, all existing messages count as read. */
function withStart(state: State, people: readonly User[]): ReadMarks {
  const newest = Object.fromEntries([...state.messages].map(([id, messages]) => [id, newestOf(messages)]))
  return Object.fromEntries(people.map(({ id }) => [id, state.readMarks[id] ?? newest]))
}

const newestOf = (messages: ReadonlyMap<string, Message>): string =>
  [...messages.keys()].reduce((newest, ts) => (compareTs(newest, ts) < 0 ? ts : newest), '')

/** The people that one can act as: active people of the workspace itself, without apps. */
export const actorsOf = ({ users }: Pick<State, 'users'>): User[] =>
  [...users.values()].filter(({ role, team, isDeactivated }) => role !== 'bot' && !team && !isDeactivated)

/** Compares as text, because a ts has too many digits for a double. A longer ts is later. */
export const compareTs = (one: string, other: string): number =>
  one.length - other.length || (one < other ? -1 : Number(one > other))

function applyChange(state: State, change: Change, isInSight: boolean): State {
  switch (change.kind) {
    case 'message':
      return withMessage(state, change.message, isInSight)
    case 'removed':
      return { ...state, messages: changed(state, change.channel, (messages) => void messages.delete(change.ts)) }
    case 'channel':
      return { ...state, channels: new Map([...state.channels, [change.channel.id, change.channel]]) }
    case 'moved':
      return moveChannel(state, change.from, change.channel)
    case 'user':
      return withUser(state, change.user)
    case 'views':
      return { ...state, views: { ...state.views, [change.user]: { stack: change.stack, home: change.home } } }
    default:
      return change satisfies never
  }
}

/** What is known of a channel, under its new id. Messages name their channel, so they are changed too. */
function moveChannel(state: State, from: string, channel: Channel): State {
  const { [from]: _gone, ...channels } = Object.fromEntries(state.channels)
  const messages = new Map(state.messages)
  const held = [...(messages.get(from)?.values() ?? [])].map((one) => ({ ...one, channel: channel.id }))
  messages.delete(from)
  messages.set(channel.id, new Map(held.map((one) => [one.ts, one])))
  const place = state.place.channel === from ? { ...state.place, channel: channel.id } : state.place
  return { ...state, channels: new Map(Object.entries({ ...channels, [channel.id]: channel })), messages, place }
}

function changed(state: State, channel: string, change: (messages: Map<string, Message>) => void) {
  const messages = new Map(state.messages.get(channel))
  change(messages)
  return new Map([...state.messages, [channel, messages]])
}

/** Adds a message. It counts as read if its channel is open and visible, or if the acting person wrote it. */
function withMessage(state: State, message: Message, isInSight: boolean): State {
  const { channel, ts, user } = message
  const isNew = state.messages.get(channel)?.has(ts) !== true
  const messages = changed(state, channel, (known) => void known.set(ts, message))
  const isAnswer = isNew && state.isWaiting && (message.onlyFor ?? user) === state.person
  const answered = isAnswer ? { isWaiting: false, answer: keyOf(message) } : {}
  const next = { ...state, ...answered, messages, news: isNew ? newsOf(state, message) : state.news }
  const isRead = user === state.person || (isInSight && isOpen(state, channel))
  return isRead ? mark(next, channel) : next
}

/** The text for screen readers after a new message, if the message is in the open channel or thread. */
function newsOf(state: State, { channel, root, isBroadcast, onlyFor, user, text = '' }: Message): string {
  const isForMe = onlyFor === undefined || onlyFor === state.person
  const isShown = root === null || isBroadcast || root === state.place.thread
  if (!isForMe || !isShown || !isOpen(state, channel)) return state.news
  const users = Object.fromEntries([...state.users.values()].map(({ id, realName }) => [id, realName]))
  return `${users[user] ?? user}: ${plainText(text, { users })}`
}

function withUser(state: State, user: User): State {
  const next = { ...state, users: new Map([...state.users, [user.id, user]]) }
  const people = actorsOf(next)
  const isThere = people.some(({ id }) => id === state.person)
  return isThere ? next : { ...next, person: people[0]?.id ?? '' }
}

const isOpen = ({ place }: State, channel: string): boolean => place.kind === 'channel' && place.channel === channel

function mark(state: State, channel: string): State {
  const own = state.readMarks[state.person] ?? {}
  const newest = newestOf(state.messages.get(channel) ?? new Map())
  if (newest === '' || compareTs(newest, own[channel] ?? '') <= 0) return state
  return { ...state, readMarks: { ...state.readMarks, [state.person]: { ...own, [channel]: newest } } }
}

const markRead = (state: State): State => (state.place.kind === 'channel' ? mark(state, state.place.channel) : state)

function go(state: State, hash: string): State {
  const [name = '', thread] = decode(hash).split('/')
  const kind = name === 'home' ? 'home' : 'channel'
  const channel = channelFor(state, kind === 'home' ? state.place.channel : name)
  const place: Place = { kind, channel, thread: kind === 'home' ? null : (thread ?? null) }
  const isOther = kind === 'channel' && (channel !== state.place.channel || state.place.kind === 'home')
  const next = { ...state, place, isMenuOpen: false }
  return markRead(isOther ? { ...next, newFrom: newFromIn(next) } : next)
}

function decode(hash: string): string {
  try {
    return decodeURIComponent(hash.replace(/^#/, ''))
  } catch {
    return ''
  }
}

function channelFor(state: State, wanted: string): string {
  const shown = channelsOf(state).map(({ id }) => id)
  return shown.includes(wanted) ? wanted : (shown[0] ?? '')
}

function actAs(state: State, person: string): State {
  const next = { ...state, person, isWaiting: false, trouble: null }
  const channel = channelFor(next, state.place.channel)
  const isSame = channel === state.place.channel
  const place = { ...state.place, channel, thread: isSame ? state.place.thread : null }
  const moved = { ...next, place }
  return markRead({ ...moved, newFrom: newFromIn(moved) })
}

/** The read mark of the open channel, if something newer exists; otherwise null. */
function newFromIn({ messages, person, place: { channel }, readMarks }: State): string | null {
  const read = readMarks[person]?.[channel] ?? ''
  return compareTs(newestOf(messages.get(channel) ?? new Map()), read) > 0 ? read : null
}

/** The channels that the acting person can see: their own, and unless they are a guest, all public ones. */
export function channelsOf({ channels, users, person }: Pick<State, 'channels' | 'users' | 'person'>): Channel[] {
  const isGuest = users.get(person)?.role === 'guest'
  return [...channels.values()].filter(
    ({ kind, members }) => members.includes(person) || (kind === 'public' && !isGuest),
  )
}
