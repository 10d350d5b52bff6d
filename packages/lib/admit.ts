import type { IncomingMessage } from 'node:http'
import { readCall } from './http.ts'
import type { Call } from './http.ts'
import { isOwnHost, isOwnPage } from './same-origin.ts'

export type Admission = { kind: 'call'; call: Call } | { kind: 'refused'; statusCode: 403 | 413; reason: string }

/**
 * Reads a request, or refuses it if a page of another site may have sent it. The Host must name this server. A path
 * without credentials takes changes only from this server's pages, or every site in the user's browser could make them.
 */
export async function admit(
  request: IncomingMessage,
  host: string,
  needsNoCredentials: (path: string) => boolean,
): Promise<Admission> {
  const refused = (statusCode: 403 | 413, reason: string) => ({ kind: 'refused' as const, statusCode, reason })
  if (!isOwnHost(request, host)) return refused(403, 'this server does not have that host name; see --host')
  const read = await readCall(request)
  if (read.kind === 'too-large') return refused(413, 'the body is too large')
  const isStrange = request.method !== 'GET' && !isOwnPage(request)
  return isStrange && needsNoCredentials(read.call.path) ? refused(403, 'only a page of this server may do that') : read
}
