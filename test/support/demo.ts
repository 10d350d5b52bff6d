import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { PanelState } from '../../src/sandbox/panel/state.ts'
import { testFolder, until } from './app.ts'

const DEMO = fileURLToPath(new URL('../../src/tools/demo.ts', import.meta.url))

/** The longest that the demo, played once, may take on a busy machine. */
export const DEMO_MAX_MS = 170_000

/** The demo as `npm run demo` starts it, over a database of its own; ended with the test. */
export function startDemo(...args: string[]) {
  const demo = spawn(process.execPath, [DEMO, '--folder', testFolder(), ...args], {
    env: { PATH: process.env['PATH'] },
  })
  let output = ''
  for (const stream of [demo.stdout, demo.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const exit = new Promise<number | null>((resolve) => demo.once('close', (code) => resolve(code)))
  onTestFinished(async () => {
    demo.kill('SIGTERM')
    await exit
  })
  return {
    output: () => output,
    exit,
    says: (words: string) => until(`the demo says ${words}`, () => output.includes(words), DEMO_MAX_MS),
    interrupt: () => void demo.kill('SIGINT'),
  }
}

/** A demo that plays nothing by itself, with its page open, and what the page can do. */
export async function openDemo() {
  const demo = startDemo('--port', '0', '--quiet')
  await demo.says('Ctrl-C ends it')
  const url = /Open +(\S+)/.exec(demo.output())![1]!
  const state = async () => (await (await fetch(`${url}sandbox/panel/state`)).json()) as PanelState
  return {
    ...demo,
    url,
    state,
    post: async (path: string, body: unknown = {}) =>
      (await fetch(`${url}sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) })).status,
    /** Waits until the other side is as this says; an address that is away for a moment is looked at again. */
    reaches: (what: string, is: (state: PanelState) => boolean) =>
      until(what, () => state().then(is, () => false), DEMO_MAX_MS),
  }
}
