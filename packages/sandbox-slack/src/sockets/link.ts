import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { isJson } from '../json.ts'
import type { Json } from '../json.ts'
import type { Frame } from './envelope.ts'

/** The result of sending an envelope on a connection. */
export type FrameEnd =
  | { kind: 'acknowledged'; payload: unknown }
  /** no acknowledgement in time */
  | { kind: 'late' }
  /** the connection ended before an acknowledgement came */
  | { kind: 'lost' }

/** A Socket Mode connection of the bot. */
export interface Link {
  isOpen(): boolean
  /** `leave` was called: the connection still works, but others are preferred */
  isLeaving(): boolean
  /** Sends an envelope and waits for its acknowledgement. */
  deliver(frame: Frame, timeoutMs: number): Promise<FrameEnd>
  /** Sends a message that needs no acknowledgement. */
  say(message: Json): void
  leave(): void
  /** Sends a ping, or cuts the connection if the last ping was not answered. */
  ping(): void
  tear(): void
}

export function createLink(socket: WebSocket, raw: Duplex, ended: () => void): Link {
  const waiting = new Map<string, (end: FrameEnd) => void>()
  let isAlive = true
  let isLeaving = false
  lingerAfterClose(raw)
  socket.on('pong', () => (isAlive = true))
  socket.on('message', (text: Buffer) => acknowledge(waiting, text.toString()))
  // An invalid frame ends the connection. `close` follows and does the rest.
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    for (const end of waiting.values()) end({ kind: 'lost' })
    ended()
  })
  return {
    isOpen: () => socket.readyState === WebSocket.OPEN,
    isLeaving: () => isLeaving,
    deliver: (frame, timeoutMs) => deliver(socket, waiting, frame, timeoutMs),
    say: (message) => socket.send(JSON.stringify(message)),
    leave: () => (isLeaving = true),
    ping: () => {
      if (!isAlive) return socket.terminate()
      isAlive = false
      socket.ping('Ping from the sandbox')
    },
    tear: () => socket.terminate(),
  }
}

/** Slack answers a close frame but leaves the TCP connection open until the client ends it. */
function lingerAfterClose(raw: Duplex): void {
  raw.end = () => raw
  raw.once('end', () => raw.destroy())
}

function deliver(
  socket: WebSocket,
  waiting: Map<string, (end: FrameEnd) => void>,
  frame: Frame,
  timeoutMs: number,
): Promise<FrameEnd> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end({ kind: 'late' }), timeoutMs)
    const end = (how: FrameEnd): void => {
      clearTimeout(timer)
      waiting.delete(frame.envelope_id)
      resolve(how)
    }
    waiting.set(frame.envelope_id, end)
    socket.send(JSON.stringify(frame))
  })
}

/** Ignores messages that do not acknowledge a waiting envelope. */
function acknowledge(waiting: Map<string, (end: FrameEnd) => void>, text: string): void {
  const message = parse(text)
  if (!isJson(message)) return
  waiting.get(String(message['envelope_id']))?.({ kind: 'acknowledged', payload: message['payload'] })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
