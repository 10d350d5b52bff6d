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
