import { createHmac, randomUUID } from 'node:crypto'
import { pipelineHook } from './payload.ts'
import type { Pipeline, World } from './state.ts'

/** A webhook delivery and its responses. `n` counts from 1. */
export interface Delivery {
  n: number
  pipelineId: number
  /** the pipeline's status in the body; the switch `isLazy` updates both when the delivery is sent */
  status: string
  idempotencyKey: string
  body: string
  /** `off`: not sent, because the webhook was disabled, had been removed, or the sandbox was stopping */
  state: 'queued' | 'answered' | 'failed' | 'off'
  /** one for each time it was sent: when (ms), and how long the response took (ms); statusCode null: no response */
  answers: { statusCode: number | null; at: number; ms: number }[]
}

export type Hook = ReturnType<typeof createHook>

const ANSWER_MS_MAX = 10_000
const DELIVERIES_MAX = 10_000
/** This many failures in a row disable the webhook for a minute. Each further one doubles the time, up to a day. */
const FAILURES_UNTIL_OFF = 4
const OFF_MS_FIRST = 60_000
const OFF_MS_MAX = 24 * 60 * 60_000

/** The webhook of every project. Like GitLab, it does not retry, and disables a webhook that fails often. */
export function createHook(world: World, firstUrl: string | null) {
  const closing = new AbortController()
  const tails = new Map<number, Promise<void>>()
  const uuid = randomUUID()
  const deliveries: Delivery[] = []
  let lastN = 0
  let url = firstUrl
  let failures = 0
  let disabledUntil: number | null = null
  let settings = { hasPipelines: true, isDisabled: false }

  function tell(pipeline: Pipeline): void {
    if (url === null || !settings.hasPipelines) return
    const delivery: Delivery = {
      n: ++lastN,
      pipelineId: pipeline.id,
      status: pipeline.status,
      idempotencyKey: randomUUID(),
      body: bodyOf(pipeline),
      state: 'queued',
      answers: [],
    }
    if (deliveries.push(delivery) > DELIVERIES_MAX) deliveries.shift()
    inOrder(delivery, async () => {
      if (world.switches.isLazy) Object.assign(delivery, { body: bodyOf(pipeline), status: pipeline.status })
      await send(delivery)
    })
  }

  const bodyOf = (pipeline: Pipeline): string => JSON.stringify(pipelineHook(world, pipeline))

  function inOrder({ pipelineId }: Delivery, work: () => Promise<void>): void {
    const tail = (tails.get(pipelineId) ?? Promise.resolve()).then(work)
    tails.set(pipelineId, tail)
    void tail.then(() => tails.get(pipelineId) === tail && tails.delete(pipelineId))
  }

  async function send(delivery: Delivery): Promise<void> {
    if (url === null || closing.signal.aborted || alert().status !== 'executable') {
      delivery.state = 'off'
      return
    }
    const at = world.clock.now()
    const statusCode = await exchange(url, delivery)
    delivery.answers.push({ statusCode, at, ms: world.clock.now() - at })
    delivery.state = statusCode === null ? 'failed' : 'answered'
    count(statusCode !== null && statusCode < 400)
  }

  async function exchange(to: string, delivery: Delivery): Promise<number | null> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(ANSWER_MS_MAX)])
    try {
      const headers = headersOf(delivery)
      const response = await fetch(to, { method: 'POST', headers, body: delivery.body, redirect: 'manual', signal })
      await response.arrayBuffer()
      return response.status
    } catch {
      return null
    }
  }

  const headersOf = ({ idempotencyKey, body }: Delivery): Record<string, string> => ({
    'content-type': 'application/json',
    'user-agent': 'GitLab/19.1.0',
    'idempotency-key': idempotencyKey,
    'x-gitlab-event': 'Pipeline Hook',
    'x-gitlab-instance': new URL(world.siteUrl).origin,
    'x-gitlab-webhook-uuid': uuid,
    'x-gitlab-event-uuid': randomUUID(),
    ...(world.secrets.webhookToken === null ? {} : { 'x-gitlab-token': world.secrets.webhookToken }),
    ...signed(world.secrets.signingToken, idempotencyKey, world.clock.now(), body),
  })

  function count(isAccepted: boolean): void {
    failures = isAccepted ? 0 : failures + 1
    const offMs = Math.min(OFF_MS_FIRST * 2 ** (failures - FAILURES_UNTIL_OFF), OFF_MS_MAX)
    disabledUntil = failures < FAILURES_UNTIL_OFF ? null : world.clock.now() + offMs
  }

  /** GitLab's `alert_status` (`executable`, `temporarily_disabled` or `disabled`), and until when it is disabled. */
  function alert(): { status: string; disabledUntil: number | null } {
    if (settings.isDisabled) return { status: 'disabled', disabledUntil: null }
    const isOff = disabledUntil !== null && world.clock.now() <= disabledUntil
    return { status: isOff ? 'temporarily_disabled' : 'executable', disabledUntil }
  }

  /** Sends the same body with the same Idempotency-Key again. Undefined if there is no such delivery. */
  function resend(n: number): Delivery | undefined {
    const delivery = deliveries.find((candidate) => candidate.n === n)
    if (!delivery) return undefined
    delivery.state = 'queued'
    inOrder(delivery, () => send(delivery))
    return delivery
  }

  /** Sets the address; null removes the webhook. The failures so far no longer count. */
  function setUrl(next: string | null): void {
    url = next
    failures = 0
    disabledUntil = null
  }

  /** Changes the webhook's settings. `isDisabled`: GitLab has disabled it, as it does after 40 failures. */
  const change = (wanted: Partial<typeof settings>): void => void (settings = { ...settings, ...wanted })
  const hasPipelines = (): boolean => settings.hasPipelines

  async function settle(): Promise<void> {
    while (tails.size > 0) await Promise.all(tails.values())
  }

  async function close(): Promise<void> {
    closing.abort()
    await settle()
  }

  return {
    tell,
    list: (): readonly Delivery[] => deliveries,
    resend,
    url: () => url,
    setUrl,
    change,
    hasPipelines,
    alert,
    settle,
    close,
  }
}

/** The signature headers of Standard Webhooks. The key is the base64 after `whsec_`. */
export function signed(token: string | null, id: string, nowMs: number, body: string): Record<string, string> {
  if (token === null) return {}
  const timestamp = String(Math.floor(nowMs / 1_000))
  const key = Buffer.from(token.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
