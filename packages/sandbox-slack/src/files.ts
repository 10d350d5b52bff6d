import type { File, Workspace } from './model.ts'

/** The largest file. The sandbox keeps files in memory; Slack allows a gigabyte. */
export const FILE_BYTES_MAX = 4_194_304

const UPLOAD_PATH = '/upload/v1/'
const FILE_PATH = '/files/'

/** Starts the upload of a file of exactly `length` bytes. The file is not visible yet. */
export function beginUpload(workspace: Workspace, begun: Pick<File, 'name' | 'length'> & { altText?: string }): File {
  const id = `F0${String(workspace.nextNumber()).padStart(8, '0')}`
  const file = { ...begun, id, title: begun.name, createdAtMs: workspace.clock.now() }
  workspace.files.set(id, file)
  return file
}

/** The URL to which the file's bytes are uploaded. */
export const uploadUrl = ({ origin }: Workspace, { id }: File): string => `${origin}${UPLOAD_PATH}${id}`

export type Received = 'received' | 'not_found' | 'wrong_length'

/** Stores the bytes of an upload if their number is as announced. Each upload accepts bytes only once. */
export function receiveBytes(workspace: Workspace, path: string, bytes: Buffer): Received {
  const file = workspace.files.get(path.slice(UPLOAD_PATH.length))
  if (!path.startsWith(UPLOAD_PATH) || !file || file.bytes) return 'not_found'
  if (bytes.length !== file.length) return 'wrong_length'
  file.bytes = bytes
  return 'received'
}

/** The complete file whose `url_private` has this path. */
export function fileAt(workspace: Workspace, path: string): File | undefined {
  const [id = ''] = path.slice(FILE_PATH.length).split('/')
  const file = workspace.files.get(id)
  return path.startsWith(FILE_PATH) && file?.completedAtMs !== undefined ? file : undefined
}

const MIME_BY_TYPE = new Map([
  ['gif', 'image/gif'],
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['svg', 'image/svg+xml'],
  ['json', 'application/json'],
  ['txt', 'text/plain'],
])

const typeOf = ({ name }: File): string => {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return MIME_BY_TYPE.has(ending) ? ending : 'binary'
}

export const mimetypeOf = (file: File): string => MIME_BY_TYPE.get(typeOf(file)) ?? 'application/octet-stream'

/** Where a file was shared. The sandbox does not keep count. */
const NOWHERE = { channels: [], groups: [], ims: [], has_more_shares: false, comments_count: 0, is_starred: false }

/** A file as part of a message. */
export function toWireFile(workspace: Workspace, file: File) {
  const { team, bot, origin } = workspace
  const path = `${file.id}/${encodeURIComponent(file.name)}`
  return {
    id: file.id,
    created: Math.floor(file.createdAtMs / 1_000),
    timestamp: Math.floor(file.createdAtMs / 1_000),
    name: file.name,
    title: file.title,
    mimetype: mimetypeOf(file),
    filetype: typeOf(file),
    pretty_type: typeOf(file).toUpperCase(),
    user: bot.userId,
    user_team: team.id,
    size: file.length,
    mode: 'hosted',
    editable: false,
    is_external: false,
    external_type: '',
    username: '',
    display_as_bot: false,
    is_public: true,
    public_url_shared: false,
    url_private: `${origin}${FILE_PATH}${path}`,
    url_private_download: `${origin}${FILE_PATH}${path}`,
    permalink: `https://${team.domain}.slack.com/files/${bot.userId}/${path}`,
    file_access: 'visible',
    has_rich_preview: false,
    media_display_type: 'unknown',
    ...NOWHERE,
    ...(file.altText === undefined ? {} : { alt_txt: file.altText }),
  }
}
