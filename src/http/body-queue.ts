import type { Clock } from '../lib/clock.ts'

/** The most bytes that are read at once from senders that have shown the secret. */
const PROVEN_BYTES_MAX = 16 * 1024 * 1024

/** The same for bodies whose signature can be checked only after they are read. */
const UNPROVEN_BYTES_MAX = 8 * 1024 * 1024

/**
 * A body of up to this size does not wait: Node reads as much of every connection before it can be stopped, so waiting
 * would save no memory. Nearly all deliveries and requests from Slack are smaller.
 */
export const AT_ONCE_BYTES_MAX = 64 * 1024

/** How many bytes of waiting bodies are begun per turn of the event loop, which accepts one connection. */
const TURN_BYTES = 128 * 1024

/** A body that takes longer makes room for a waiting one; how often this is checked. */
export const SLOW_MS_MAX = 500
const LOOK_MS = 100

/** How many addresses that sent a valid signature are remembered; the oldest is forgotten. */
export const PROVEN_ADDRESSES_MAX = 1_000

/** The orders in which bodies of equal rank are begun, in turn: whatever delays one order does not delay the others. */
const TURNS: readonly ((one: Body, waitedLonger: Body) => boolean)[] = [
  function smallest(one, waitedLonger) {
    return one.bytes < waitedLonger.bytes
  },
  function oldest() {
    return false
  },
  function newest() {
    return true
  },
]

export type BodyQueue = ReturnType<typeof createBodyQueue>

/** Strangers cannot get into the queue of senders that have shown the secret. */
export interface BodyQueues {
  proven: BodyQueue
  unproven: BodyQueue
}

export const createBodyQueues = (time: Time): BodyQueues => ({
  proven: createBodyQueue({ bytesMax: PROVEN_BYTES_MAX, ...time }),
  unproven: createBodyQueue({ bytesMax: UNPROVEN_BYTES_MAX, ...time }),
})

interface Time {
  clock: Pick<Clock, 'sleep'>
  /** a monotonic clock (ms) */
  running: () => number
}

interface Sender {
  key: string
  /** whether its address has sent a valid signature */
  isKnown: boolean
  /** in the queue */
  bodies: number
  /** bytes of its bodies that are being read */
  heldBytes: number
}

interface Body {
  sender: Sender
  bytes: number
  begin: () => void
  giveUp: () => void
  /** when its reading began */
  since: number
}

/**
 * Large bodies take turns, so that all that are being read have `bytesMax` together: that bounds the memory, and the
 * time that reading takes from the thread. No sender can make another one wait for long:
 * - Next is an address that has sent a valid signature; among equals, the one with the fewest bytes being read. Of
 *   their bodies, the smallest, the oldest and the newest are begun in turn.
 * - If it does not fit, others are given up: those that take too long, and those of an address that has more than its
 *   share. A sender that delivers in one go is never slow.
 */
