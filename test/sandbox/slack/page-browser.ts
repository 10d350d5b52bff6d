import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { objectOf } from '../../../src/sandbox/slack/json.ts'
import { until } from './stage.ts'

/** The browser's own file where this machine has one. */
export const CHROMIUM = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((file) => existsSync(file))

export interface Browser {
  /** Opens an address, in a profile that remembers. */
  open(url: string): Promise<Page>
  stop(): Promise<void>
}

export interface Page {
  /** The value of an expression; of a promise, what it comes to. */
  read(expression: string): Promise<unknown>
  /** Waits until the expression is true. */
  see(expression: string): Promise<void>
  click(selector: string): Promise<void>
  /** Types into what has the focus, as the keyboard does. */
  type(text: string): Promise<void>
  press(key: 'Enter' | 'Escape'): Promise<void>
  resize(width: number, height: number): Promise<void>
  /** what the browser refused to do, and what threw */
  faults: string[]
  close(): Promise<void>
}

/** A browser without a window, spoken to over its debugging protocol. */
export async function openBrowser(file: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'buildline-page-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0']
  const child = spawn(file, [...flags, `--user-data-dir=${profile}`, 'about:blank'])
  const origin = await originOf(child)
  return {
    open: async (url) => openPage(origin, url),
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The browser tells where it listens on its error output. */
async function originOf(child: ChildProcess): Promise<string> {
  let told = ''
  child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()))
  const address = () => /DevTools listening on ws:\/\/([^/]+)\//.exec(told)?.[1]
  await until(() => address() !== undefined)
  return `http://${address()}`
}

async function openPage(origin: string, url: string): Promise<Page> {
  const target = objectOf(await (await fetch(`${origin}/json/new?about:blank`, { method: 'PUT' })).json())
  const { send, faults, socket } = await connect(String(target['webSocketDebuggerUrl']))
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`)
  await send('Page.navigate', { url })
  const read = async (expression: string) => {
    const wanted = { expression, awaitPromise: true, returnByValue: true, userGesture: true }
    return objectOf(objectOf(await send('Runtime.evaluate', wanted))['result'])['value']
  }
  const see = (expression: string) => until(async () => (await read(`Boolean(${expression})`)) === true)
  return {
    read,
    see,
    click: async (selector) => {
      await see(`document.querySelector(${JSON.stringify(selector)})`)
      await read(`document.querySelector(${JSON.stringify(selector)}).click()`)
    },
    type: async (text) => void (await send('Input.insertText', { text })),
    press: async (key) => {
      const code = { Enter: 13, Escape: 27 }[key]
      const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' ? { text: '\r' } : {}) }
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
    },
    resize: async (width, height) => {
      const metrics = { width, height, deviceScaleFactor: 1, mobile: true }
      await send('Emulation.setDeviceMetricsOverride', metrics)
    },
    faults,
    // Asked by its own connection, the page may be gone before it answers.
    close: async () => {
      await fetch(`${origin}/json/close/${String(target['id'])}`)
      socket.close()
    },
  }
}

type Send = (method: string, params?: object) => Promise<unknown>

async function connect(address: string): Promise<{ send: Send; faults: string[]; socket: WebSocket }> {
  const socket = new WebSocket(address)
  const faults: string[] = []
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result, method, params } = objectOf(JSON.parse(String(data)))
    if (typeof id === 'number') waiting.get(id)?.(result)
    else if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') faults.push(JSON.stringify(params))
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  let last = 0
  const send: Send = (method, params = {}) => {
    const id = (last += 1)
    socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  return { send, faults, socket }
}
