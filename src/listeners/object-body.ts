import type { IncomingMessage, ServerResponse } from 'node:http'

/** What Slack sends is far smaller. */
export const BODY_BYTES_MAX = 4 * 1024 * 1024

/**
 * Hands on only what has an object for its body. Bolt looks into the body outside of every catch: `null`, signed rightly,
 * would end the process.
 */
export function onlyObjects(handle: Handle): Handle {
  async function read(request: IncomingMessage & { rawBody?: Buffer }, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of request) {
      if (!Buffer.isBuffer(chunk)) continue
      bytes += chunk.length
      if (bytes > BODY_BYTES_MAX) return void response.writeHead(413, { connection: 'close' }).end()
      chunks.push(chunk)
    }
    request.rawBody = Buffer.concat(chunks)
    if (isNoObject(request.headers['content-type'] ?? '', request.rawBody.toString())) response.writeHead(400).end()
    else handle(request, response)
  }
  // A body that breaks off leaves nobody to answer.
  return (request, response) => void read(request, response).catch(() => response.destroy())
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void

// What is no JSON at all is left to Bolt, which looks at the signature first.
function isNoObject(type: string, body: string): boolean {
  const json = type.startsWith('application/x-www-form-urlencoded') ? new URLSearchParams(body).get('payload') : body
  if (json === null) return false
  try {
    const value: unknown = JSON.parse(json)
    return typeof value !== 'object' || value === null
  } catch {
    return false
  }
}
