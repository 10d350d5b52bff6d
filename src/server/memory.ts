/** Smaller buffers are not worth the call: the next collection of young objects frees them. */
const WORTH_BYTES = 16 * 1024

/**
 * Frees the memory of a buffer at once; nothing may read it any more. It lies outside the heap, where the engine lets it grow
 * by 64 MB before it collects.
 */
export function giveBack({ length, buffer }: Buffer): void {
  // Small buffers share memory, which others may still read.
  if (length >= WORTH_BYTES && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** A limit on what is held in memory of many bodies together. */
export interface MemoryBudget {
  /**
   * A place for one more body. When all together would take more than the limit, the largest is given up: a few large
   * bodies must not keep out the many small ones.
   */
  enter(giveUp: () => void): Place
}

export interface Place {
  /** Its body takes so much memory now. */
  holds(bytes: number): void
  /** Idempotent. */
  leave(): void
}

export function createMemoryBudget(bytesMax: number): MemoryBudget {
  const places = new Map<object, { bytes: number; giveUp: () => void }>()
  let heldBytes = 0
  const isOverfull = () => heldBytes > bytesMax

  function leave(key: object): void {
    heldBytes -= places.get(key)?.bytes ?? 0
    places.delete(key)
  }

  function giveUpLargest(): void {
    const [key, largest] = [...places].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most))
    leave(key)
    largest.giveUp()
  }

  return {
    enter(giveUp) {
      const key = {}
      places.set(key, { bytes: 0, giveUp })
      return {
        holds(bytes) {
          const place = places.get(key)
          if (!place) return
          heldBytes += bytes - place.bytes
          place.bytes = bytes
          while (isOverfull()) giveUpLargest()
        },
        leave: () => leave(key),
      }
    },
  }
}
