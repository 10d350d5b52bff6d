// Slack's mrkdwn as a tree of plain objects; what draws it puts every text in as text, so nothing here can become markup.

const EMOJI = {
  x: '❌',
  white_check_mark: '✅',
  heavy_check_mark: '✔️',
  tada: '🎉',
  rocket: '🚀',
  warning: '⚠️',
  hourglass: '⌛',
  hourglass_flowing_sand: '⏳',
  large_blue_circle: '🔵',
  red_circle: '🔴',
  large_green_circle: '🟢',
  large_yellow_circle: '🟡',
  large_orange_circle: '🟠',
  white_circle: '⚪',
  black_circle: '⚫',
  black_square_for_stop: '⏹️',
  octagonal_sign: '🛑',
  no_entry: '⛔',
  no_entry_sign: '🚫',
  double_vertical_bar: '⏸️',
  pause_button: '⏸️',
  arrow_forward: '▶️',
  arrows_counterclockwise: '🔄',
  repeat: '🔁',
  recycle: '♻️',
  construction: '🚧',
  wrench: '🔧',
  hammer: '🔨',
  hammer_and_wrench: '🛠️',
  gear: '⚙️',
  bell: '🔔',
  no_bell: '🔕',
  speech_balloon: '💬',
  eyes: '👀',
  fire: '🔥',
  sparkles: '✨',
  robot_face: '🤖',
  information_source: 'ℹ️',
  question: '❓',
  grey_question: '❔',
  exclamation: '❗',
  bulb: '💡',
  lock: '🔒',
  key: '🔑',
  package: '📦',
  memo: '📝',
  link: '🔗',
  calendar: '📅',
  clock1: '🕐',
  stopwatch: '⏱️',
  zzz: '💤',
  wave: '👋',
  '+1': '👍',
  '-1': '👎',
  thumbsup: '👍',
  heart: '❤️',
  green_heart: '💚',
  broken_heart: '💔',
  boom: '💥',
  bug: '🐛',
  mag: '🔍',
  bar_chart: '📊',
  radio_button: '🔘',
  heavy_minus_sign: '➖',
  ballot_box_with_check: '☑️',
  skull: '💀',
  computer: '💻',
  desktop_computer: '🖥️',
}

const PATTERN = new RegExp(
  [
    '```([\\s\\S]+?)```',
    '`([^`\\n]+)`',
    '<([^<>\\n]+)>',
    ':([a-z0-9_+-]+):',
    '(?<![\\w*])\\*(?=\\S)([^*\\n]*[^*\\s])\\*(?![\\w*])',
    '(?<![\\w_])_(?=\\S)([^_\\n]*[^_\\s])_(?![\\w_])',
    '(?<![\\w~])~(?=\\S)([^~\\n]*[^~\\s])~(?![\\w~])',
  ].join('|'),
)

/** mrkdwn → a list of `{ kind, text | children, … }`. `names` resolves user and channel ids. */
export function parseMrkdwn(text, names = {}) {
  const nodes = []
  let rest = text
  // The characters around a mark decide whether it opens; so each step looks at the whole rest, the last one kept before it.
  for (let match = PATTERN.exec(rest); match; match = PATTERN.exec(rest)) {
    if (match.index > 0) nodes.push(plain(rest.slice(0, match.index)))
    nodes.push(nodeOf(match, names))
    rest = rest.slice(match.index + match[0].length)
  }
  if (rest) nodes.push(plain(rest))
  return nodes
}

/** mrkdwn as one would read it aloud: emoji by their names. */
export const plainText = (text, names) => parseMrkdwn(text, names).map(spoken).join('')

const spoken = ({ kind, name, text, children }) => {
  if (kind === 'emoji') return name.replaceAll('_', ' ')
  return children ? children.map(spoken).join('') : text
}

const plain = (text) => ({ kind: 'text', text: unescape(text) })

/** Slack escapes three characters; they are shown as what they stand for. */
const unescape = (text) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

