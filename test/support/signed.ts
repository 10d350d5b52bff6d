import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { signedHeaders } from '../../packages/sandbox-slack/src/sign.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'

// Requests whose signature can be checked only when their body was read, and what strangers can send of them.

export interface Signed {
  path: string
  headers: Record<string, string>
  body: string
}

/** A delivery of so many bytes, as GitHub sends it. */
export function githubDelivery(secret: string, bytes: number): Signed {
  const run = { id: bytes, workflow_id: 77, status: 'completed', conclusion: 'success', run_attempt: 1, event: 'push' }
  const body = JSON.stringify({ workflow_run: run, repository: { id: 1, full_name: 'acme/web' } }).padEnd(bytes)
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
  return { path: '/webhooks/github', headers, body }
}

/** A form of so many bytes, as Slack sends it. */
export function slackCommand(signingSecret: string, bytes: number): Signed {
  const fields = new URLSearchParams({
    command: '/ci',
    text: 'help',
    user_id: PEOPLE.lin,
    channel_id: CHANNELS.builds,
    trigger_id: String(performance.now()),
  })
  const body = `${fields.toString()}&more=`.padEnd(bytes, 'x')
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...signedHeaders(signingSecret, Math.floor(Date.now() / 1_000), body),
  }
  return { path: '/slack/events', headers, body }
}

/** The request line and headers of a stranger, whose signature is invented. */
export const INVENTED = {
  github: () =>
    `POST /webhooks/github HTTP/1.1\r\nhost: x\r\nx-github-event: workflow_run\r\nx-hub-signature-256: sha256=${NO_DIGEST}\r\n`,
  slack: () =>
    `POST /slack/events HTTP/1.1\r\nhost: x\r\nx-slack-request-timestamp: ${Math.floor(Date.now() / 1_000)}\r\nx-slack-signature: v0=${NO_DIGEST}\r\n`,
}

const NO_DIGEST = '0'.repeat(64)

/** Sends a request on a connection of its own. @returns its answer's status, and the time until it came (ms) */
export async function timed(url: string, { path, headers, body }: Signed): Promise<{ status: number; ms: number }> {
  const beganAt = performance.now()
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(`${url}${path}`, { method: 'POST', headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject).end(body)
  })
  return { status, ms: performance.now() - beganAt }
}
