import type { ServerResponse } from 'node:http'
import type { Json } from './json.ts'
import { pageChange } from './page-state.ts'
import type { Workspace } from './workspace.ts'

/** How often a comment is sent, so that proxies and browsers do not close a quiet stream. */
const KEEP_ALIVE_MS = 15_000
/** A client this far behind is disconnected. The browser reconnects and gets the whole state again. */
const BACKLOG_BYTES_MAX = 4_194_304

/**
 * Streams the current state and then every change of the workspace as server-sent events, until the client leaves. Both
 * use one stream: if the state came another way, a change could arrive before it and be overwritten.
 */
export function streamChanges(workspace: Workspace, state: Json, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.write(`retry: 1000\nevent: state\ndata: ${JSON.stringify(state)}\n\n`)
  const behindMax = response.writableLength + BACKLOG_BYTES_MAX
  const stop = workspace.changes.on((change) => {
    response.write(`data: ${JSON.stringify(pageChange(workspace, change))}\n\n`)
    if (response.writableLength > behindMax) response.destroy()
  })
  const timer = setInterval(() => response.write(': still here\n\n'), KEEP_ALIVE_MS).unref()
  response.on('close', () => {
    clearInterval(timer)
    stop()
  })
}
