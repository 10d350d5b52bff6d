import { z } from 'zod'

/** Which doors a fault is behind. `site` is the badge and the pages. */
export const DOORS = ['v2', 'legacy', 'oauth', 'site'] as const
export type DoorName = (typeof DOORS)[number]

const where = z.enum([...DOORS, 'all']).default('all')
/** calls of this method alone, such as `PUT` */
const method = z.enum(['GET', 'POST', 'PUT']).optional()
/** how many calls it hits; left out: all, until cleared */
const times = z.int().min(1).optional()
const SLOW_MS_MAX = 600_000

/**
 * `slow` answers after `ms` · `down` closes the connection unanswered, nothing done · `hang` never answers, nothing done ·
 * `lost-answer` does it, then closes the connection · `status` answers `statusCode` (401, 403, 500, 502…), nothing done ·
 * `garbage` answers 200 with half a JSON text, nothing done.
 */
export const faultSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('slow'), where, method, times, ms: z.int().min(0).max(SLOW_MS_MAX) }),
  z.strictObject({ kind: z.literal('down'), where, method, times }),
  z.strictObject({ kind: z.literal('hang'), where, method, times }),
  z.strictObject({ kind: z.literal('lost-answer'), where, method, times }),
  z.strictObject({ kind: z.literal('garbage'), where, method, times }),
  z.strictObject({
    kind: z.literal('status'),
    where,
    method,
    times,
    statusCode: z.int().min(400).max(599),
    reason: z
      .string()
      .regex(/^[\x20-\x7e]*$/)
      .optional(),
    retryAfterS: z.int().min(0).optional(),
  }),
])
export type Fault = z.infer<typeof faultSchema>
/** A fault as one says it: `{ kind: 'down', times: 1 }`. */
export type FaultWanted = z.input<typeof faultSchema>

/** The faults switched on. Each call meets the first one that is behind its door. */
export interface Faults {
  add(fault: FaultWanted): void
  list(): readonly Fault[]
  clear(): void
  /** The fault that this call meets; counts it. */
  meet(door: DoorName, called: string): Fault | undefined
}

export function createFaults(): Faults {
  let faults: Fault[] = []

  function meet(door: DoorName, called: string): Fault | undefined {
    const fault = faults.find(
      (candidate) => (candidate.where === 'all' || candidate.where === door) && (candidate.method ?? called) === called,
    )
    if (fault?.times === undefined) return fault
    fault.times -= 1
    if (fault.times === 0) faults = faults.filter((other) => other !== fault)
    return fault
  }

  return {
    add: (fault) => void faults.push(faultSchema.parse(fault)),
    list: () => faults,
    clear: () => void (faults = []),
    meet,
  }
}
