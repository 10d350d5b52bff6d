import { toAnswer } from './api.ts'
import type { Answer } from './api.ts'
import { editEphemeral, editMessage, findMessage, postEphemeral, postMessage, removeMessage } from './messages.ts'
import type { Json } from './json.ts'
import type { Edit } from './messages.ts'
import { flagArg, Refusal, refuse, textArg } from './methods/call.ts'
import type { Args } from './methods/call.ts'
import { contentOf } from './methods/content.ts'
import type { Channel, Workspace } from './workspace.ts'

/** How many answers a response_url accepts. */
export const RESPONSE_USES_MAX = 5
/** How long a response_url is valid. */
export const RESPONSE_TTL_MS = 30 * 60_000

export interface Origin {
  channelId: string
  userId: string
  /** the message of the interaction, to which replace_original and delete_original apply */
  sourceTs?: string | undefined
}

export interface ResponseUrls {
  /** The path of a new response_url. */
  issue(origin: Origin): string
  /** Answers a call: 404 if the URL is unknown, expired or used up, 400 if Slack refuses the content. */
  use(path: string, args: Args): Answer
}

interface Entry extends Origin {
  atMs: number
  uses: number
}

export function createResponseUrls(workspace: Workspace): ResponseUrls {
  const entries = new Map<string, Entry>()
  return {
    issue: (origin) => {
      const path = `/response/${workspace.team.id}/${workspace.nextNumber()}`
      entries.set(path, { ...origin, atMs: workspace.clock.now(), uses: 0 })
      return path
    },
    use: (path, args) => {
      const entry = entries.get(path)
      const closed = closedBecause(workspace, entry)
      if (!entry || closed) return refused(404, closed ?? 'not_found')
      entry.uses += 1
      return answerUse(workspace, entry, args)
    },
  }
}

function closedBecause({ clock }: Workspace, entry: Entry | undefined): string | null {
  if (!entry) return 'not_found'
  if (entry.uses >= RESPONSE_USES_MAX) return 'used_url'
  return clock.now() - entry.atMs > RESPONSE_TTL_MS ? 'expired_url' : null
}

const refused = (status: number, error: string, extra: Json = {}): Answer => ({
  ...toAnswer({ ok: false, error, ...extra }),
  status,
})

function answerUse(workspace: Workspace, entry: Entry, args: Args): Answer {
  try {
    respond(workspace, entry, args)
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok', outcome: 'ok' }
  } catch (error) {
    if (error instanceof Refusal) return refused(400, error.code, error.extra)
    throw error
  }
}

/** Does what a body sent to a response_url, or in the answer to a command, asks for. */
export function respond(workspace: Workspace, entry: Origin, args: Args): void {
  const channel = workspace.channels.get(entry.channelId) ?? refuse('channel_not_found')
  if (channel.isArchived) refuse('is_archived')
  if (flagArg(args, 'delete_original')) return changeSource(workspace, channel, entry, undefined)
  const { warnings: _warnings, ...content } = contentOf(workspace, args)
  if (flagArg(args, 'replace_original') && entry.sourceTs !== undefined) {
    return changeSource(workspace, channel, entry, { blocks: [], attachments: [], ...content })
  }
  say(workspace, channel, entry, args, content)
}

function changeSource(workspace: Workspace, channel: Channel, { sourceTs = '' }: Origin, edit: Edit | undefined): void {
  const ephemeral = workspace.ephemerals.find(
    ({ channelId, message }) => channelId === channel.id && message.ts === sourceTs,
  )
  if (ephemeral) return editEphemeral(workspace, channel, ephemeral, edit)
  const message = findMessage(channel, sourceTs) ?? refuse('message_not_found')
  if (edit) editMessage(workspace, channel, message, edit)
  else removeMessage(workspace, channel, message, true)
}

function say(workspace: Workspace, channel: Channel, { userId }: Origin, args: Args, content: Edit): void {
  const threadTs = textArg(args, 'thread_ts')
  if (threadTs !== undefined && !channel.messages.has(threadTs)) refuse('thread_not_found')
  const draft = { ...content, text: content.text ?? '', userId: workspace.bot.userId, threadTs }
  if (textArg(args, 'response_type') === 'in_channel') postMessage(workspace, channel, draft)
  else postEphemeral(workspace, channel, userId, draft)
}
