import { onTestFinished } from 'vitest'
import type { PanelState } from '../../packages/sandbox-slack/src/panel-state.ts'
import { runDemo } from '../../packages/demo/src/gallery/demo-process.ts'
import { testFolder, until } from './app.ts'

/** The longest time that one run of the demo takes on a busy machine. */
export const DEMO_MAX_MS = 240_000

/** Starts the demo as `npm run demo` does, with its own database. It ends with the test. */
export function startDemo(...flags: string[]) {
  const demo = runDemo(testFolder(), flags)
  onTestFinished(async () => {
    demo.kill('SIGTERM')
    await demo.exit
  })
  return {
    ...demo,
    says: (words: string) => until(`the demo says ${words}`, () => demo.output().includes(words), DEMO_MAX_MS),
    interrupt: () => demo.kill('SIGINT'),
  }
}

/** A demo that plays nothing by itself, and the requests that its page can make. */
export async function openDemo() {
  const demo = startDemo('--port', '0', '--quiet')
  await demo.says('Ctrl-C ends it')
  const url = await demo.url()
  const state = async () => (await (await fetch(`${url}sandbox/panel/state`)).json()) as PanelState
  return {
    ...demo,
    url,
    state,
    post: async (path: string, body: unknown = {}) =>
      (await fetch(`${url}sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) })).status,
    /** Polls until the panel's state fulfils this; a failed request is repeated. */
    reaches: (what: string, is: (state: PanelState) => boolean) =>
      until(what, () => state().then(is, () => false), DEMO_MAX_MS),
  }
}
