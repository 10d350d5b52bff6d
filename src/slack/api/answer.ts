import type { MessageTs } from '../../domain/ids.ts'

// Reading what Slack answers: nothing is taken for granted but `ok`.

/** Text that says something, or null. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export const isMessageTs = (value: unknown): value is MessageTs => typeof value === 'string' && /^\d+\.\d+$/.test(value)
