import type { ServerResponse } from 'node:http'
import { assertNever } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import { toAnswer, tooMany } from './api.ts'
import type { Answer } from './api.ts'
import type { Counters } from './counters.ts'
import type { Fault } from './faults.ts'
import { sendAnswer } from './http.ts'

export interface Scene {
  method: string
  response: ServerResponse
  clock: Clock
  counters: Counters
  /** aborted when the sandbox stops; delayed effects are dropped then */
  stopping: AbortSignal
  /** performs the call */
  act: () => Answer
}

/** Answers a call, with a fault if there is one, and counts its outcome. */
export async function playCall(scene: Scene, fault: Fault | undefined): Promise<void> {
  if (!fault) return reply(scene, scene.act())
  switch (fault.kind) {
    case 'ratelimited':
      return reply(scene, tooMany(fault.retryAfterS))
    case '5xx':
      return reply(scene, broken(fault))
    case 'error':
      return reply(scene, toAnswer({ ok: false, error: fault.error }))
    case 'slow':
      return replyLate(scene, fault)
    case 'accept-then-5xx':
      scene.act()
      return reply(scene, broken(fault))
    case 'accept-then-drop':
      scene.act()
      return drop(scene, fault)
    case 'accept-late':
      return actLate(scene, fault)
    case 'down':
      return drop(scene, fault)
    default:
      return assertNever(fault.kind)
  }
}

function reply({ counters, method, response }: Scene, answer: Answer): void {
  counters.record(method, answer.outcome)
  sendAnswer(response, answer)
}

const broken = ({ kind, status }: Fault): Answer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><body>upstream unavailable</body></html>',
  outcome: `fault:${kind}`,
})

async function replyLate(scene: Scene, { ms }: Fault): Promise<void> {
  const answer = scene.act()
  await scene.clock.sleep(ms, scene.stopping)
  reply(scene, answer)
}

function drop({ counters, method, response }: Scene, { kind }: Fault): void {
  counters.record(method, `fault:${kind}`)
  response.destroy()
}

/** Closes the connection now and performs the call later. A read in between does not see its effect. */
async function actLate(scene: Scene, fault: Fault): Promise<void> {
  drop(scene, fault)
  await scene.clock.sleep(fault.ms, scene.stopping)
  if (!scene.stopping.aborted) scene.act()
}
