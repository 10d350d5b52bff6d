import { toLine } from '../../lib/escape.ts'

/** How names, addresses and times are shown: in Slack's markup or as plain text. */
export interface Say {
  /** text from outside, as one line */
  outside(text: string): string
  /** text to type exactly as it is: a setting, a scope, an address */
  code(text: string): string
  channel(id: string): string
  time(atMs: number): string
}

/** For a terminal and a log. */
export const IN_PLAIN_TEXT: Say = {
  outside: toLine,
  code: (text) => text,
  channel: (id) => `channel ${id}`,
  time: (atMs) => new Date(atMs).toISOString(),
}

export interface FindingWords {
  what: string
  /** how to fix it; null: there is nothing to fix */
  remedy: string | null
}
