import type { IncomingMessage } from 'node:http'
import type { Observation } from '../domain/build-event.ts'
import type { KnownProject } from '../store/records.ts'

/** What a source delivers to, and how its deliveries are read. */
export interface Door {
  /** Does this path belong to the source? */
  matches(pathname: string): boolean
  /** The largest body that is read. */
  bodyBytesMax: number
  /** What a sender gets that does not prove who it is. */
  strangerStatus: 401 | 404
  /** Whether the sender may be the source, as far as that shows before the body is read. */
  mayKnow(request: IncomingMessage, url: URL): boolean
  read(body: Uint8Array, headers: IncomingMessage['headers']): Reading
}

/** What a body says, or why it says nothing that could be understood. The reason quotes nothing of the body. */
export type Reading =
  | {
      kind: 'delivery'
      seen: Observation
      /** the body as text */
      text: string
      /** what the source says of the project, where it has no other interface for that */
      project?: KnownProject
    }
  | { kind: 'refusal'; reason: string }
  /** the body is not signed as it should be */
  | { kind: 'stranger' }
  /** an event that says nothing of a build: taken, and not kept */
  | { kind: 'unwanted' }

/** One delivery: what it says, and its body as it came. */
export interface Delivery {
  seen: Observation
  body: string
  /** what it says of its project, which is kept with it */
  project?: KnownProject | undefined
}
