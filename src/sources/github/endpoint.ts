import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isRecord, parseJson } from '../../lib/json.ts'
import type { Endpoint, Reading } from '../endpoint.ts'
import { readRun } from './run.ts'

/** GitHub's deliveries have about 20 KiB. */
const BODY_BYTES_MAX = 1024 * 1024

/**
 * `POST /webhooks/github`: `workflow_run` deliveries, signed with one of these secrets. Other events are taken and not
 * kept. Source: GitHub, "Validating webhook deliveries".
 */
export const createGithubEndpoint = (secrets: readonly string[]): Endpoint => ({
  matches: (pathname) => /^\/webhooks\/github\/?$/.test(pathname),
  bodyBytesMax: BODY_BYTES_MAX,
  unauthorizedStatus: 401,
  maySend: ({ headers }) => secrets.length > 0 && signatureIn(headers) !== null,
  read(body, headers) {
    const signature = signatureIn(headers)
    if (signature === null || !isSigned(body, signature, secrets)) return { kind: 'unauthorized' }
    return headers['x-github-event'] === 'workflow_run' ? readBody(body) : { kind: 'unwanted' }
  },
})

function readBody(body: Uint8Array): Reading {
  const text = new TextDecoder().decode(body)
  let delivery: unknown
  try {
    delivery = parseJson(text)
  } catch (error) {
    return { kind: 'refusal', reason: error instanceof Error ? error.message : 'the text is not JSON' }
  }
  if (!isRecord(delivery)) return { kind: 'refusal', reason: 'the body is no object' }
  const run = readRun(delivery['workflow_run'], delivery['repository'])
  if (!run) return { kind: 'refusal', reason: 'the body has no workflow_run and repository with usable ids' }
  return { kind: 'delivery', text, ...run }
}

const signatureIn = (headers: IncomingMessage['headers']): Buffer | null => {
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256'] ?? ''))?.[1]
  return hex === undefined ? null : Buffer.from(hex, 'hex')
}

/** All secrets are tried, whichever matches: the time says nothing. */
function isSigned(body: Uint8Array, signature: Buffer, secrets: readonly string[]): boolean {
  let matches = 0
  for (const secret of secrets)
    matches += timingSafeEqual(createHmac('sha256', secret).update(body).digest(), signature) ? 1 : 0
  return matches > 0
}
