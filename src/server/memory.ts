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

export type MemoryBudget = ReturnType<typeof createMemoryBudget>

/** A memory limit that many bodies share. */
export function createMemoryBudget(bytesMax: number) {
  const bodies = new Set<{ bytes: number; giveUp: () => void }>()
  let heldBytes = 0
  const isOverfull = () => heldBytes > bytesMax

  return {
    /**
     * Registers one more body. If all bodies together exceed the limit, the largest one's `giveUp` is called: a few
     * large bodies must not keep out many small ones.
     */
    enter(giveUp: () => void) {
      const body = { bytes: 0, giveUp }
      bodies.add(body)
      return {
        /** This body takes so many bytes of memory now. */
        holds(bytes: number): void {
          if (!bodies.has(body)) return
          heldBytes += bytes - body.bytes
          body.bytes = bytes
          while (isOverfull()) giveUpLargest()
        },
        /** Idempotent. */
        leave: () => remove(body),
      }
    },
  }

  function giveUpLargest(): void {
    const largest = [...bodies].reduce((most, one) => (one.bytes > most.bytes ? one : most))
    remove(largest)
    largest.giveUp()
  }

  function remove(body: { bytes: number; giveUp: () => void }): void {
    if (bodies.delete(body)) heldBytes -= body.bytes
  }
}
