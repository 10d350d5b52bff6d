import { createHmac, timingSafeEqual, hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord, numbersAsWritten, parseJson } from '../../lib/json.ts'
import type { Endpoint, Reading } from '../endpoint.ts'
import { isChild, readPipeline } from './pipeline.ts'

/** A pipeline of 2,000 jobs, the most on GitLab.com, has about 1.3 MiB; and four that are refused switch the webhook off. */
const BODY_BYTES_MAX = 2 * 1024 * 1024

/** A signature is as old as this at most (s): what somebody recorded cannot be sent again later. */
const SIGNED_MAX_S = 5 * 60

/**
 * `POST /webhooks/gitlab`: pipeline events, with one of these secrets: a signing token begins with `whsec_`, any other is
 * sent as it is. Other events are taken and not kept: GitLab switches a webhook off after four refusals.
 * Source: GitLab, "Webhooks"; Standard Webhooks.
 */
export const createGitlabEndpoint = (secrets: readonly string[], now: () => number): Endpoint => ({
  matches: (pathname) => /^\/webhooks\/gitlab\/?$/.test(pathname),
  bodyBytesMax: BODY_BYTES_MAX,
  unauthorizedStatus: 401,
  maySend: ({ headers }) =>
    isPresented(headers, secrets) || (secrets.some(isSigning) && textOf(headers['webhook-signature']) !== ''),
  read(body, headers) {
    if (!isPresented(headers, secrets) && !isSigned(body, headers, secrets, now())) return { kind: 'unauthorized' }
    return headers['x-gitlab-event'] === 'Pipeline Hook' ? readBody(body) : { kind: 'unwanted' }
  },
})

function readBody(bytes: Uint8Array): Reading {
  let body: unknown
  try {
    body = parseJson(new TextDecoder().decode(bytes))
  } catch (error) {
    return { kind: 'refusal', reason: error instanceof Error ? error.message : 'the text is not JSON' }
  }
  const pipeline = isRecord(body) ? body['object_attributes'] : null
  if (!isRecord(body) || !isRecord(pipeline)) return { kind: 'refusal', reason: NO_PIPELINE }
  if (isChild(pipeline)) return { kind: 'unwanted' }
  const build = readPipeline({
    pipeline,
    project: body['project'],
    commit: body['commit'],
    mergeRequest: body['merge_request'],
    jobs: body['builds'],
  })
  if (!build) return { kind: 'refusal', reason: NO_PIPELINE }
  // Variables may be secrets, and GitLab sends their values.
  const { variables: _, ...kept } = pipeline
  return { kind: 'delivery', text: JSON.stringify(numbersAsWritten({ ...body, object_attributes: kept })), ...build }
}

const NO_PIPELINE = 'the body has no object_attributes and project with usable ids'

const textOf = (header: string | string[] | undefined): string => (typeof header === 'string' ? header : '')

const isSigning = (secret: string): boolean => secret.startsWith('whsec_')

/** All secrets are tried, whichever matches: the time says nothing. */
const isAny = (secrets: readonly string[], matches: (secret: string) => boolean): boolean =>
  secrets.map(matches).includes(true)

const isPresented = (headers: IncomingHttpHeaders, secrets: readonly string[]): boolean =>
  isAny(secrets, (secret) => !isSigning(secret) && isSame(secret, textOf(headers['x-gitlab-token'])))

function isSigned(body: Uint8Array, headers: IncomingHttpHeaders, secrets: readonly string[], nowMs: number): boolean {
  const [id, timestamp] = [textOf(headers['webhook-id']), textOf(headers['webhook-timestamp'])]
  if (!(Math.abs(nowMs / 1_000 - Number(timestamp || Number.NaN)) <= SIGNED_MAX_S)) return false
  const presented = textOf(headers['webhook-signature']).split(' ')
  return isAny(secrets.filter(isSigning), (secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
    return presented.map((signature) => isSame(`v1,${mac}`, signature)).includes(true)
  })
}

// Digests have one length, whatever was presented.
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
