import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'
import {
  bodyText,
  createSecretCheck,
  deliveryKey,
  ownHook,
  readJsonBody,
  type Endpoint,
  type Hook,
  type BodyReading,
} from '../endpoint.ts'
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
  senderOf: ({ headers }) => (signatureIn(headers) === null ? 'stranger' : 'unproven'),
  read(body, headers) {
    const signatures = secrets.map((secret) => createHmac('sha256', secret).update(body).digest('hex'))
    if (!createSecretCheck(signatures)(signatureIn(headers))) return { kind: 'unauthorized' }
    return headers['x-github-event'] === 'workflow_run' ? readBody(body, headers) : { kind: 'unwanted' }
  },
})

const signatureIn = (headers: IncomingHttpHeaders): string | null =>
  /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256'] ?? ''))?.[1]?.toLowerCase() ?? null

function readBody(bytes: Uint8Array, headers: IncomingHttpHeaders): BodyReading {
  const body = readJsonBody(bytes)
  if (body.kind === 'refusal') return body
  const [workflowRun, repository, workflow] = ['workflow_run', 'repository', 'workflow'].map((name) =>
    fieldOf(body.value, name),
  )
  const run = readRun(workflowRun, repository, workflow)
  if (!run) return { kind: 'refusal', reason: 'the body has no workflow_run and repository with usable ids and names' }
  // A redelivery has the id of the first one. Source: GitHub, "Best practices for using webhooks".
  const key = deliveryKey('github', headers['x-github-delivery'], bytes)
  return { kind: 'delivery', body: bodyText(bytes), ...run, ...key }
}

/** The state of a repository's webhook. Source: GitHub REST API, "Repository webhooks". */
export const githubHook = (hooks: readonly unknown[]): Hook =>
  ownHook(hooks, '/webhooks/github', {
    addressOf: ({ config }) => fieldOf(config, 'url'),
    stateOf({ active, events, config, last_response: last }) {
      if (active === false) return { state: 'off' }
      if (!['workflow_run', '*'].some((event) => listOf(events).includes(event))) return { state: 'no-events' }
      return fieldOf(config, 'content_type') === 'json' ? afterAnswer(last) : { state: 'form' }
    },
  })

/** @param last `{ code: null, status: 'unused', message: null }` if GitHub has sent nothing yet */
function afterAnswer(last: unknown): Hook {
  const [code, status, message] = ['code', 'status', 'message'].map((name) => textOf(fieldOf(last, name)))
  const isTaken = code ? /^2\d\d$/.test(code) : !status || status === 'unused' || status === 'active'
  return isTaken ? { state: 'fine' } : { state: 'failing', said: [code, message ?? status].filter(Boolean).join(' ') }
}
