// One message as DOM: who, when, what, and the way into its thread.
import { drawBlocks, h, mrkdwn, picture } from './blocks.js'

const SAME_AUTHOR_MS = 5 * 60_000
const NAMED_COLORS = { good: '#2eb67d', warning: '#ecb22e', danger: '#e01e5a' }

/** A list of messages with a line for each day, and names only where the speaker changes. */
export function drawMessages(messages, scene) {
  const items = []
  let previous
  for (const message of messages) {
    if (!previous || dayOf(previous.ts) !== dayOf(message.ts)) items.push(dayLine(message.ts))
    items.push(drawMessage(message, { ...scene, isContinued: continues(previous, message, scene) }))
    previous = message
  }
  return items
}

const continues = (previous, message, { inThread }) =>
  Boolean(previous) &&
  previous.user === message.user &&
  !previous.onlyFor &&
  !message.onlyFor &&
  !message.isTombstone &&
  (inThread || !message.isBroadcast) &&
  dayOf(previous.ts) === dayOf(message.ts) &&
  (Number(message.ts) - Number(previous.ts)) * 1000 < SAME_AUTHOR_MS

const dateOf = (ts) => new Date(Number(ts) * 1000)
const dayOf = (ts) => dateOf(ts).toDateString()

function dayLine(ts) {
  const isToday = dayOf(ts) === new Date().toDateString()
  const words = dateOf(ts).toLocaleDateString('en', { weekday: 'long', month: 'long', day: 'numeric' })
  return h('div', { class: 'day', role: 'separator' }, h('span', {}, isToday ? 'Today' : words))
}

function drawMessage(message, scene) {
  const author = scene.users[message.user] ?? { realName: message.user, role: 'member' }
  const { isContinued } = scene
  const when = clock(message.ts)
  const gutter = isContinued ? h('span', { class: 'when aside' }, when) : avatar(author)
  const classes = ['message', isContinued ? 'continued' : '', message.onlyFor ? 'ephemeral' : '']
    .filter(Boolean)
    .join(' ')
  return h(
    'article',
    { class: classes, 'data-ts': message.ts, 'aria-label': `${author.realName}, ${when}` },
    h('div', { class: 'gutter' }, gutter),
    h(
      'div',
      { class: 'content' },
      isContinued ? null : byline(author, message),
      message.onlyFor ? h('p', { class: 'muted small' }, '👁 Only visible to you') : null,
      broadcastMark(message, scene),
      body(message, scene),
      reactions(message),
      threadButton(message, scene),
    ),
    moreButton(message, author, scene),
  )
}

const clock = (ts) => dateOf(ts).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

const avatar = ({ realName, role, id }) =>
  h(
    'span',
    { class: `avatar ${role === 'bot' ? 'bot' : `tint-${tintOf(id ?? realName)}`}`, 'aria-hidden': 'true' },
    role === 'bot' ? '⚙' : realName.slice(0, 1),
  )

const tintOf = (text) => [...text].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 5

const byline = (author, message) =>
  h(
    'p',
    { class: 'byline' },
    h('b', {}, author.realName),
    author.role === 'bot' ? h('span', { class: 'badge' }, 'APP') : null,
    h(
      'time',
      { class: 'when', datetime: dateOf(message.ts).toISOString(), title: dateOf(message.ts).toLocaleString() },
      clock(message.ts),
    ),
  )

function broadcastMark(message, { inThread, openThread }) {
  if (!message.isBroadcast) return null
  if (inThread) return h('p', { class: 'muted small' }, '↪ Also sent to the channel')
  const button = h('button', { type: 'button', class: 'textlink', 'data-key': 'root' }, 'a thread')
  button.addEventListener('click', () => openThread(message.root))
  return h('p', { class: 'muted small' }, '↪ replied to ', button)
}

