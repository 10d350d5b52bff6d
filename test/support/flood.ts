import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The same request from many strangers: whoever is cut off begins again. */
export interface Flood {
  port: number
  /** the strangers' address, one of this machine */
  from: string
  connections: number
  /** the request line and headers, without the length and the blank line */
  head: string
  /** what each announces */
  bodyBytes: number
  /** what each sends of it at once; the rest never comes */
  sentBytes: number
}

/** Begins the flood in a process of its own; resolves when every connection has been opened once. */
export async function beginFlood(flood: Flood): Promise<{ end(): Promise<void> }> {
  const file = fileURLToPath(new URL('flood-process.ts', import.meta.url))
  const child = spawn(process.execPath, [file, JSON.stringify(flood)], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    async end() {
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    },
  }
}
