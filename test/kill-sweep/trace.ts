// The output of strace, one call on each line: `812 fdatasync(21) = 0`. An interrupted call has two lines.

/** One 202 in a trace, and whether there was a sync between the delivery and the 202. */
export interface TracedAnswer {
  delivery: number
  isSynced: boolean
}

/** Every 202 in a trace of `read`, `write`, `writev`, `fsync` and `fdatasync`, oldest first. */
export function answersIn(trace: string): TracedAnswer[] {
  const answers: TracedAnswer[] = []
  const syncsBefore = new Map<string, number>()
  // By thread: an interrupted read has its socket on the first line and its data on the second.
  const reading = new Map<string, string>()
  let syncs = 0
  for (const line of trace.split('\n')) {
    if (SYNCED.test(line)) syncs++
    const [, thread = '', begun] = /^(\d+) +read\((\d+), +<unfinished/.exec(line) ?? []
    if (begun !== undefined) reading.set(thread, begun)
    const read = deliveryRead(line, reading)
    if (read !== undefined) syncsBefore.set(read, syncs)
    const [, written] = /\bwritev?\((\d+), .*"HTTP\/1\.1 202 /.exec(line) ?? []
    if (written === undefined) continue
    answers.push({ delivery: answers.length + 1, isSynced: syncs > (syncsBefore.get(written) ?? syncs) })
  }
  return answers
}

function deliveryRead(line: string, reading: ReadonlyMap<string, string>): string | undefined {
  const [, atOnce] = /\bread\((\d+), "POST \/webhooks\//.exec(line) ?? []
  if (atOnce !== undefined) return atOnce
  const [, thread] = /^(\d+) +<\.\.\. read resumed>"POST \/webhooks\//.exec(line) ?? []
  return thread === undefined ? undefined : reading.get(thread)
}

/** How often something was synced to disk. */
export const syncsIn = (trace: string): number => trace.split('\n').filter((line) => SYNCED.test(line)).length

// Failed syncs do not count.
const SYNCED = /\b(?:fsync|fdatasync)(?:\(\d+\)| resumed>\)) += 0$/