function body(message, scene) {
  if (message.isTombstone) return h('p', { class: 'muted' }, '🗑 This message was deleted.')
  const blocks = message.blocks ?? []
  const attachments = message.attachments ?? []
  const { names } = scene
  const inside = { names, press: (...what) => scene.press(message, ...what) }
  // As in Slack: with blocks, the text is for notifications and screen readers; beside attachments alone it is shown.
  const text = blocks.length === 0 && message.text ? h('div', { class: 'text' }, mrkdwn(message.text, names)) : null
  const edited =
    message.editCount > 0
      ? h('span', { class: 'muted edited', title: `edited ${message.editCount} times` }, ' (edited)')
      : null
  const parts = [text, ...drawBlocks(blocks, inside)].filter(Boolean)
  if (edited && text) text.append(edited)
  return h(
    'div',
    { class: 'body' },
    parts,
    attachments.map((one) => attachment(one, inside)),
    (message.files ?? []).map(drawFile),
    edited && !text ? edited : null,
  )
}

/** A picture is shown; any other file is a link to its bytes. */
function drawFile({ mimetype, name, title, url_private: url, alt_txt: alt }) {
  const isPicture = mimetype.startsWith('image/')
  const shown = isPicture ? picture({ image_url: url, alt_text: alt ?? title }) : h('a', { href: url }, title)
  return h('figure', { class: 'block image file' }, isPicture ? h('figcaption', {}, name) : null, shown)
}

function attachment(one, scene) {
  const { names } = scene
  const box = h(
    'div',
    { class: 'attachment' },
    one.pretext ? h('div', { class: 'text' }, mrkdwn(one.pretext, names)) : null,
    one.title ? h('div', {}, h('b', {}, one.title)) : null,
    one.text ? h('div', { class: 'text' }, mrkdwn(one.text, names)) : null,
    drawBlocks(one.blocks ?? [], scene),
    one.footer ? h('div', { class: 'muted small' }, one.footer) : null,
  )
  const color =
    NAMED_COLORS[one.color] ?? (/^#?[0-9a-f]{3,6}$/i.test(one.color ?? '') ? `#${one.color.replace('#', '')}` : null)
  if (color) box.style.setProperty('--bar', color)
  return box
}

function reactions({ reactions: given = [] }) {
  if (given.length === 0) return null
  return h(
    'p',
    { class: 'reactions' },
    given.map(({ name, count }) => h('span', {}, mrkdwn(`:${name}:`, {}), ` ${count}`)),
  )
}

function threadButton(message, { inThread, replies, users, openThread, openRoot }) {
  if (inThread || message.root) return null
  const thread = replies(message.ts)
  if (thread.length === 0) return null
  const faces = [...new Set(thread.map((reply) => reply.user))]
    .slice(0, 3)
    .map((id) => avatar(users[id] ?? { realName: id, role: 'member' }))
  const last = h('span', { class: 'muted' }, `last at ${clock(thread.at(-1).ts)}`)
  const open = message.ts === openRoot
  const button = h(
    'button',
    {
      type: 'button',
      class: 'thread-link',
      'aria-expanded': String(open),
      'aria-controls': 'thread',
      'data-key': 'thread',
    },
    faces,
    h('b', {}, countOf(thread)),
    last,
  )
  button.addEventListener('click', () => openThread(message.ts))
  return button
}

/** How many replies a thread has; what one person alone sees is none. */
export function countOf(thread) {
  const count = thread.filter(({ onlyFor }) => !onlyFor).length
  return `${count} ${count === 1 ? 'reply' : 'replies'}`
}

function moreButton(message, author, { openMenu, inThread }) {
  if (message.onlyFor || message.isTombstone) return null
  const name = `Message of ${author.realName}, ${clock(message.ts)}`
  const attributes = { 'aria-label': 'More actions', 'aria-haspopup': 'dialog', 'data-key': 'more' }
  const button = h('button', { type: 'button', class: 'more', ...attributes }, '⋯')
  button.addEventListener('click', () => openMenu(message, name, { canReply: !inThread && !message.root }))
  return button
}
