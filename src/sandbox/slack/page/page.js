// The page: what is known of the workspace, which channel and thread are open, how it stays live, and what people do.
import { h } from './blocks.js'
import { createComposer } from './composer.js'
import { isSaid, perform, readTyped, troubleOf } from './deeds.js'
import { chooseAct, isSure } from './dialogs.js'
import { fill, isNearEnd, scrollToEnd } from './list.js'
import { countOf, drawMessages } from './messages.js'
import { plainText } from './mrkdwn.js'
import { offerPeople, onPersonChange, person } from './person.js'
import { createSurfaces } from './surfaces.js'

const byId = (id) => document.getElementById(id)
const state = { team: {}, bot: {}, users: {}, channels: new Map() }
const shown = { channel: null, thread: null, homeOf: null }
const unread = new Set()
const surfaces = createSurfaces({
  bot: () => state.bot.name,
  people: () => ({
    names: names(),
    users: Object.values(state.users),
    channels: [...state.channels.values()],
    person: person(),
  }),
  act: async (deed) => (await act(deed)).outcome,
})
const composers = {
  channel: createComposer(byId('write'), deliver),
  thread: createComposer(byId('write-reply'), deliver),
}

addEventListener('hashchange', followHash)
onPersonChange(followHash)
byId('thread-close').addEventListener('click', () => go(shown.channel))
byId('trouble-close').addEventListener('click', () => showTrouble(null))
byId('menu').addEventListener('click', toggleMenu)
byId('newer').addEventListener('click', () => scrollToEnd(byId('messages')))
byId('messages').addEventListener('scroll', () => isNearEnd(byId('messages')) && (byId('newer').hidden = true))
byId('find-build').addEventListener('click', useShortcut)
addEventListener('keydown', closeByKey)
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
  surfaces.load(fresh.views)
  offerPeople(fresh.users)
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
  if (change.kind === 'user') return applyUser(change.user)
  if (change.kind === 'views') return applyViews(change)
  const id = change.kind === 'removed' ? change.channel : change.message.channel
  const channel = state.channels.get(id)
  if (!channel) return
  const isNew = change.kind === 'message' && !channel.messages.has(change.message.ts)
  if (change.kind === 'removed') channel.messages.delete(change.ts)
  else channel.messages.set(change.message.ts, change.message)
  if (isNew) announce(change.message)
  if (id === shown.channel) drawOpen({ isNew, toEnd: isNew && change.message.user === person() })
  drawSidebar()
}

/** A new message is read aloud where it is in view, and elsewhere marks its channel. */
function announce(message) {
  if (!isForMe(message)) return
  const isInChannel = !message.root || message.isBroadcast
  if (message.channel !== shown.channel || shown.homeOf) return isInChannel ? unread.add(message.channel) : undefined
  if (!isInChannel && message.root !== shown.thread) return
  byId('news').textContent = `${state.users[message.user]?.realName}: ${plainText(message.text ?? '', names())}`
}

const isForMe = ({ onlyFor }) => !onlyFor || onlyFor === person()

function applyUser(user) {
  state.users[user.id] = user
  offerPeople(Object.values(state.users))
  followHash()
}

function applyViews(change) {
  surfaces.change(change)
  if (change.user === person()) surfaces.draw()
}

function applyChannel(channel) {
  const known = state.channels.get(channel.id)
  state.channels.set(channel.id, { ...channel, messages: known?.messages ?? new Map() })
  drawSidebar()
  if (channel.id !== shown.channel) return
  drawHeader()
  drawComposers()
}

// Where we are stands in the address: #home, #C0BUILDS01 or #C0BUILDS01/1700000000.000100
function followHash() {
  const [place, thread] = decodeURIComponent(location.hash.slice(1)).split('/')
  const isHome = place === 'home'
  const channel = isHome ? shown.channel : place
  const known = state.channels.has(channel) ? channel : [...state.channels.keys()][0]
  if (known === undefined) return
  const isMove = known !== shown.channel
  const opens = Boolean(thread) && thread !== shown.thread
  shown.channel = known
  shown.thread = thread ?? null
  if (!isHome) unread.delete(known)
  showHome(isHome)
  closeMenu()
  drawSidebar()
  drawHeader()
  drawOpen({ toEnd: isMove })
  drawComposers()
  if (opens) byId('thread-title').focus()
}

/** The bot is told when the home tab is opened, and not each time that it is drawn. */
function showHome(isHome) {
  const opens = isHome && shown.homeOf !== person()
  shown.homeOf = isHome ? person() : null
  byId('home').hidden = !isHome
  document.body.classList.toggle('has-home', isHome)
  surfaces.draw()
  if (opens) void act({ kind: 'open-home', user: person() })
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
  const place = shown.homeOf ? 'Home' : nameOf(state.channels.get(shown.channel))
  document.title = `${count > 0 ? `(${count}) ` : ''}${place} · Sandbox Slack`
  if (shown.homeOf) byId('home-link').setAttribute('aria-current', 'page')
  else byId('home-link').removeAttribute('aria-current')
}

