import { z } from 'zod'

/** The parts of the service that a fault can apply to. `site` is the badge and the pages. */
export const DOORS = ['v2', 'legacy', 'oauth', 'site'] as const
export type DoorName = (typeof DOORS)[number]

const where = z.enum([...DOORS, 'all']).default('all')
/** the fault applies only to this method */
const method = z.enum(['GET', 'POST', 'PUT']).optional()
/** how many calls the fault applies to; if left out, all until it is cleared */
const times = z.int().min(1).optional()
const SLOW_MS_MAX = 600_000

/**
 * `slow` handles the call after `ms` · `lost-answer` handles the call, then closes the connection. The others do not
 * handle the call: `down` closes the connection · `hang` never answers · `status` answers `statusCode` (401, 403, 500,
 * 502…) · `garbage` answers 200 with half a JSON text.
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
/** A fault as callers add it, such as `{ kind: 'down', times: 1 }`: fields with defaults may be left out. */
export type FaultWanted = z.input<typeof faultSchema>

/** The active faults. The first one that matches a call applies to it. */
export interface Faults {
  add(fault: FaultWanted): void
  list(): readonly Fault[]
  clear(): void
  /** The fault that applies to this call; counts down its `times`. */
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
