import type { TextObject } from '../store/wire.ts'
import { labelNodes, parseMrkdwn } from './mrkdwn.ts'
import type { Node } from './mrkdwn.ts'
import { useScene } from './scene.ts'

/** Draws mrkdwn. */
export function Mrkdwn({ text }: { text: string }) {
  const { names } = useScene()
  return <Nodes nodes={parseMrkdwn(text, names)} />
}

/** Draws a text object: mrkdwn with its format, plain text unchanged except for emoji, unless `emoji` is false. */
export function TextLine({ text }: { text: TextObject }) {
  if (text.type === 'mrkdwn') return <Mrkdwn text={text.text} />
  return text.emoji === false ? text.text : <Nodes nodes={labelNodes(text.text)} />
}

export function Nodes({ nodes }: { nodes: readonly Node[] }) {
  return nodes.map((node, index) => <OneNode key={index} node={node} />)
}

const TAGS = { bold: 'b', italic: 'i', strike: 's', quote: 'blockquote' } as const

function OneNode({ node }: { node: Node }) {
  if (node.kind === 'text') return node.text
  if (node.kind === 'code') return <code>{node.text}</code>
  if (node.kind === 'pre') return <pre>{node.text}</pre>
  if (node.kind === 'time') return <time dateTime={node.iso}>{node.text}</time>
  if (node.kind === 'emoji')
    return (
      <span class="emoji" role="img" aria-label={node.name.replaceAll('_', ' ')} title={`:${node.name}:`}>
        {node.text}
      </span>
    )
  if (node.kind === 'mention') return <span class={node.isMe ? 'mention called' : 'mention'}>{node.text}</span>
  if (node.kind === 'link')
    return (
      <OutsideLink url={node.url}>
        <Nodes nodes={node.children} />
      </OutsideLink>
    )
  const Tag = TAGS[node.kind]
  return (
    <Tag>
      <Nodes nodes={node.children} />
    </Tag>
  )
}

/** A link that opens in a new tab, without a referrer. */
export function OutsideLink({ url, children }: { url: string; children: preact.ComponentChildren }) {
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}
