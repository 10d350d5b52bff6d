/** Smaller buffers are not worth the call: the next minor garbage collection frees them. */
const WORTH_BYTES = 16 * 1024

/**
 * Frees the memory of a buffer at once; nothing may read it any more. V8 lets memory outside its heap grow by 64 MB
 * before it collects garbage.
 */
export function giveBack({ length, buffer }: Buffer): void {
  // Small buffers share a pool, which others may still read.
  if (length >= WORTH_BYTES && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** A memory limit that many bodies share. */
export interface MemoryBudget {
  /**
   * Registers one more body. If all bodies together exceed the limit, the largest one's `giveUp` is called: a few large
   * bodies must not keep out many small ones.
   */
  enter(giveUp: () => void): Place
}

export interface Place {
  /** Its body takes this many bytes of memory now. */
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
