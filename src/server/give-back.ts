/** Smaller ones are not worth the call: the engine's next look at what is young finds them. */
const WORTH_BYTES = 16 * 1024

/**
 * Gives the memory of bytes that nobody will look at any more back at once. It lies outside of the heap, where the engine
 * lets it grow by 64 MB before it looks, and gives it back only when it has collected what points to it.
 */
export function giveBack({ length, buffer }: Buffer): void {
  // Small ones share one stretch of memory, which others may still read.
  if (length >= WORTH_BYTES && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
