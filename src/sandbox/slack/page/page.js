// The page: what is known of the workspace, which channel and thread are open, and how it stays live.
import { h } from './blocks.js'
import { drawMessages } from './messages.js'

const byId = (id) => document.getElementById(id)
const state = { team: {}, bot: {}, users: {}, channels: new Map() }
const shown = { channel: null, thread: null }
const unread = new Set()
const NEAR_END_PX = 80

addEventListener('hashchange', followHash)
byId('thread-close').addEventListener('click', () => go(shown.channel))
byId('menu').addEventListener('click', toggleMenu)
byId('newer').addEventListener('click', () => scrollToEnd(byId('messages')))
byId('messages').addEventListener('scroll', () => isNearEnd(byId('messages')) && (byId('newer').hidden = true))
addEventListener('keydown', (event) => event.key === 'Escape' && shown.thread && go(shown.channel))
for (const form of document.querySelectorAll('form')) form.addEventListener('submit', (event) => event.preventDefault())
connect()

/** The stream first, then the state: nothing that happens in between is lost. Each reconnection begins afresh. */
function connect() {
  const stream = new EventSource('/sandbox/events')
  stream.addEventListener('hello', () => void load())
  stream.addEventListener('message', (event) => apply(JSON.parse(event.data)))
  stream.addEventListener('error', () => say('reconnecting…', false))
}

async function load() {
  const response = await fetch('/sandbox/state')
  const fresh = await response.json()
  state.team = fresh.team
  state.bot = fresh.bot
  state.users = Object.fromEntries(fresh.users.map((user) => [user.id, user]))
  state.channels = new Map(fresh.channels.map((channel) => [channel.id, withMessages(channel)]))
  say('live', true)
  byId('team').textContent = `${state.team.name} Slack`
  followHash()
}

const withMessages = (channel) => ({ ...channel, messages: new Map(channel.messages.map((one) => [one.ts, one])) })

function say(words, isLive) {
  byId('connection').textContent = words
  byId('connection').dataset.live = String(isLive)
}

function apply(change) {
  if (change.kind === 'channel') return applyChannel(change.channel)
  const id = change.kind === 'removed' ? change.channel : change.message.channel
  const channel = state.channels.get(id)
  if (!channel) return
  const isNew = change.kind === 'message' && !channel.messages.has(change.message.ts)
  if (change.kind === 'removed') channel.messages.delete(change.ts)
  else channel.messages.set(change.message.ts, change.message)
  if (isNew && id !== shown.channel && (!change.message.root || change.message.isBroadcast)) unread.add(id)
  if (id === shown.channel) drawOpen({ isNew })
  drawSidebar()
}

function applyChannel(channel) {
  const known = state.channels.get(channel.id)
  state.channels.set(channel.id, { ...channel, messages: known?.messages ?? new Map() })
  drawSidebar()
  if (channel.id === shown.channel) drawHeader()
}

// Where we are stands in the address: #C0BUILDS01 or #C0BUILDS01/1700000000.000100
function followHash() {
  const [channel, thread] = decodeURIComponent(location.hash.slice(1)).split('/')
  const known = state.channels.has(channel) ? channel : [...state.channels.keys()][0]
  if (known === undefined) return
  const isMove = known !== shown.channel
  const opens = Boolean(thread) && thread !== shown.thread
  shown.channel = known
  shown.thread = thread ?? null
  unread.delete(known)
  closeMenu()
  drawSidebar()
  drawHeader()
  drawOpen({ isMove })
  if (opens) byId('thread-title').focus()
}

const go = (channel, thread) => {
  location.hash = thread ? `${channel}/${thread}` : channel
}

function drawSidebar() {
  const channels = [...state.channels.values()]
  const directs = channels.filter(({ kind }) => kind === 'im')
  byId('channels').replaceChildren(...channels.filter(({ kind }) => kind !== 'im').map(channelItem))
  byId('directs').replaceChildren(...directs.map(channelItem))
  byId('direct-title').hidden = directs.length === 0
  const count = unread.size
  document.title = `${count > 0 ? `(${count}) ` : ''}${nameOf(state.channels.get(shown.channel))} · Sandbox Slack`
}

