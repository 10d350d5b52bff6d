import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ReceivedEvent } from '../domain/builds/build-event.ts'
import type { BuildId, ProjectId, SourceName } from '../domain/ids.ts'
import type { FailureReport } from '../domain/builds/failure.ts'
import { utf8Of } from '../lib/escape.ts'
import { isRecord, parseBody } from '../lib/json.ts'
import type { Target } from '../http/http-server.ts'
import type { KnownProject } from '../store/records.ts'

/** What an endpoint receives: a delivery about a build, or a report of its tests. */
export type WebhookKind = (ReadDelivery | ReadReport)['kind']

/** A source's endpoint, and how its deliveries are read. */
export interface Endpoint {
  /** also the text of the log line */
  what: WebhookKind
  /** Does this path belong to the source? */
  matches(pathname: string): boolean
  /** The largest body that is read. */
  bodyBytesMax: number
  /** The answer to a sender that does not prove its identity. */
  unauthorizedStatus: 401 | 404
  senderOf(request: IncomingMessage, target: Target): Sender
  read(body: Uint8Array, headers: IncomingMessage['headers']): BodyReading
}

/**
 * What the headers show about the sender. `proven`: it has the secret. `unproven`: it may have signed the body, which
 * has to be read first. `stranger`: it cannot be the source, so its body is not read.
 */
export type Sender = 'proven' | 'unproven' | 'stranger'

/** The contents of a body, or why it could not be read. The reason quotes nothing from the body. */
export type BodyReading =
  | ReadDelivery
  | ReadReport
  | { kind: 'refusal'; reason: string }
  /** the secret or the body's signature is missing or wrong */
  | { kind: 'unauthorized' }
  /** an event that says nothing about a build: accepted, and not stored */
  | { kind: 'unwanted' }

/** A build's state as it was delivered. */
export interface Delivery {
  event: ReceivedEvent
  /** as received, as text; if it may hold secrets, only what was read of it, as JSON */
  body: string
  /** the project as the delivery describes it, for sources that have no other interface for projects */
  project?: KnownProject
  /**
   * identifies it, however often its source sends it; left out: its source gives it no id. Made of the body, too: the id
   * alone may be forged, even of a delivery that is signed, and must not keep away another one
   */
  key?: string
}

/** The key of a delivery that has this id and whose sender is proven. */
export const deliveryKey = (source: SourceName, id: unknown, body: Uint8Array): Pick<Delivery, 'key'> =>
  typeof id === 'string' && id !== '' ? { key: hash('sha256', `${source} ${hash('sha256', body)} ${id}`) } : {}

export interface ReadDelivery extends Delivery {
  kind: 'delivery'
}

export interface ReadReport {
  kind: 'report'
  projectId: ProjectId
  buildId: BuildId
  report: FailureReport
}

/** @param reason quotes nothing from the body */
export const refusal = (reason: string) => ({ kind: 'refusal', reason }) as const

/** Reads a body as JSON, or says why it cannot be read. The reason quotes nothing from the body. */
export function readJsonBody(body: Uint8Array): { kind: 'json'; value: unknown } | { kind: 'refusal'; reason: string } {
  const text = utf8Of(body)
  if (text === null) return refusal('the body is not UTF-8 text')
  try {
    return { kind: 'json', value: parseBody(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    return refusal(error instanceof Error ? error.message : 'the text is not JSON')
  }
}

export const bodyText = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString()

/**
 * Compares what a sender presents, a secret or a signature, with every valid one. There may be several, so that a
 * secret can be rotated. The comparison takes constant time: digests of equal length are compared, and always all of
 * them.
 */
export function createSecretCheck(secrets: readonly string[]): (presented: string | null) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const valid = secrets.map(digest)
  return (presented) => {
    const given = digest(presented ?? '')
    let matches = 0
    for (const one of valid) matches += timingSafeEqual(one, given) ? 1 : 0
    return presented !== null && matches > 0
  }
}

/**
 * A project's webhook to this bot. `none`: the project has none; its organization or group may have one. `form`: sends
 * forms, not JSON; `no-events`: lacks the event that we read.
 */
export type Hook =
  | { state: 'fine' }
  | { state: 'none' | 'off' | 'no-events' | 'form' }
  /** `said`: what the source says about the last delivery */
  | { state: 'failing'; said: string }

/**
 * Finds a project's webhook to this bot; if there are several, one that works. Only its path is compared, since a proxy
 * may be in front of the bot.
 */
export function ownHook(
  hooks: readonly unknown[],
  path: string,
  { addressOf, stateOf }: { addressOf(hook: Fields): unknown; stateOf(hook: Fields): Hook },
): Hook {
  const pathOf = (hook: Fields) => URL.parse(String(addressOf(hook)))?.pathname.replace(/\/$/, '') ?? ''
  const found = hooks.filter(isRecord).flatMap((hook) => (pathOf(hook).endsWith(path) ? stateOf(hook) : []))
  return found.find(({ state }) => state === 'fine') ?? found[0] ?? { state: 'none' }
}

type Fields = Record<string, unknown>
