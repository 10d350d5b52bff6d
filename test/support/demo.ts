import { onTestFinished } from 'vitest'
import type { PanelState } from '../../packages/sandbox-slack/src/panel-state.ts'
import { runDemo } from '../../packages/demo/src/gallery/demo-process.ts'
import { testFolder, until } from './app.ts'

/** The longest that the demo, played once, may take on a busy machine. */
export const DEMO_MAX_MS = 170_000

/** The demo as `npm run demo` starts it, over a database of its own; ended with the test. */
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

/** A demo that plays nothing by itself, with its page open, and what the page can do. */
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
    /** Waits until the other side is as this says; an address that is away for a moment is looked at again. */
    reaches: (what: string, is: (state: PanelState) => boolean) =>
      until(what, () => state().then(is, () => false), DEMO_MAX_MS),
  }
}