export function createBodyQueue({ bytesMax, clock, running }: Time & { bytesMax: number }) {
  const senders = new Map<string, Sender>()
  const known = new Set<string>()
  // Both in the order of their arrival there.
  const waiting = new Set<Body>()
  const reading = new Set<Body>()
  let heldBytes = 0
  let turns = 0
  /** begun bytes that have not had their turn of the event loop */
  let aheadBytes = 0
  let isLooking = false

  function add(address: string, parts: Pick<Body, 'bytes' | 'begin' | 'giveUp'>): Body {
    const key = neighbourhood(address)
    const sender = senders.get(key) ?? { key, isKnown: known.has(key), bodies: 0, heldBytes: 0 }
    senders.set(key, sender)
    sender.bodies += 1
    const body = { ...parts, sender, since: 0 }
    waiting.add(body)
    return body
  }

  function serve(): void {
    for (let next = nextWaiting(); next && aheadBytes < TURN_BYTES && makeRoom(next); next = nextWaiting()) begin(next)
    if (waiting.size > 0) void lookAgain()
  }

  function nextWaiting(): Body | null {
    let next: Body | null = null
    for (const body of waiting) if (!next || goesBefore(body, next)) next = body
    return next
  }

  function goesBefore(one: Body, other: Body): boolean {
    if (one.sender.isKnown !== other.sender.isKnown) return one.sender.isKnown
    if (one.sender.heldBytes !== other.sender.heldBytes) return one.sender.heldBytes < other.sender.heldBytes
    return TURNS[turns % TURNS.length]!(one, other)
  }

  function begin(body: Body): void {
    turns += 1
    if (aheadBytes === 0) setImmediate(endTurn)
    aheadBytes += body.bytes
    waiting.delete(body)
    reading.add(body)
    hold(body, body.bytes)
    body.since = running()
    body.begin()
  }

  function endTurn(): void {
    aheadBytes = Math.max(0, aheadBytes - TURN_BYTES)
    if (aheadBytes > 0) setImmediate(endTurn)
    if (waiting.size > 0) serve()
  }

  function hold({ sender }: Body, bytes: number): void {
    sender.heldBytes += bytes
    heldBytes += bytes
  }

  /** Gives up other bodies for this one, if that makes enough room. */
  function makeRoom(body: Body): boolean {
    let freeBytes = bytesMax - heldBytes
    const givenUp: Body[] = []
    const others =
      freeBytes >= body.bytes ? [] : [...reading].toSorted((a, b) => b.sender.heldBytes - a.sender.heldBytes)
    for (const other of others.filter((one) => makesRoomFor(one, body))) {
      if (freeBytes >= body.bytes) break
      givenUp.push(other)
      freeBytes += other.bytes
    }
    if (freeBytes < body.bytes) return false
    for (const other of givenUp) {
      remove(other)
      other.giveUp()
    }
    return true
  }

  function makesRoomFor({ sender, since }: Body, { sender: other, bytes }: Body): boolean {
    if (sender.isKnown !== other.isKnown) return other.isKnown
    return running() - since >= SLOW_MS_MAX || sender.heldBytes > other.heldBytes + bytes
  }

  async function lookAgain(): Promise<void> {
    if (isLooking) return
    isLooking = true
    await clock.sleep(LOOK_MS)
    isLooking = false
    serve()
  }

  /** @returns false: it was removed before */
  function remove(body: Body): boolean {
    const wasReading = reading.delete(body)
    if (!wasReading && !waiting.delete(body)) return false
    const { sender } = body
    if (wasReading) hold(body, -body.bytes)
    sender.bodies -= 1
    if (sender.bodies === 0) senders.delete(sender.key)
    return true
  }

  return {
    /**
     * Calls `begin` when the body may be read, perhaps at once; and `giveUp` if it has to make room for another one.
     * @param address the sender's
     * @returns to be called when the body was read or is not wanted any more; idempotent
     */
    enter(address: string, bytes: number, reader: Pick<Body, 'begin' | 'giveUp'>): () => void {
      if (bytes <= AT_ONCE_BYTES_MAX) {
        reader.begin()
        return () => {}
      }
      const body = add(address, { bytes, ...reader })
      serve()
      return () => {
        if (remove(body)) serve()
      }
    },
    /** A body from this address had the right signature. */
    prove(address: string): void {
      const key = neighbourhood(address)
      known.delete(key)
      known.add(key)
      if (known.size > PROVEN_ADDRESSES_MAX) known.delete(known.values().next().value!)
      const sender = senders.get(key)
      if (sender) sender.isKnown = true
    },
  }
}

/** One IPv6 subscriber has a whole /64: its addresses count as one. */
export function neighbourhood(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = [], tail] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: IPV6_GROUPS - head.length - tail.length }, () => '0') : []
  return [...head, ...zeros, ...(tail ?? [])].slice(0, IPV6_GROUPS / 2).join(':')
}

const IPV6_GROUPS = 8
