import { z } from 'zod'

/** The longest delay of a fault. */
export const FAULT_MS_MAX = 600_000

const KINDS = [
  'ratelimited',
  '5xx',
  'slow',
  'accept-then-drop',
  'accept-then-5xx',
  'accept-late',
  'down',
  'error',
] as const

/**
 * A fault: its kind, the calls it applies to, and how often. `method` and `channel` narrow it (also `response_url`,
 * `upload_url`). Without `times` it lasts until cleared. `probability` uses a generator with `seed`.
 */
export const faultSchema = z.strictObject({
  kind: z.enum(KINDS),
  method: z.string().optional(),
  channel: z.string().optional(),
  times: z.int().min(1).optional(),
  /** slow: the delay of the answer; accept-late: the delay of the effect */
  ms: z.int().min(0).max(FAULT_MS_MAX).default(1_000),
  retryAfterS: z.int().min(1).default(1),
  /** the status of a 5xx */
  status: z.int().min(500).max(599).default(503),
  /** error: the error code */
  error: z.string().min(1).default('internal_error'),
  probability: z.number().min(0).max(1).default(1),
  seed: z.int().default(1),
})

export type FaultInput = z.input<typeof faultSchema>
export type Fault = z.output<typeof faultSchema>

export interface Faults {
  /** Returns the fault's id. Throws if the fault is invalid. */
  add(fault: FaultInput): string
  /** Removes one fault by id, or all. */
  clear(id?: string): void
  list(): (Fault & { id: string; hits: number })[]
  /** Finds the first fault that applies to this call, and counts the hit. */
  take(call: { method: string; channel: string | undefined }): Fault | undefined
}

interface Entry {
  fault: Fault
  hits: number
  draw: () => number
}

export function createFaults(): Faults {
  const entries = new Map<string, Entry>()
  let lastId = 0
  return {
    add: (input) => {
      const fault = faultSchema.parse(input)
      const id = `fault-${(lastId += 1)}`
      entries.set(id, { fault, hits: 0, draw: createDraw(fault.seed) })
      return id
    },
    clear: (id) => void (id === undefined ? entries.clear() : entries.delete(id)),
    list: () => [...entries].map(([id, { fault, hits }]) => ({ ...fault, id, hits })),
    take: (call) => take([...entries.values()], call),
  }
}

function take(entries: readonly Entry[], call: { method: string; channel: string | undefined }): Fault | undefined {
  const hit = entries.find((entry) => matches(entry, call) && entry.draw() < entry.fault.probability)
  if (!hit) return undefined
  hit.hits += 1
  return hit.fault
}

const matches = ({ fault, hits }: Entry, { method, channel }: { method: string; channel: string | undefined }) =>
  hits < (fault.times ?? Number.POSITIVE_INFINITY) &&
  (fault.method === undefined || fault.method === method) &&
  (fault.channel === undefined || fault.channel === channel)

/** mulberry32: small, seeded, uniform in [0, 1). */
function createDraw(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
