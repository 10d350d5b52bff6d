import { createHmac, randomUUID } from 'node:crypto'
import { workflowRunBody } from './bodies.ts'
import { each, linksTo, repositoryBody, repositoryUrl, user } from './repository.ts'
import type { Json } from './repository.ts'
import type { Action } from './runs.ts'
import { currentAttempt, findRepository, isoTime } from './world.ts'
import type { Repository, Run, World } from './world.ts'

/** A repository's webhook. */
export interface Hook {
  id: number
  repository: Repository
  url: string
  createdAt: number
  isActive: boolean
  events: readonly string[]
  contentType: 'json' | 'form'
}

/** A delivery as GitHub logs it. A redelivery is another delivery with the same guid. */
export interface Delivery {
  id: number
  guid: string
  event: string
  action: string | null
  runId: number | null
  /** the run's status when the delivery was made */
  status: string | null
  conclusion: string | null
  isRedelivery: boolean
  body: string
  hookId: number
  repository: string
  url: string
  state: 'queued' | 'answered' | 'failed'
  at: number
  ms: number
  /** the status of the response; null: there was none */
  statusCode: number | null
  answer: string
}

type Said = Pick<Delivery, 'guid' | 'event' | 'action' | 'runId' | 'status' | 'conclusion' | 'isRedelivery' | 'body'>
export type Hooks = ReturnType<typeof createHooks>

export const DELIVERIES_MAX = 2_000
/** Source: GitHub, "Handling failed webhook deliveries". */
const TIMEOUT_MS = 10_000
const ANSWER_LENGTH_MAX = 16_384
const NEW = { action: null, runId: null, status: null, conclusion: null, isRedelivery: false }

export const signatureOf = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** The webhooks and their deliveries. A delivery is sent once, and again only on request. */
export function createHooks(world: World) {
  const tails = new Map<unknown, Promise<void>>()
  const closing = new AbortController()
  let hooks: Hook[] = []
  let deliveries: Delivery[] = []

  /** Gives every repository a webhook with this address, and sends each a ping. Null removes all webhooks. */
  function setUrl(wanted: string | null): void {
    hooks = []
    for (const repository of wanted === null ? [] : world.repositories) {
      const about = { id: world.nextId(), repository, url: wanted ?? '', createdAt: world.clock.now() }
      const hook: Hook = { ...about, isActive: true, events: ['workflow_run'], contentType: 'json' }
      hooks.push(hook)
      const body = JSON.stringify(pingBody(world, hook))
      send(hook, hook, { ...NEW, guid: randomUUID(), event: 'ping', body })
    }
  }

  function tell(action: Action, run: Run): void {
    const hook = hooks.find(({ repository }) => repository === run.repository)
    const { status, conclusion } = currentAttempt(run)
    const about = { event: 'workflow_run', action, runId: run.id, status, conclusion }
    const body = JSON.stringify(workflowRunBody(world, action, run))
    // GitHub guarantees no order. Here the deliveries of a run keep theirs; `resendInOrder` sends them in any order.
    if (hook?.isActive && hook.events.includes(about.event))
      send(hook, run, { ...NEW, ...about, guid: randomUUID(), body })
  }

  function send(hook: Hook, order: unknown, said: Said): Delivery {
    const about = { id: world.nextId(), hookId: hook.id, repository: hook.repository.name, url: hook.url }
    const fresh = { state: 'queued', at: world.clock.now(), ms: 0, statusCode: null, answer: '' } as const
    const delivery: Delivery = { ...said, ...about, ...fresh }
    deliveries = [...deliveries.slice(1 - DELIVERIES_MAX), delivery]
    const tail = (tails.get(order) ?? Promise.resolve()).then(() => post(delivery))
    tails.set(order, tail)
    void tail.then(() => tails.get(order) === tail && tails.delete(order))
    return delivery
  }

  async function post(delivery: Delivery): Promise<void> {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/sandbox',
      'x-github-event': delivery.event,
      'x-github-delivery': delivery.guid,
      'x-github-hook-id': String(delivery.hookId),
      'x-hub-signature-256': signatureOf(world.webhookSecret, delivery.body),
    }
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)])
    delivery.at = world.clock.now()
    try {
      const how = { method: 'POST', body: delivery.body, headers, signal, redirect: 'manual' } as const
      const response = await fetch(delivery.url, how)
      const answer = (await response.text()).slice(0, ANSWER_LENGTH_MAX)
      Object.assign(delivery, { state: 'answered', statusCode: response.status, answer })
    } catch {
      delivery.state = 'failed'
    }
    delivery.ms = world.clock.now() - delivery.at
  }

  /** Sends the same bytes and guid again, to the webhook's current address. Undefined if either is unknown. */
  function redeliver(guid: string, order: unknown = {}): Delivery | undefined {
    const known = deliveries.find((delivery) => delivery.guid === guid)
    const hook = hooks.find(({ repository }) => repository.name === known?.repository)
    return known && hook && send(hook, order, { ...known, isRedelivery: true })
  }

  /** Sends several again, one after the other. Returns the guids of those that exist. */
  function resendInOrder(guids: readonly string[]): string[] {
    const order = {}
    return guids.filter((guid) => redeliver(guid, order))
  }

  /** Resolves when no delivery is queued or in flight. */
  async function settle(): Promise<void> {
    while (tails.size > 0) await Promise.all(tails.values())
  }

  function close(): Promise<void> {
    closing.abort()
    return settle()
  }

  /** Changes a repository's webhook, as its settings page can. */
  const change = (repository: string, wanted: HookChange): void =>
    hooks.filter((hook) => hook.repository.name === repository).forEach((hook) => Object.assign(hook, wanted))

  const last = (hook: Hook): Delivery | undefined =>
    deliveries.findLast(({ hookId, state }) => hookId === hook.id && state !== 'queued')

  const url = (): string | null => hooks[0]?.url ?? null
  /** The oldest first. */
  const list = (): readonly Delivery[] => deliveries
  return {
    setUrl,
    url,
    hooks: () => hooks,
    change,
    last,
    tell,
    deliveries: list,
    redeliver,
    resendInOrder,
    settle,
    close,
  }
}

