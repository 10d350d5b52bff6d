import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAMS = {
  migrate: new URL('./processes/migrate.ts', import.meta.url),
  record: new URL('./processes/record.ts', import.meta.url),
  'write-closed': new URL('./processes/write-closed.ts', import.meta.url),
}

/** A separate process that has the product's store open. */
export interface Aside {
  /** its output, line by line */
  lines: AsyncIterableIterator<string>
  /** tells it to continue */
  go(): void
  /** kills it at once, as a power cut would */
  kill(): void
  /** its exit code (null after a kill) and its error output */
  ended: Promise<{ code: number | null; error: string }>
}

/** Runs one of the programs in `processes/` on the database at `url`. */
export function runAside(program: keyof typeof PROGRAMS, url: string): Aside {
  const child = spawn(process.execPath, [fileURLToPath(PROGRAMS[program]), url], { stdio: 'pipe' })
  let error = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text))
  const ended = new Promise<{ code: number | null; error: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, error })),
  )
  return {
    // Read from the start: output before the first reader would be lost.
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    go: () => void child.stdin.end('go\n'),
    kill: () => void child.kill('SIGKILL'),
    ended,
  }
}
