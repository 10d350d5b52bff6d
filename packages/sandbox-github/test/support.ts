import { expect, onTestFinished, vi } from 'vitest'
import { faultsOfDelivery, watchExchanges } from '../../../test/outside/github/watch.ts'
import { signatureOf } from '../src/hooks.ts'
import { startHttpStub } from '../../../test/support/http-stub.ts'
import type { Push } from '../src/runs.ts'
import { createSandboxGithub } from '../src/server.ts'
import type { SandboxGithub, SandboxGithubOptions } from '../src/server.ts'

/**
 * Starts a sandbox. It is stopped after the test, which fails if anything was asked, answered or delivered that GitHub
 * does not describe.
 */
export async function startGithub(options: SandboxGithubOptions = {}): Promise<SandboxGithub> {
  const { watch, faults } = watchExchanges()
  const github = createSandboxGithub({ ...options, watch })
  await github.start()
  onTestFinished(async () => {
    await github.stop()
    expect([...faults(), ...github.deliveries().flatMap(faultsOfDelivery)]).toEqual([])
  })
  return github
}

/** Starts a webhook that keeps the requests and answers with the status from `status`. */
export async function startReceiver(status: (n: number) => number = () => 202) {
  const stub = await startHttpStub((_, at) => ({ status: status(at), text: 'got it' }))
  onTestFinished(() => stub[Symbol.asyncDispose]())
  return stub
}

/** Pushes a run. By default it runs until the test ends it. */
export function pushed(github: SandboxGithub, push: Push = {}, repository = 'acme/web') {
  const result = github.push(repository, { outcome: 'none', ...push })
  if (result.kind !== 'run') throw new Error(result.kind)
  return result.run
}

export const runOf = (github: SandboxGithub, id: number) => github.state().runs.find((run) => run.id === id)!

export const ended = (github: SandboxGithub, id: number, conclusion: string): Promise<void> =>
  vi.waitFor(() => {
    if (runOf(github, id).conclusion !== conclusion) throw new Error(`the run is ${runOf(github, id).status}`)
  }, 10_000)

/** An address at which nobody listens, for deliveries that are not to arrive. */
export const NOWHERE = 'http://127.0.0.1:9/nobody'

type Delivered = Record<'workflow_run' | 'repository', object>

/** Sends the newest delivery, with changes, as whoever knows the webhook's secret can. @returns the status */
export async function deliverChanged(
  github: SandboxGithub,
  appUrl: string,
  change: (body: Delivered) => object,
): Promise<number> {
  await github.settle()
  const body = JSON.stringify(change(JSON.parse(github.deliveries().at(-1)!.body) as Delivered))
  const signed = { 'x-hub-signature-256': signatureOf(github.address().webhookSecret, body) }
  const headers = { 'content-type': 'application/json', 'x-github-event': 'workflow_run', ...signed }
  return (await fetch(`${appUrl}/webhooks/github`, { method: 'POST', headers, body })).status
}