export type HookChange = Partial<Pick<Hook, 'isActive' | 'events' | 'contentType'>>

export function hookBody(world: World, hook: Hook, last?: Delivery): Json {
  const { id, repository, url: to, createdAt, isActive: active, events, contentType: content_type } = hook
  const url = `${repositoryUrl(world, repository)}/hooks/${id}`
  const ids = { type: 'Repository', id, name: 'web', active, events }
  return {
    ...ids,
    config: { content_type, insecure_ssl: '0', url: to, secret: '********' },
    ...each('created_at updated_at', isoTime(createdAt)),
    url,
    ...linksTo(url, 'test ping:pings deliveries'),
    last_response: last ? lastResponse(last) : { code: null, status: 'unused', message: null },
  }
}

const pingBody = (world: World, hook: Hook): Json => ({
  zen: 'Keep it logically awesome.',
  hook_id: hook.id,
  hook: hookBody(world, hook),
  repository: repositoryBody(world, hook.repository),
  sender: user(world, 'ada'),
})

export const isTaken = ({ statusCode }: Delivery): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300

export function deliveryBody(world: World, delivery: Delivery): Json {
  const { id, guid, event, action, statusCode, at, ms, isRedelivery: redelivery } = delivery
  const said = { id, guid, event, action, redelivery, delivered_at: isoTime(at), duration: ms / 1_000 }
  const answer = { status: isTaken(delivery) ? 'OK' : refusalOf(delivery), status_code: statusCode ?? 502 }
  return { ...said, ...answer, repository_id: findRepository(world, delivery.repository)?.id, installation_id: null }
}

const refusalOf = ({ statusCode }: Delivery): string =>
  statusCode === null ? 'failed to connect to host' : `Invalid HTTP Response: ${statusCode}`

const lastResponse = (delivery: Delivery): Json =>
  isTaken(delivery)
    ? { code: delivery.statusCode, status: 'active', message: 'OK' }
    : { code: delivery.statusCode ?? 502, status: 'misconfigured', message: refusalOf(delivery) }
