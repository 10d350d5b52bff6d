import { spawn } from 'node:child_process'
import { join } from 'node:path'

const DEMO = join(import.meta.dirname, '..', 'demo.ts')

/** A demo as `npm run demo` starts it, in a separate process. */
interface DemoRun {
  /** all that it has printed so far */
  output(): string
  /** its exit code, once it has ended */
  exit: Promise<number | null>
  /** Where its page is, once it is open. Rejects when the demo ends before that. */
  url(): Promise<string>
  kill(signal: NodeJS.Signals): void
}

/** @param folder of its database and its log; emptied */
export function runDemo(folder: string, flags: readonly string[]): DemoRun {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const demo = spawn(process.execPath, [DEMO, '--folder', folder, ...flags], {
    env: { PATH, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const opened = Promise.withResolvers<string>()
  for (const stream of [demo.stdout, demo.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const url = /Open +(http:\S+)\s/.exec(output)?.[1]
      if (url !== undefined) opened.resolve(url)
    })
  const exit = new Promise<number | null>((resolve) => demo.once('close', resolve))
  const early = async () => Promise.reject(new Error(`the demo ended with ${await exit}: ${output}`))
  return {
    output: () => output,
    exit,
    url: () => Promise.race([opened.promise, early()]),
    kill: (signal) => void demo.kill(signal),
  }
}

/** A demo in a separate process, which does not play the scenario. */
export interface DemoProcess {
  /** where its page is */
  url: string
  /** Asks the sandbox CI for something, as `projects/acme%2Fweb/push`; returns its answer. Throws if it refuses. */
  ci(path: string, body: object): Promise<unknown>
  /** Asks the panel for something, as `reset`. Throws where it refuses. */
  panel(path: string, body: object): Promise<unknown>
  /** Asks it to end, and answers its exit code. */
  stop(): Promise<number | null>
}

/** Starts one on any free port. @param folder of its database and its log; emptied */
export async function startDemo(folder: string, source = 'ci'): Promise<DemoProcess> {
  const demo = runDemo(folder, ['--source', source, '--quiet', '--no-open', '--port', '0'])
  const url = await demo.url()
  return {
    url,
    ci: (path, body) => post(new URL(`/sandbox/ci/${path}`, url), body),
    panel: (path, body) => post(new URL(`/sandbox/panel/${path}`, url), body),
    stop: () => {
      demo.kill('SIGTERM')
      return demo.exit
    },
  }
}

async function post(url: URL, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${await response.text()}`)
  return response.json()
}
