// Parses Slack's mrkdwn into a tree of plain objects. All texts are drawn as text, so they cannot become markup.
import { dateText } from './dates.ts'
import { emojiNamed } from './emoji.ts'

export type Node =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'pre'; text: string }
  | { kind: 'bold' | 'italic' | 'strike' | 'quote'; children: Node[] }
  | { kind: 'link'; url: string; children: Node[] }
  | { kind: 'emoji'; text: string; name: string }
  /** `isMe`: it mentions the acting person */
  | { kind: 'mention'; text: string; isMe?: boolean }
  | { kind: 'time'; text: string; iso: string }

/** The names of ids, the acting person, and the current time. */
export interface Names {
  users?: Readonly<Record<string, string>>
  channels?: Readonly<Record<string, string>>
  me?: string
  /** for "today" and "5 minutes ago"; without it, dates are not called today, and an "ago" shows its fallback */
  nowMs?: number
}

// Marks work only at the edge of a word. A soft hyphen counts as a letter: the bot uses it to switch marks off.
const LETTER = '\\p{L}\\p{N}_\\u00ad'

const PATTERN = new RegExp(
  [
    '```([\\s\\S]+?)```',
    '`([^`\\n]+)`',
    '<([^<>\\n]+)>',
    ':([a-z0-9_+-]+):',
    `(?<![${LETTER}*])\\*(?=\\S)([^*\\n]*[^*\\s])\\*(?![${LETTER}*])`,
    `(?<![${LETTER}])_(?=\\S)([^_\\n]*[^_\\s])_(?![${LETTER}])`,
    `(?<![${LETTER}~])~(?=\\S)([^~\\n]*[^~\\s])~(?![${LETTER}~])`,
    '(?<![^\\n])((?:&gt;[^\\n]*(?:\\n|$))+)',
  ].join('|'),
  'gu',
)

/** Parses mrkdwn into its parts, in order. */
export function parseMrkdwn(text: string, names: Names = {}): Node[] {
  const nodes: Node[] = []
  let done = 0
  for (const match of text.matchAll(PATTERN)) {
    if (match.index > done) nodes.push(plain(text.slice(done, match.index)))
    nodes.push(nodeOf(match, names))
    done = match.index + match[0].length
  }
  if (done < text.length) nodes.push(plain(text.slice(done)))
  return nodes
}

/** mrkdwn as it is read aloud: emoji by their names. */
export const plainText = (text: string, names?: Names): string => parseMrkdwn(text, names).map(spoken).join('')

/** mrkdwn as it is shown: emoji as characters. */
export const seenText = (text: string, names?: Names): string => parseMrkdwn(text, names).map(seen).join('')

const seen = (node: Node): string => ('children' in node ? node.children.map(seen).join('') : node.text)

function spoken(node: Node): string {
  if (node.kind === 'emoji') return node.name.replaceAll('_', ' ')
  return 'children' in node ? node.children.map(spoken).join('') : node.text
}

const plain = (text: string): Node => ({ kind: 'text', text: unescape(text) })

/** Reverses Slack's escaping of three characters. */
const unescape = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

function nodeOf(match: RegExpExecArray, names: Names): Node {
  const [whole, pre, code, angle, emoji, bold, italic, strike, quote = ''] = match
  if (pre !== undefined) return { kind: 'pre', text: unescape(pre.replace(/^\n/, '')) }
  if (code !== undefined) return { kind: 'code', text: unescape(code) }
  if (angle !== undefined) return angleNode(angle, names)
  if (emoji !== undefined) return emojiNode(emoji, whole)
  if (bold !== undefined) return { kind: 'bold', children: parseMrkdwn(bold, names) }
  if (italic !== undefined) return { kind: 'italic', children: parseMrkdwn(italic, names) }
  if (strike !== undefined) return { kind: 'strike', children: parseMrkdwn(strike, names) }
  return { kind: 'quote', children: parseMrkdwn(quote.replaceAll(/^&gt; ?/gm, '').trimEnd(), names) }
}

export function emojiNode(name: string, whole = `:${name}:`): Node {
  const text = emojiNamed(name)
  return text === null ? { kind: 'text', text: whole } : { kind: 'emoji', text, name }
}

function angleNode(inside: string, names: Names): Node {
  const [target = '', ...labels] = inside.split('|')
  const label = labels.length > 0 ? unescape(labels.join('|')) : ''
  const id = target.slice(1)
  if (target.startsWith('@')) return mention(`@${label || names.users?.[id] || id}`, id === names.me)
  if (target.startsWith('#')) return mention(`#${label || names.channels?.[id] || id}`)
  if (target.startsWith('!subteam^')) return mention(label || `@${target.slice('!subteam^'.length)}`)
  if (target.startsWith('!date^')) return dateNode(target, label, names)
  if (target.startsWith('!')) return mention(`@${label || id}`, names.me !== undefined)
  const url = safeUrl(unescape(target))
  if (!url) return { kind: 'text', text: label || `<${unescape(target)}>` }
  return { kind: 'link', url, children: label ? labelNodes(label) : [{ kind: 'text', text: unescape(target) }] }
}

const mention = (text: string, isMe = false): Node => ({ kind: 'mention', text, ...(isMe ? { isMe } : {}) })

/** A label is plain text with emoji. */
export const labelNodes = (label: string): Node[] =>
  label
    .split(/(:[a-z0-9_+-]+:)/)
    .filter(Boolean)
    .map((part) => (/^:.+:$/.test(part) ? emojiNode(part.slice(1, -1)) : { kind: 'text', text: part }))

/** The URL if it is a web or mail address; null for any other. */
export function safeUrl(text: string): string | null {
  if (!URL.canParse(text)) return null
  return ['http:', 'https:', 'mailto:'].includes(new URL(text).protocol) ? text : null
}

function dateNode(target: string, fallback: string, { nowMs }: Names): Node {
  const [, seconds, format = '{date} {time}', link] = target.split('^')
  const date = new Date(Number(seconds) * 1000)
  if (Number.isNaN(date.getTime())) return { kind: 'text', text: fallback }
  const text = dateText(date, unescape(format), nowMs)
  if (text === null) return { kind: 'text', text: fallback }
  const url = link ? safeUrl(unescape(link)) : null
  return url
    ? { kind: 'link', url, children: [{ kind: 'text', text }] }
    : { kind: 'time', text, iso: date.toISOString() }
}
