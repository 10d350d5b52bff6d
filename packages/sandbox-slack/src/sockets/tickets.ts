import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'

/** How long the URL from `apps.connections.open` is valid. */
export const TICKET_TTL_MS = 30_000

/** Tickets. Each allows one connection. */
export interface Tickets {
  issue(): string
  /** Uses up the ticket. Returns whether it was valid. */
  redeem(ticket: string | null): boolean
}

export function createTickets(clock: Clock): Tickets {
  const issuedMs = new Map<string, number>()
  const isFresh = (atMs: number): boolean => clock.now() - atMs <= TICKET_TTL_MS
  return {
    issue: () => {
      for (const [ticket, atMs] of issuedMs) if (!isFresh(atMs)) issuedMs.delete(ticket)
      const ticket = randomUUID()
      issuedMs.set(ticket, clock.now())
      return ticket
    },
    redeem: (ticket) => {
      const atMs = ticket === null ? undefined : issuedMs.get(ticket)
      if (ticket !== null) issuedMs.delete(ticket)
      return atMs !== undefined && isFresh(atMs)
    },
  }
}
