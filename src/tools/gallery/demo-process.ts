import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const DEMO = join(import.meta.dirname, '..', 'demo.ts')

/** A demo that somebody else started: a process of its own, in which nothing plays by itself. */
export interface DemoProcess {
  /** where its page is */
  url: string
  /** Asks the sandbox CI for something, as `projects/acme%2Fweb/push`; answers what it says. Throws where it refuses. */
  ci(path: string, body: object): Promise<unknown>
  /** Asks it to end, and answers its exit code. */
  stop(): Promise<number | null>
}

/** Starts one on any free port. @param folder of its database and its log; emptied */
export async function startDemo(folder: string): Promise<DemoProcess> {
  const demo = spawn(process.execPath, [DEMO, '--quiet', '--no-open', '--port', '0', '--folder', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => demo.once('exit', resolve))
  const opened = new Promise<string>((resolve) => {
    createInterface({ input: demo.stdout }).on('line', (line) => {
      const url = /Open +(http:\S+)/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([
    opened,
    ended.then((code) => Promise.reject(new Error(`the demo ended with ${code}`))),
  ])
  return {
    url,
    ci: (path, body) => post(new URL(`/sandbox/ci/${path}`, url), body),
    stop: () => {
      demo.kill('SIGTERM')
      return ended
    },
  }
}

async function post(url: URL, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status} ${await response.text()}`)
  return response.json()
}
