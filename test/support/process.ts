import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import type { Settings } from './app.ts'
import { until } from './app.ts'
import { START } from './start-command.ts'

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Process {
  pid: number
  /** everything on stdout and stderr so far */
  output(): string
  /** resolves when the endpoints are open */
  url(): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** stops reading its log */
  leaveOutput(): void
  readonly exit: Promise<Exit>
}

/** Starts what `npm start` runs, in a folder, with exactly these settings. It is killed with the test. */
export function startProcess(folder: string, settings: Settings): Process {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [START.file], { cwd: folder, env: { PATH, NODE_COMPILE_CACHE, ...settings } })
  let output = ''
  let hasEnded = false
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      hasEnded = true
      resolve({ code, signal })
    })
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exit,
    kill: (signal) => void child.kill(signal),
    leaveOutput() {
      child.stdout.pause()
      // Otherwise the unread pipe keeps the test waiting after the exit.
      child.once('exit', () => child.stdout.destroy())
    },
    url: () =>
      until('the process opens its doors', () => {
        if (hasEnded) throw new Error(`the process ended:\n${output}`)
        const port = /"port":(\d+)\D/.exec(output)?.[1]
        return port ? `http://127.0.0.1:${port}` : null
      }),
  }
}
