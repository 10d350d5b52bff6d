import { getChannel } from './acts.ts'
import { repliesTo } from './messages.ts'
import type { Message } from './messages.ts'
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

const INDENT = '    '

function lineOf(workspace: Workspace, message: Message, indent: string): string {
  const author = workspace.users.get(message.userId)?.realName ?? message.userId
  const marks = [
    message.editCount > 0 ? ` (edited ${message.editCount})` : '',
    ...message.files.map(({ name }) => ` (file ${name})`),
    message.isBroadcast ? ' (also sent to channel)' : '',
  ].join('')
  const text = message.text.replaceAll('\n', `\n${indent}${INDENT}`)
  return `${indent}${timeOf(message.ts)} ${author}  ${text}${marks}`
}

const timeOf = (ts: string): string => new Date(Number(ts) * 1_000).toISOString().slice(11, 19)