function nodeOf([whole, pre, code, angle, emoji, bold, italic, strike], names) {
  if (pre !== undefined) return { kind: 'pre', text: unescape(pre.replace(/^\n/, '')) }
  if (code !== undefined) return { kind: 'code', text: unescape(code) }
  if (angle !== undefined) return angleNode(angle, names)
  if (emoji !== undefined) return emojiNode(emoji, whole)
  if (bold !== undefined) return { kind: 'bold', children: parseMrkdwn(bold, names) }
  if (italic !== undefined) return { kind: 'italic', children: parseMrkdwn(italic, names) }
  return { kind: 'strike', children: parseMrkdwn(strike, names) }
}

export const emojiNode = (name, whole = `:${name}:`) =>
  Object.hasOwn(EMOJI, name) ? { kind: 'emoji', text: EMOJI[name], name } : { kind: 'text', text: whole }

function angleNode(inside, names) {
  const [target, ...labels] = inside.split('|')
  const label = labels.length > 0 ? unescape(labels.join('|')) : ''
  if (target.startsWith('@')) return mention(`@${label || names.users?.[target.slice(1)] || target.slice(1)}`)
  if (target.startsWith('#')) return mention(`#${label || names.channels?.[target.slice(1)] || target.slice(1)}`)
  if (target.startsWith('!subteam^')) return mention(label || `@${target.slice('!subteam^'.length)}`)
  if (target.startsWith('!date^')) return dateNode(target, label)
  if (target.startsWith('!')) return mention(`@${label || target.slice(1)}`)
  const url = safeUrl(unescape(target))
  if (!url) return { kind: 'text', text: label || `<${unescape(target)}>` }
  return { kind: 'link', url, children: label ? labelNodes(label) : [{ kind: 'text', text: unescape(target) }] }
}

const mention = (text) => ({ kind: 'mention', text })

/** A label is plain but for emoji. */
const labelNodes = (label) =>
  label
    .split(/(:[a-z0-9_+-]+:)/)
    .filter(Boolean)
    .map((part) => (/^:.+:$/.test(part) ? emojiNode(part.slice(1, -1)) : { kind: 'text', text: part }))

/** Only web and mail addresses are followed; null for any other. */
export function safeUrl(text) {
  if (!URL.canParse(text)) return null
  return ['http:', 'https:', 'mailto:'].includes(new URL(text).protocol) ? text : null
}

const DATE_PARTS = {
  date_num: { year: 'numeric', month: '2-digit', day: '2-digit' },
  date: { year: 'numeric', month: 'long', day: 'numeric' },
  date_short: { year: 'numeric', month: 'short', day: 'numeric' },
  date_long: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  date_pretty: { year: 'numeric', month: 'long', day: 'numeric' },
  date_short_pretty: { year: 'numeric', month: 'short', day: 'numeric' },
  date_long_pretty: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  time_secs: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
}

function dateNode(target, fallback) {
  const [, seconds, format = '{date} {time}', link] = target.split('^')
  const date = new Date(Number(seconds) * 1000)
  if (Number.isNaN(date.getTime())) return { kind: 'text', text: fallback }
  const text = unescape(format).replaceAll(/\{(\w+)\}/g, (whole, part) => formatPart(date, part) ?? whole)
  const url = link ? safeUrl(unescape(link)) : null
  return url
    ? { kind: 'link', url, children: [{ kind: 'text', text }] }
    : { kind: 'time', text, iso: date.toISOString() }
}

function formatPart(date, part) {
  if (part === 'ago') return ago(date)
  if (!Object.hasOwn(DATE_PARTS, part)) return undefined
  return new Intl.DateTimeFormat(undefined, DATE_PARTS[part]).format(date)
}

function ago(date) {
  const minutes = Math.round((Date.now() - date.getTime()) / 60_000)
  const [count, unit] =
    Math.abs(minutes) < 60
      ? [minutes, 'minute']
      : Math.abs(minutes) < 1440
        ? [Math.round(minutes / 60), 'hour']
        : [Math.round(minutes / 1440), 'day']
  return new Intl.RelativeTimeFormat('en').format(-count, unit)
}
