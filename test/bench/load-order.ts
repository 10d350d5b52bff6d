import { fileURLToPath } from 'node:url'
import { LOAD_CORE, runToEnd } from './processes.ts'

/** What the load generator is to do: deliveries of ever new builds, or reports of them, over keep-alive connections. */
export interface Load {
  port: number
  /** of several processes: connections go to one after the other */
  ports?: readonly number[]
  path: string
  connections: number
  firstBuild: number
  /** sends reports of so many bytes of the builds' tests in the place of deliveries */
  reportBytes?: number
  /** so many deliveries … */
  count?: number
  /** … or for so long */
  forMs?: number
  /** open loop: so many a second, whatever the answers do; else each connection sends when it has its answer */
  perSecond?: number
}

export interface LoadResult {
  /** answers 200 or 202 */
  accepted: number
  errors: number
  elapsedMs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** share of one core that the load generator used: near 1, it was the bottleneck */
  busy: number
}

export async function sendLoad(load: Load): Promise<LoadResult> {
  const file = fileURLToPath(new URL('load.ts', import.meta.url))
  return JSON.parse(await runToEnd(file, [JSON.stringify(load)], LOAD_CORE)) as LoadResult
}
