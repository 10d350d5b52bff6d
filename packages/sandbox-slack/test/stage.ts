import { onTestFinished } from 'vitest'
import type { Clock } from '../../../src/lib/clock.ts'
import { listOf, objectOf } from '../src/json.ts'
import { createSandboxSlack } from '../src/sandbox-slack.ts'
import type { SandboxSlack, SandboxSlackOptions } from '../src/sandbox-slack.ts'
import { CHANNELS } from '../src/workspace.ts'

export const BUILDS = CHANNELS.builds
export const START_MS = Date.parse('2026-07-30T14:02:00.000Z')

export type Body = Record<string, unknown> & { ok: boolean; error?: string }

export interface Turned extends Clock {
  advance(ms: number): void
}

/** A clock that moves only with `advance`, which also ends due sleeps. */
export function turnedClock(): Turned {
  let nowMs = START_MS
  let sleepers: { atMs: number; wake: () => void }[] = []
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        sleepers.push({ atMs: nowMs + ms, wake: resolve })
        signal?.addEventListener('abort', () => resolve(), { once: true })
      }),
    advance: (ms) => {
      nowMs += ms
      const due = sleepers.filter(({ atMs }) => atMs <= nowMs)
      sleepers = sleepers.filter(({ atMs }) => atMs > nowMs)
      for (const { wake } of due) wake()
    },
  }
}

export interface Stage {
  sandbox: SandboxSlack
  clock: Turned
  /** Makes a call with a JSON body and the token in the header. Returns the answer's body. */
  call: (method: string, args?: Record<string, unknown>) => Promise<Body>
  /** Makes the same call. Returns the response. */
  send: (method: string, args?: Record<string, unknown>) => Promise<Response>
  /** Posts to #builds. Returns the ts. */
  post: (args?: Record<string, unknown>) => Promise<string>
}

/** Starts a sandbox, by default without rate limits. It is stopped after the test. */
export async function openStage(options: SandboxSlackOptions = {}): Promise<Stage> {
  const clock = turnedClock()
  const sandbox = createSandboxSlack({ clock, rates: 'off', ...options })
  await sandbox.start()
  onTestFinished(() => sandbox.stop())
  const send = (method: string, args: Record<string, unknown> = {}) => sendJson(sandbox, method, args)
  const call = async (method: string, args: Record<string, unknown> = {}) => bodyOf(await send(method, args))
  return { sandbox, clock, send, call, post: async (args = {}) => String((await posted(call, args))['ts']) }
}

export const sendJson = (sandbox: SandboxSlack, method: string, args: Record<string, unknown>): Promise<Response> =>
  fetch(`${sandbox.apiUrl}${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${sandbox.botToken}` },
    body: JSON.stringify(args),
  })

export async function bodyOf(response: Response): Promise<Body> {
  const body = objectOf(await response.json())
  const { error } = body
  return { ...body, ok: body['ok'] === true, ...(typeof error === 'string' ? { error } : {}) }
}

async function posted(call: Stage['call'], args: Record<string, unknown>): Promise<Body> {
  const body = await call('chat.postMessage', { channel: BUILDS, text: 'acme/web #512 failed', ...args })
  if (!body.ok) throw new Error(`the stage could not post: ${JSON.stringify(body)}`)
  return body
}

/** Waits until `claim` is true. There is no timeout except the test's own. */
export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await claim())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The texts of a history or a thread. */
export const textsOf = (body: Body): unknown[] => listOf(body['messages']).map(({ text }) => text)
