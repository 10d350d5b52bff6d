import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendJson } from './http-server.ts'
import type { Clock } from './lib/clock.ts'
import type { Notifier } from './notify/notifier.ts'
import type { Store } from './store/store.ts'

/** Slack is asked at most so often, however often we are. */
const SLACK_ASKED_EVERY_MS = 10_000

export interface ReadinessDeps {
  store: Store
  notifier: Pick<Notifier, 'ping'>
  clock: Clock
  /** why nothing is being sent to Slack; null: it is reachable */
  outage: () => string | null
}

/** `/healthz`: the process is up. `/readyz`: the store and Slack are reachable, or what is wrong, by name. */
export function createReadiness({ store, notifier, clock, outage }: ReadinessDeps) {
  let asked: { at: number; answer: Promise<string> } | null = null

  async function slackState(): Promise<string> {
    const known = outage()
    if (known !== null) return known
    if (!asked || clock.now() - asked.at > SLACK_ASKED_EVERY_MS)
      asked = {
        at: clock.now(),
        answer: notifier.ping().then((answer) => (answer.kind === 'sent' ? 'ok' : answer.code)),
      }
    return asked.answer
  }

  const storeState = (): Promise<string> =>
    store.ping().then(
      () => 'ok',
      () => 'unreachable',
    )

  return {
    healthz: (_: IncomingMessage, response: ServerResponse) => sendJson(response, 200, { status: 'up' }),
    async readyz(_: IncomingMessage, response: ServerResponse) {
      const [storeSays, slackSays] = await Promise.all([storeState(), slackState()])
      const isReady = storeSays === 'ok' && slackSays === 'ok'
      sendJson(response, isReady ? 200 : 503, {
        status: isReady ? 'ready' : 'not ready',
        store: storeSays,
        slack: slackSays,
      })
    },
  }
}
