/** A random generator. The same seed gives the same values. `next` is uniform in [0, 1). Not for real secrets. */
export interface Random {
  next(): number
  /** `length` lower-case hex digits. */
  hex(length: number): string
  /** 8-4-4-4-12 hex digits without RFC 9562's version bits, because the service's UUIDs have none. */
  uuid(): string
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    return mix(state) / 2 ** 32
  }
  const hex = (length: number) => Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join('')
  return { next, hex, uuid: () => [8, 4, 4, 4, 12].map(hex).join('-') }
}

// mulberry32
function mix(seed: number): number {
  let value = Math.imul(seed ^ (seed >>> 15), seed | 1)
  value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
  return (value ^ (value >>> 14)) >>> 0
}
