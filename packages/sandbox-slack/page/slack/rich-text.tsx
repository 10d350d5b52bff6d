import type { RichElement } from '../store/wire.ts'
import { emojiNode, safeUrl } from './mrkdwn.ts'
import { useScene } from './scene.ts'
import { Nodes, OutsideLink } from './text.tsx'

const TAGS: Record<string, 'div' | 'blockquote' | 'pre'> = {
  rich_text_section: 'div',
  rich_text_quote: 'blockquote',
  rich_text_preformatted: 'pre',
}

/** The parts of a rich text block, one below the other. */
export function RichText({ parts }: { parts: readonly RichElement[] }) {
  return parts.map((part, index) => <Part key={index} part={part} />)
}

function Part({ part: { type, style, elements = [] } }: { part: RichElement }) {
  if (type !== 'rich_text_list') {
    const Tag = TAGS[type] ?? 'div'
    return (
      <Tag>
        <Line elements={elements} />
      </Tag>
    )
  }
  const List = style === 'ordered' ? 'ol' : 'ul'
  return (
    <List class="rich-list">
      {elements.map((item, index) => (
        <li key={index}>
          <Line elements={item.elements ?? []} />
        </li>
      ))}
    </List>
  )
}

function Line({ elements }: { elements: readonly RichElement[] }) {
  return elements.map((one, index) => <Piece key={index} one={one} />)
}

function Piece({ one }: { one: RichElement }) {
  const { names } = useScene()
  const { type, text, url = '', name = '', user_id: user = '', channel_id: channel = '' } = one
  if (type === 'text') return <Styled one={one} />
  if (type === 'link') return safeUrl(url) ? <OutsideLink url={url}>{text ?? url}</OutsideLink> : (text ?? url)
  if (type === 'emoji') return <Nodes nodes={[emojiNode(name)]} />
  if (type === 'user') return <span class="mention">@{names.users?.[user] ?? user}</span>
  if (type === 'channel') return <span class="mention">#{names.channels?.[channel] ?? channel}</span>
  if (type === 'broadcast') return <span class="mention">@{one.range}</span>
  return one.fallback ?? one.value ?? ''
}

const MARKS = [
  ['bold', 'b'],
  ['italic', 'i'],
  ['strike', 's'],
  ['underline', 'u'],
  ['code', 'code'],
] as const

function Styled({ one: { text = '', style } }: { one: RichElement }) {
  const marks = typeof style === 'object' ? MARKS.filter(([name]) => style[name] === true) : []
  return marks.reduce<preact.ComponentChild>((inner, [, Tag]) => <Tag>{inner}</Tag>, text)
}
