import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { createSandboxGitlab } from '../src/server.ts'
import type { SandboxGitlab, SandboxGitlabOptions } from '../src/server.ts'

/** Starts a sandbox. It is stopped after the test. */
export async function startGitlab(options: SandboxGitlabOptions = {}): Promise<SandboxGitlab> {
  const gitlab = createSandboxGitlab(options)
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  return gitlab
}

/** Starts a webhook that keeps the requests. `statusCode` is its answer; tests can change it. */
export async function startReceiver() {
  const received: { headers: IncomingHttpHeaders; body: string }[] = []
  const receiver = { url: '', received, statusCode: 200 }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(receiver.statusCode).end()
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void (server.closeAllConnections(), server.close()))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}

/** A clock on which a sleep ends at once and advances the time. */
export function quickClock() {
  let now = Date.parse('2026-08-12T15:23:28Z')
  const pass = (ms: number) => void (now += ms)
  return { now: () => now, sleep: (ms: number) => Promise.resolve(pass(ms)), pass }
}

export function pushed(gitlab: SandboxGitlab, push: Parameters<SandboxGitlab['push']>[1] = {}, project = 'acme/web') {
  const result = gitlab.push(project, push)
  if (result.kind !== 'pipeline') throw new Error(result.kind)
  return result.pipeline
}

export const pipelineOf = (gitlab: SandboxGitlab, id: number) => gitlab.state().pipelines.find((one) => one.id === id)!
