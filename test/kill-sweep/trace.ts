// What strace says of a process, one line a call: `812 fdatasync(21) = 0`; a call that others interrupt in two halves.

/** One acknowledgement as the trace shows it: whether the disk was waited for between its delivery and its answer. */
export interface TracedAnswer {
  delivery: number
  isSynced: boolean
}

/** Every 202 in a trace of `read`, `write`, `writev`, `fsync` and `fdatasync`, oldest first. */
export function answersIn(trace: string): TracedAnswer[] {
  const answers: TracedAnswer[] = []
  const syncsBefore = new Map<string, number>()
  // By thread: a read that others interrupt says first from where, and then what.
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

/** How often the disk was waited for. */
export const syncsIn = (trace: string): number => trace.split('\n').filter((line) => SYNCED.test(line)).length

// One that has failed counts for nothing.
const SYNCED = /\b(?:fsync|fdatasync)(?:\(\d+\)| resumed>\)) += 0$/
