import { fileURLToPath } from 'node:url'
import { LOAD_CORE, runToEnd } from './processes.ts'

const PROCESS = fileURLToPath(new URL('stall-process.ts', import.meta.url))

/** The longest time (ms) for which a server answered nothing, as another process sees it that asks all the time. */
export const worstStall = async (port: number, forMs: number): Promise<number> =>
  Number(await runToEnd(PROCESS, [String(port), String(forMs)], LOAD_CORE))
