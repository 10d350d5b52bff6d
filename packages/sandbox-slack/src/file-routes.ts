import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './api.ts'
import { FILE_BYTES_MAX, fileAt, mimetypeOf, receiveBytes } from './files.ts'
import { readBytes } from './http.ts'
import type { Workspace } from './workspace.ts'

/** How much a form's boundary and headers may add to the file. */
const FORM_BYTES_MAX = 8_192

/** Reads an upload, sent raw or as the first file of a form. Null if it is too large or a form has no file. */
export async function readUpload(request: IncomingMessage): Promise<Buffer | null> {
  const body = await readBytes(request, FILE_BYTES_MAX + FORM_BYTES_MAX)
  const type = request.headers['content-type'] ?? ''
  return body && type.startsWith('multipart/form-data') ? fileIn(body, type) : body
}

async function fileIn(body: Buffer, type: string): Promise<Buffer | null> {
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    const file = [...form.values()].find((value) => typeof value !== 'string')
    return file ? Buffer.from(await file.arrayBuffer()) : null
  } catch {
    return null
  }
}

export function answerUpload(workspace: Workspace, path: string, bytes: Buffer | null): Answer {
  if (bytes === null) return answer(400, 'no file within the size limit')
  const received = receiveBytes(workspace, path, bytes)
  if (received === 'not_found') return answer(404, 'no such upload')
  if (received === 'wrong_length') return answer(400, 'not as many bytes as announced')
  return answer(200, `OK - ${bytes.length}`)
}

const answer = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
  outcome: status === 200 ? 'ok' : `http:${status}`,
})

/** Serves a complete file; false for other paths. Unlike Slack's, it needs no token, because the page has none. */
export function serveFile(workspace: Workspace, path: string, response: ServerResponse): boolean {
  const file = fileAt(workspace, path)
  if (!file) return false
  const type = mimetypeOf(file)
  // Browsers show images. They save any other file, so that scripts in it do not run.
  const disposition = type.startsWith('image/') ? 'inline' : 'attachment'
  response.writeHead(200, { ...HEADERS, 'content-type': type, 'content-disposition': disposition }).end(file.bytes)
  return true
}

const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}
