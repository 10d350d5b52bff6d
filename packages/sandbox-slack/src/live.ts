import type { ServerResponse } from 'node:http'
import type { Json } from './json.ts'
import { pageChange } from './page-state.ts'
import type { Workspace } from './workspace.ts'

/** A comment so often keeps proxies and browsers from giving up on a quiet stream. */
const KEEP_ALIVE_MS = 15_000
/** A reader this far behind is cut off; the browser comes back and is told the state afresh. */
const BACKLOG_BYTES_MAX = 4_194_304

/**
 * Streams the state as it is and then every change of the workspace, as server-sent events, until the reader leaves. One
 * way for both: had the state one of its own, a change could overtake it, and be lost under it.
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
