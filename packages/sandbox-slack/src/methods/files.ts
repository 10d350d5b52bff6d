import { beginUpload, FILE_BYTES_MAX, toWireFile, uploadUrl } from '../files.ts'
import { listOf } from '../json.ts'
import type { Json } from '../json.ts'
import { postMessage } from '../messages.ts'
import type { Channel, File, Workspace } from '../workspace.ts'
import { jsonArg, refuse, refuseMissing, requiredArg, textArg } from './call.ts'
import type { Args, Call, Method } from './call.ts'
import { requireUnrestricted, threadOf, writableChannelNamed } from './channels.ts'
import { contentOf } from './content.ts'

/** The methods of `files.*`: the start and the end of an upload. */
export const fileMethods = {
  'files.getUploadURLExternal': { scopes: ['files:write'], run: begin },
  'files.completeUploadExternal': { scopes: ['files:write'], run: complete },
} satisfies Record<string, Method>

function begin({ args, workspace }: Call) {
  const name = requiredArg(args, 'filename')
  const length = Number(requiredArg(args, 'length'))
  const altText = textArg(args, 'alt_txt') ?? textArg(args, 'alt_text')
  if (!Number.isInteger(length) || length < 1) refuse('invalid_arguments')
  if (length > FILE_BYTES_MAX) refuse('file_upload_size_restricted')
  const file = beginUpload(workspace, { name, length, ...(altText === undefined ? {} : { altText }) })
  return { upload_url: uploadUrl(workspace, file), file_id: file.id }
}

/** Checks everything before it shares anything. An upload can be completed only once. */
function complete(call: Call) {
  const { args, workspace } = call
  const files = filesOf(workspace, args)
  const channels = channelIds(args).map((id) => writableChannelNamed(call, id))
  const threadTs = textArg(args, 'thread_ts')
  if (threadTs !== undefined && channels.length > 1) refuse('invalid_arguments')
  for (const channel of channels) requireUnrestricted(call, channel, { threadTs: threadOf(channel, threadTs) })
  const content = introductionOf(workspace, args)
  for (const { file, title } of files) Object.assign(file, { title, completedAtMs: workspace.clock.now() })
  const shown = files.map(({ file }) => file)
  for (const channel of channels) share(workspace, channel, { ...content, threadTs, files: shown })
  return { files: shown.map((file) => toWireFile(workspace, file)) }
}

function filesOf(workspace: Workspace, args: Args): { file: File; title: string }[] {
  const wanted = listOf(jsonArg(args, 'files', 'invalid_arguments'))
  if (wanted.length === 0) refuseMissing('files')
  return wanted.map(({ id, title }) => {
    const file = workspace.files.get(String(id))
    if (!file?.bytes || file.completedAtMs !== undefined) return refuse('file_not_found')
    return { file, title: typeof title === 'string' && title !== '' ? title : file.name }
  })
}

/** Slack's own limit. */
const CHANNELS_MAX = 100

function channelIds(args: Args): string[] {
  const named = [textArg(args, 'channel_id'), ...(textArg(args, 'channels')?.split(',') ?? [])]
  const ids = [...new Set(named.filter((id) => id !== undefined))]
  return ids.length > CHANNELS_MAX ? refuse('channels_limit_exceeded') : ids
}

/** Slack uses the blocks only if there is no comment. */
function introductionOf(workspace: Workspace, args: Args): { text: string; blocks?: Json[] } {
  const comment = textArg(args, 'initial_comment')
  if (comment === undefined && !args['blocks']) return { text: '' }
  const given = comment === undefined ? { blocks: args['blocks'] } : { text: comment }
  const { text = '', blocks } = contentOf(workspace, given)
  return { text, ...(blocks ? { blocks } : {}) }
}

interface Shared {
  text: string
  blocks?: Json[]
  threadTs: string | undefined
  files: File[]
}

const share = (workspace: Workspace, channel: Channel, shared: Shared): void =>
  void postMessage(workspace, channel, { ...shared, userId: workspace.bot.userId })
