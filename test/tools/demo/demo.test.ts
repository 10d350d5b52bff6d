import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testFolder, until } from '../../support/app.ts'

const DEMO = fileURLToPath(new URL('../../../src/tools/demo.ts', import.meta.url))

/** The longest that the demo, played once, may take on a busy machine. */
const DEMO_MAX_MS = 170_000

/** The demo as `npm run demo` starts it, over a database of its own; ended with the test. */
function startDemo(...args: string[]) {
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

/** The process of the bot that runs now, as the demo named it. */
const botOf = (output: string): number => Number([...output.matchAll(/\bpid (\d+)(?::|\.)/g)].at(-1)![1])

describe('the demo', { timeout: DEMO_MAX_MS }, () => {
  it('loses and doubles nothing when its bot is killed while a build runs, before a channel follows, and in the burst', async () => {
    const demo = startDemo('--once')
    for (const act of ['1. A push', '6. Lin types', '8. A burst']) {
      await demo.says(act)
      process.kill(botOf(demo.output()), 'SIGKILL')
    }
    expect([await demo.exit, demo.output()]).toEqual([0, expect.stringContaining('lost 0 · doubled 0 · wrong 0')])
    expect(demo.output().match(/was ended by SIGKILL; it is started again as pid \d+\.\n/g)).toHaveLength(3)
  })
})

describe('the page', () => {
  it('is opened with a word on how long it plays; interrupted, the demo ends with 0', async () => {
    const demo = startDemo('--port', '0')
    await demo.says('for about a minute')
    const page = /Open +(\S+)/.exec(demo.output())![1]!
    expect((await fetch(page)).status).toBe(200)
    demo.interrupt()
    expect(await demo.exit).toBe(0)
    expect(demo.output()).not.toContain('was ended')
  })
})
