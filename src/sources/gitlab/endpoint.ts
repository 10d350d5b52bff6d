import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '../../lib/json.ts'
import {
  createSecretCheck,
  deliveryKey,
  ownHook,
  readJsonBody,
  type Endpoint,
  type Hook,
  type BodyReading,
} from '../endpoint.ts'
import { listOf } from '../../lib/raw-values.ts'
import { isChild, JOBS_MAX, readPipeline } from './pipeline.ts'

/** A pipeline of 2,000 jobs, the most on GitLab.com, has about 1.3 MiB. Four refusals disable the webhook. */
const BODY_BYTES_MAX = 2 * 1024 * 1024

/** A signature older than this (s) is refused, so that a recorded request cannot be sent again later. */
const SIGNED_MAX_S = 5 * 60

/**
 * `POST /webhooks/gitlab`: pipeline events with one of these secrets. A signing token begins with `whsec_`; any other
 * is sent as it is. Other events are accepted and not stored: GitLab disables a webhook after four refusals.
 * Source: GitLab, "Webhooks"; Standard Webhooks.
 */
export function createGitlabEndpoint(secrets: readonly string[], now: () => number): Endpoint {
  const signingKeys = secrets.filter(isSigningToken).flatMap((token) => signingKey(token) ?? [])
  const isToken = createSecretCheck(secrets.filter((secret) => !isSigningToken(secret)))
  const showsToken = (headers: IncomingHttpHeaders) => isToken(singleHeader(headers['x-gitlab-token']))
  return {
    what: 'delivery',
    matches: (pathname) => /^\/webhooks\/gitlab\/?$/.test(pathname),
    bodyBytesMax: BODY_BYTES_MAX,
    unauthorizedStatus: 401,
    senderOf({ headers }) {
      if (showsToken(headers)) return 'proven'
      const maySign = signingKeys.length > 0 && singleHeader(headers['webhook-signature']) !== null
      return maySign ? 'unproven' : 'stranger'
    },
    read(body, headers) {
      if (!showsToken(headers) && !isSigned(body, headers, signingKeys, now())) return { kind: 'unauthorized' }
      return headers['x-gitlab-event'] === 'Pipeline Hook' ? readBody(body, headers) : { kind: 'unwanted' }
    },
  }
}

export const isSigningToken = (secret: string): boolean => secret.startsWith(SIGNING)

const SIGNING = 'whsec_'

/** The shortest key that Standard Webhooks allows. */
const KEY_BYTES_MIN = 24

/** The key in a signing token; null if it is not base64, or too short. */
export function signingKey(token: string): Buffer | null {
  const encoded = token.slice(SIGNING.length)
  const key = Buffer.from(encoded, 'base64')
  // The decoder leaves out what it cannot read.
  const isWhole = [key.toString('base64'), withoutPadding(key.toString('base64'))].includes(encoded)
  return isWhole && key.length >= KEY_BYTES_MIN ? key : null
}

const withoutPadding = (base64: string): string => base64.replaceAll('=', '')

const singleHeader = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header : null

function isSigned(body: Uint8Array, headers: IncomingHttpHeaders, keys: readonly Buffer[], nowMs: number): boolean {
  const [id, sentS, presented] = [
    headers['webhook-id'],
    headers['webhook-timestamp'],
    headers['webhook-signature'],
  ].map(singleHeader)
  if (!id || !sentS || !presented || !(Math.abs(nowMs / 1_000 - Number(sentS)) <= SIGNED_MAX_S)) return false
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${sentS}.`).update(body).digest('base64')}`,
  )
  return presented.split(' ').map(createSecretCheck(signatures)).includes(true)
}

/**
 * The id that stays the same when a delivery is sent again. The headers `X-Gitlab-Webhook-UUID` and
 * `X-Gitlab-Event-UUID` name the webhook, and an event with all that it sets off. Source: GitLab, "Webhooks", delivery
 * headers, and merge request 160952, which brought `Idempotency-Key`; Standard Webhooks: `webhook-id`.
 */
const deliveryId = (headers: IncomingHttpHeaders): string | null =>
  singleHeader(headers['idempotency-key']) ?? singleHeader(headers['webhook-id'])

function readBody(bytes: Uint8Array, headers: IncomingHttpHeaders): BodyReading {
  const body = readJsonBody(bytes)
  if (body.kind === 'refusal') return body
  const { value } = body
  const pipeline = isRecord(value) ? value['object_attributes'] : null
  if (!isRecord(value) || !isRecord(pipeline)) return { kind: 'refusal', reason: NO_PIPELINE }
  if (isChild(pipeline)) return { kind: 'unwanted' }
  const build = readPipeline({
    pipeline,
    user: value['user'],
    project: value['project'],
    commit: value['commit'],
    mergeRequest: value['merge_request'],
    jobs: listOf(value['builds']).slice(0, JOBS_MAX),
  })
  if (!build) return { kind: 'refusal', reason: NO_PIPELINE }
  // The body itself is not stored: it has the values of variables, which may be secrets.
  return {
    kind: 'delivery',
    body: JSON.stringify(build),
    ...build,
    ...deliveryKey('gitlab', deliveryId(headers), bytes),
  }
}

const NO_PIPELINE = 'the body has no object_attributes and project with usable ids and names'

/** The state of a project's webhook. Source: GitLab REST API, "Project webhooks". */
export const gitlabHook = (hooks: readonly unknown[]): Hook =>
  ownHook(hooks, '/webhooks/gitlab', {
    addressOf: ({ url }) => url,
    stateOf({ alert_status: alert, pipeline_events: hasPipelines }) {
      if (alert === 'disabled') return { state: 'off' }
      if (hasPipelines === false) return { state: 'no-events' }
      // GitLab re-enables it automatically.
      if (alert === 'temporarily_disabled') return { state: 'failing', said: 'switched off for a while' }
      return { state: 'fine' }
    },
  })
