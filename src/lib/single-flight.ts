/** Work that is done once at a time: whoever asks while it is under way gets the same end. */
export function singleFlight<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let underWay: Promise<Value> | null = null
  return () => (underWay ??= work().finally(() => (underWay = null)))
}
