import type { IncomingMessage } from 'node:http'
import type { Observation } from '../domain/build-event.ts'
import type { KnownProject } from '../store/records.ts'

/** The endpoint of a source, and how its deliveries are read. */
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

/** What a body says, or why it says nothing that could be understood. The reason quotes nothing of the body. */
export type Reading<Read = ReadDelivery> =
  | Read
  | { kind: 'refusal'; reason: string }
  /** the body is not signed as it should be */
  | { kind: 'unauthorized' }
  /** an event that says nothing about a build: accepted, and not stored */
  | { kind: 'unwanted' }

/** A delivery about a build. */
export interface ReadDelivery {
  kind: 'delivery'
  seen: Observation
  /** the body as text */
  text: string
  /** what the source says of the project, where it has no other interface for that */
  project?: KnownProject
}

/** One delivery: what it says, and its body as it came. */
export interface Delivery {
  seen: Observation
  body: string
  /** what it says of its project, which is kept with it */
  project?: KnownProject | undefined
}
