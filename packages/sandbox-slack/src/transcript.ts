import { getChannel } from './acts.ts'
import { repliesTo } from './messages.ts'
import type { Message } from './messages.ts'
import { listOf, objectOf } from './json.ts'
import type { Workspace } from './workspace.ts'

/**
 * A channel as plain text, oldest first: each root, then its replies indented. Times are UTC.
 *
 *     14:02:11 Buildline  :x: *Failed* web #512 (edited 2)
 *         14:09:40 Buildline  Failed after 7 min (also sent to channel)
 */
export function transcript(workspace: Workspace, channelId: string): string {
  const channel = getChannel(workspace, channelId)
  const roots = [...channel.messages.values()].filter(({ threadTs }) => threadTs === undefined)
  return roots
    .flatMap((root) => [
      lineOf(workspace, root, ''),
      ...repliesTo(channel, root.ts).map((one) => lineOf(workspace, one, INDENT)),
    ])
    .join('\n')
}

/**
 * A message as people see it, without its attachments: a line for each block, or the text if there are no blocks. A
 * link shows its label.
 */
export function drawnText({ text, blocks }: Pick<Message, 'text' | 'blocks'>): string {
  const lines = blocks.flatMap((block) => {
    const parts = [block['text'], ...listOf(block['elements'])].map((part) => objectOf(part)['text'])
    const said = parts.filter((part) => typeof part === 'string')
    return said.length === 0 ? [] : [said.join(' · ')]
  })
  return (lines.length === 0 ? text : lines.join('\n')).replaceAll(/<https?:[^|>]*\|([^>]*)>/g, '$1')
}

const INDENT = '    '

function lineOf(workspace: Workspace, message: Message, indent: string): string {
  const author = workspace.users.get(message.userId)?.realName ?? message.userId
  const marks = [
    message.editCount > 0 ? ` (edited ${message.editCount})` : '',
    ...message.files.map(({ name }) => ` (file ${name})`),
    message.isBroadcast ? ' (also sent to channel)' : '',
  ].join('')
  const text = drawnText(message).replaceAll('\n', `\n${indent}${INDENT}`)
  return `${indent}${timeOf(message.ts)} ${author}  ${text}${marks}`
}

const timeOf = (ts: string): string => new Date(Number(ts) * 1_000).toISOString().slice(11, 19)
