import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'

/** The address that `apps.connections.open` answers can be used for so long. */
export const TICKET_TTL_MS = 30_000

/** Tickets for one connection each. */
export interface Tickets {
  issue(): string
  /** Whether the ticket lets a connection in now; it does so once. */
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
