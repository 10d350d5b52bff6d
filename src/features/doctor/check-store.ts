import { errorCode } from '../../lib/error-code.ts'
import type { Found } from './asked.ts'
import type { Examination } from './readings.ts'

/** Each delivery waits for a write: one that takes longer is felt. */
export const WRITE_MS_MAX = 1_000

/** A database that cannot grow takes no delivery. */
export const FREE_BYTES_MIN = 200 * 1024 * 1024

/** Can something be written, in good time, and is there room for more? */
export async function checkStore({ store, clock, freeBytes }: Examination): Promise<Found[]> {
  if (!store) return [{ kind: 'no-database' }]
  const beganAt = clock.now()
  try {
    await store.write((tx) => tx.setLastDoneAt(JOB, beganAt))
  } catch (error) {
    return [{ kind: 'store-fails', code: codeOf(error) }]
  }
  const ms = clock.now() - beganAt
  const free = await freeBytes?.()
  const found: Found[] = [
    ...(ms > WRITE_MS_MAX ? [{ kind: 'store-slow', ms } as const] : []),
    ...(free !== undefined && free < FREE_BYTES_MIN ? [{ kind: 'disk-full', freeBytes: free } as const] : []),
  ]
  return found.length > 0 ? found : [{ kind: 'fine', count: null }]
}

// The one row that an examination writes: when the last one was.
const JOB = 'doctor'

/** A short code; what a database says can hold anything. */
const codeOf = (error: unknown): string => errorCode(error) ?? 'unknown'
