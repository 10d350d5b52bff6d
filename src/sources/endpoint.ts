import type { IncomingMessage } from 'node:http'
import type { Observation } from '../domain/build-event.ts'
import type { KnownProject } from '../store/records.ts'

/** A source's endpoint, and how its deliveries are read. */
export interface Endpoint<Read = ReadDelivery> {
  /** Does this path belong to the source? */
  matches(pathname: string): boolean
  /** The largest body that is read. */
  bodyBytesMax: number
  /** The answer to a sender that does not prove its identity. */
  unauthorizedStatus: 401 | 404
  /** Whether the sender may be the source, as far as its headers and address show. The body is read only then. */
  maySend(request: IncomingMessage, url: URL): boolean
  read(body: Uint8Array, headers: IncomingMessage['headers']): Reading<Read>
}

/** What was read from a body, or why it could not be read. The reason quotes nothing of the body. */
export type Reading<Read = ReadDelivery> =
  | Read
  | { kind: 'refusal'; reason: string }
  /** the body's signature is missing or wrong */
  | { kind: 'unauthorized' }
  /** an event that says nothing about a build: accepted, and not stored */
  | { kind: 'unwanted' }

/** A delivery about a build. */
export interface ReadDelivery {
  kind: 'delivery'
  seen: Observation
  /** the body as text */
  text: string
  /** the project as the delivery describes it, for sources that have no other interface for projects */
  project?: KnownProject
}

/** One delivery: what was read from it, and its body as received. */
export interface Delivery {
  seen: Observation
  body: string
  /** the project as the delivery describes it, which is stored too */
  project?: KnownProject | undefined
}
