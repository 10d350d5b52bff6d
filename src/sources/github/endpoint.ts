import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '../../lib/json.ts'
import { createSecretCheck, readJsonBody, type Endpoint, type Reading } from '../endpoint.ts'
import { readRun } from './run.ts'

/** GitHub's deliveries have about 20 KiB. */
const BODY_BYTES_MAX = 1024 * 1024

/**
 * `POST /webhooks/github`: `workflow_run` deliveries, signed with one of these secrets. Other events are accepted and
 * not stored. Source: GitHub, "Validating webhook deliveries".
 */
export const createGithubEndpoint = (secrets: readonly string[]): Endpoint => ({
  what: 'delivery',
  matches: (pathname) => /^\/webhooks\/github\/?$/.test(pathname),
  bodyBytesMax: BODY_BYTES_MAX,
  unauthorizedStatus: 401,
  maySend: ({ headers }) => signatureIn(headers) !== null,
  read(body, headers) {
    const signatures = secrets.map((secret) => createHmac('sha256', secret).update(body).digest('hex'))
    if (!createSecretCheck(signatures)(signatureIn(headers))) return { kind: 'unauthorized' }
    return headers['x-github-event'] === 'workflow_run' ? readBody(body) : { kind: 'unwanted' }
  },
})

const signatureIn = (headers: IncomingHttpHeaders): string | null =>
  /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256'] ?? ''))?.[1]?.toLowerCase() ?? null

function readBody(bytes: Uint8Array): Reading {
  const body = readJsonBody(bytes)
  if (body.kind === 'refusal') return body
  const { value, text } = body
  const run = isRecord(value) ? readRun(value['workflow_run'], value['repository']) : null
  if (!run) return { kind: 'refusal', reason: 'the body has no workflow_run and repository with usable ids' }
  return { kind: 'delivery', body: text, ...run }
}
