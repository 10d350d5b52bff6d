import type { Queue } from '../../../sandbox-slack/src/panel-state.ts'

/** A bot that does not answer in this time is asked again at the next look. */
const ASK_MAX_MS = 2_000

/** What waits inside the bot at this port, as its metrics say; null where it does not answer. */
export async function askQueue(port: number): Promise<Queue> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(ASK_MAX_MS) })
    return answer.ok ? readQueue(await answer.text()) : null
  } catch {
    return null
  }
}

/** The four queues of `buildline_backlog`; null where one is missing. */
export function readQueue(metrics: string): Queue {
  const found = metrics.matchAll(/^buildline_backlog\{queue="(\w+)"\} (\d+)$/gm)
  const { ingest, post, edit, look } = Object.fromEntries([...found].map(([, queue, count]) => [queue, Number(count)]))
  if (ingest === undefined || post === undefined || edit === undefined || look === undefined) return null
  return { ingest, post, edit, look }
}

export const waitingIn = (queue: NonNullable<Queue>): number => queue.ingest + queue.post + queue.edit + queue.look