function channelItem(channel) {
  const isUnread = unread.has(channel.id)
  const classes = [isUnread ? 'unread' : '', channel.isArchived || !channel.hasBot ? 'quiet' : '']
    .filter(Boolean)
    .join(' ')
  const here = channel.id === shown.channel ? 'page' : null
  const mark = isUnread ? h('span', { class: 'dot' }, h('span', { class: 'hidden' }, 'unread')) : null
  return h('li', {}, h('a', { href: `#${channel.id}`, class: classes, 'aria-current': here }, nameOf(channel), mark))
}

const SIGNS = { public: '#', private: '🔒', im: '' }
const nameOf = (channel) => (channel ? `${SIGNS[channel.kind]} ${channel.name}`.trim() : '')

function drawHeader() {
  const channel = state.channels.get(shown.channel)
  byId('channel-name').textContent = nameOf(channel)
  byId('thread-channel').textContent = nameOf(channel)
  const facts = [
    `${channel.memberCount} members`,
    channel.isArchived ? 'archived' : '',
    channel.hasBot ? '' : `without ${state.bot.name}`,
  ]
  byId('channel-about').textContent = [...facts.filter(Boolean), channel.id].join(' · ')
}

function drawOpen({ isMove = false, isNew = false } = {}) {
  const channel = state.channels.get(shown.channel)
  const all = [...channel.messages.values()].sort((one, other) => compareTs(one.ts, other.ts))
  const replies = (root) => all.filter((message) => message.root === root)
  const scene = {
    users: state.users,
    names: names(),
    replies,
    openRoot: shown.thread,
    openThread: (root) => go(shown.channel, root),
  }
  const roots = all.filter((message) => !message.root || message.isBroadcast || message.onlyFor)
  fill(byId('messages'), roots.length > 0 ? drawMessages(roots, scene) : [emptyNote()], {
    isMove,
    isNew,
    newer: byId('newer'),
  })
  drawThread(channel.messages.get(shown.thread), replies, scene)
}

/** A ts has more digits than a double: the same length sorts as text, and a longer one is later. */
const compareTs = (one, other) => one.length - other.length || (one < other ? -1 : Number(one > other))

const names = () => ({
  users: Object.fromEntries(Object.values(state.users).map(({ id, realName }) => [id, realName])),
  channels: Object.fromEntries([...state.channels.values()].map(({ id, name }) => [id, name])),
})

const emptyNote = () => h('p', { class: 'empty muted' }, 'Nothing has been said here yet.')

function drawThread(root, replies, scene) {
  const pane = byId('thread')
  pane.hidden = !root
  document.body.classList.toggle('has-thread', Boolean(root))
  if (!root) return
  const thread = replies(root.ts)
  const inside = { ...scene, inThread: true }
  const line = h(
    'div',
    { class: 'day', role: 'separator' },
    h('span', {}, `${thread.length} ${thread.length === 1 ? 'reply' : 'replies'}`),
  )
  const [, ...rest] = drawMessages(thread, inside)
  fill(byId('replies'), [...drawMessages([root], inside), line, ...rest], {})
}

/** Redraws a list and keeps the reader's place: at the end one stays at the end, elsewhere nothing moves. */
function fill(list, items, { isMove = false, isNew = false, newer = null }) {
  const wasNearEnd = isMove || isNearEnd(list)
  const place = list.scrollTop
  const focused = list.contains(document.activeElement)
    ? document.activeElement.closest('[data-ts]')?.dataset.ts
    : undefined
  list.replaceChildren(...items)
  if (wasNearEnd) scrollToEnd(list)
  else list.scrollTop = place
  if (newer) newer.hidden = wasNearEnd || !(isNew || !newer.hidden)
  if (focused) list.querySelector(`[data-ts="${CSS.escape(focused)}"] .thread-link`)?.focus()
}

const isNearEnd = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END_PX
const scrollToEnd = (list) => {
  list.scrollTop = list.scrollHeight
}

function toggleMenu() {
  const isOpen = document.body.classList.toggle('has-menu')
  byId('menu').setAttribute('aria-expanded', String(isOpen))
  if (isOpen) byId('sidebar').querySelector('a')?.focus()
}

function closeMenu() {
  document.body.classList.remove('has-menu')
  byId('menu').setAttribute('aria-expanded', 'false')
}
