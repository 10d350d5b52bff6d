import type { MessageTs } from '../../domain/ids.ts'

// Reading what Slack answers: nothing is taken for granted but `ok`.

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** One field of what may be no object at all. */
export const fieldOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined)

/** Text that says something, or null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export const isMessageTs = (value: unknown): value is MessageTs => typeof value === 'string' && /^\d+\.\d+$/.test(value)