function channelItem(channel) {
  const isUnread = unread.has(channel.id)
  const classes = [isUnread ? 'unread' : '', channel.isArchived || !channel.hasBot ? 'quiet' : '']
    .filter(Boolean)
    .join(' ')
  const here = channel.id === shown.channel && !shown.homeOf ? 'page' : null
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
    `${channel.members.length} members`,
    channel.isArchived ? 'archived' : '',
    channel.hasBot ? '' : `without ${state.bot.name}`,
  ]
  byId('channel-about').textContent = [...facts.filter(Boolean), channel.id].join(' · ')
}

function drawOpen({ toEnd = false, isNew = false } = {}) {
  const channel = state.channels.get(shown.channel)
  const all = [...channel.messages.values()].filter(isForMe).sort((one, other) => compareTs(one.ts, other.ts))
  const replies = (root) => all.filter((message) => message.root === root)
  const scene = {
    users: state.users,
    names: names(),
    replies,
    openRoot: shown.thread,
    openThread: (root) => go(shown.channel, root),
    press,
    openMenu,
  }
  const roots = all.filter((message) => !message.root || message.isBroadcast)
  const items = roots.length > 0 ? drawMessages(roots, scene) : [emptyNote()]
  fill(byId('messages'), items, { toEnd, isNew, newer: byId('newer') })
  drawThread(channel.messages.get(shown.thread), replies, scene, { toEnd })
}

/** A ts has more digits than a double: the same length sorts as text, and a longer one is later. */
const compareTs = (one, other) => one.length - other.length || (one < other ? -1 : Number(one > other))

const names = () => ({
  users: Object.fromEntries(Object.values(state.users).map(({ id, realName }) => [id, realName])),
  channels: Object.fromEntries([...state.channels.values()].map(({ id, name }) => [id, name])),
})

const emptyNote = () => h('p', { class: 'empty muted' }, 'Nothing has been said here yet.')

function drawThread(root, replies, scene, { toEnd }) {
  const pane = byId('thread')
  pane.hidden = !root
  document.body.classList.toggle('has-thread', Boolean(root))
  if (!root) return
  const thread = replies(root.ts)
  const inside = { ...scene, inThread: true }
  const line = h('div', { class: 'day', role: 'separator' }, h('span', {}, countOf(thread)))
  const [, ...rest] = drawMessages(thread, inside)
  fill(byId('replies'), [...drawMessages([root], inside), line, ...rest], { toEnd })
}

function drawComposers() {
  const channel = state.channels.get(shown.channel)
  const { realName } = state.users[person()]
  const closed = closedBecause(channel, realName)
  const at = { channel: channel.id }
  composers.channel.show(at, { label: `Message ${placeOf(channel)} as ${realName}`, closed })
  composers.thread.show({ ...at, threadTs: shown.thread }, { label: `Reply as ${realName}`, closed })
}

const placeOf = ({ kind, name }) => (kind === 'im' ? name : `#${name}`)

function closedBecause(channel, realName) {
  if (channel.isArchived) return `${placeOf(channel)} is archived`
  return channel.members.includes(person()) ? null : `${realName} is not in ${placeOf(channel)}`
}

async function deliver(text, place) {
  const typed = readTyped(text, { ...place, user: person() }, state.bot.name)
  if (typed?.deed) return (await act(typed.deed)).isDone
  showTrouble(typed?.trouble ?? null)
  return typed === null
}

/** Does it and shows what went wrong; `isDone` is false when it is to be done anew. */
async function act(deed) {
  const { status, outcome } = await perform(deed)
  const trouble = troubleOf(outcome, state.bot.name)
  showTrouble(trouble)
  return { outcome, isDone: trouble === null || isSaid(deed, status) }
}

async function press(message, element, blockId, selected) {
  const isLink = element.url !== undefined
  if (element.confirm && !isLink && !(await isSure(element.confirm))) return
  const what = { actionId: element.action_id, blockId, ...(selected ? { selected } : {}) }
  await act({ kind: 'click', user: person(), channel: message.channel, ts: message.ts, ...what })
}

async function useShortcut({ currentTarget }) {
  const { value: callbackId } = currentTarget
  closeMenu()
  await act({ kind: 'global-shortcut', user: person(), callbackId })
}

async function openMenu(message, name, { canReply }) {
  const chosen = await chooseAct(name, { canReply })
  if (chosen === 'reply') return go(message.channel, message.ts)
  if (!chosen) return
  await act({ kind: 'shortcut', user: person(), channel: message.channel, ts: message.ts, callbackId: chosen })
}

/** In the modal too: while it is open, nothing behind it is read. */
function showTrouble(words) {
  byId('trouble-words').textContent = words ?? ''
  byId('modal-trouble').textContent = words ?? ''
  byId('trouble-close').hidden = words === null
}

/** Escape closes what lies on top: a dialog does so by itself. */
function closeByKey({ key }) {
  if (key !== 'Escape' || document.querySelector('dialog[open]')) return
  if (shown.thread) go(shown.channel)
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
