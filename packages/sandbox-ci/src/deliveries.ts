import type { Happening } from './builds.ts'
import { deliveryBody, statusWord } from './payload.ts'
import { verdictOf } from './rules.ts'
import type { RuleVerdict } from './rules.ts'
import { createSender } from './sender.ts'
import type { SendAttempt } from './sender.ts'
import type { BuildStatus, NotificationRule } from './state.ts'
import { idDigits } from './world.ts'
import type { World } from './world.ts'

/** A webhook delivery: its exact body, its address, and every attempt to send it. `n` counts from 1. */
export interface Delivery {
  n: number
  /** ids are digits, as responses and deliveries have them */
  projectId: string
  buildId: string
  status: string
  url: string
  body: string
  /** `held`: not sent until it is resent (switch `holdDeliveries`) · `dropped`: a reset came before it was sent */
  state: 'held' | 'dropped' | 'queued' | 'answered' | 'failed'
  attempts: SendAttempt[]
}

/** Whether a notification rule selected a status of a build. */
export interface Decision {
  buildId: string
  status: BuildStatus
  notifier: string
  verdict: RuleVerdict
}

/** Sends and logs what the notification rules select. Deliveries of a build to an address keep their order. */
export interface Deliveries {
  tell(happening: Happening): void
  /** oldest first */
  list(): readonly Delivery[]
  decisions(): readonly Decision[]
  /** Sends the same bytes again, at once. Undefined if there is no such delivery. */
  resend(n: number): Delivery | undefined
  /** Sends several again, one after the other. Returns the numbers of those that exist. */
  resendInOrder(order: readonly number[]): number[]
  /** Resolves when no delivery is queued any more. Held ones stay held. */
  settle(): Promise<void>
  clear(): void
  close(): Promise<void>
}

/** How many deliveries and decisions are kept; the oldest are removed first. */
export const DELIVERIES_MAX = 10_000

export function createDeliveries(world: World): Deliveries {
  const sender = createSender({ clock: world.clock, switches: () => world.switches })
  const tails = new Map<string, Promise<void>>()
  const pending = new Set<Promise<void>>()
  const closing = new AbortController()
  let deliveries: Delivery[] = []
  let decisions: Decision[] = []
  let lastN = 0

  function tell(happening: Happening): void {
    for (const rule of happening.project.fields.notification_rules) {
      const verdict = decide(rule, happening)
      const url = rule.options['url']
      if (verdict.kind !== 'send' || rule.notifier !== 'webhook' || url === undefined) continue
      for (let copy = 0; copy < world.switches.deliveryCopies; copy++) enqueue(url, happening)
    }
  }

  function decide(rule: NotificationRule, { build, run, isRecovered }: Happening): RuleVerdict {
    const question = { branch: build.branch, status: run.status, isRecovered }
    const verdict = verdictOf(rule, question, world.switches.deliverEverything)
    decisions.push({ buildId: idDigits(world, build.id), status: run.status, notifier: rule.notifier, verdict })
    if (decisions.length > DELIVERIES_MAX) decisions.shift()
    return verdict
  }

  function enqueue(url: string, happening: Happening): void {
    const delivery = record(url, happening)
    if (world.switches.holdDeliveries) delivery.state = 'held'
    else if (world.switches.orderedPerBuild) sendInOrder(delivery)
    else track(sendSometime(delivery))
  }

  function record(url: string, happening: Happening): Delivery {
    const delivery: Delivery = {
      n: ++lastN,
      projectId: idDigits(world, happening.project.id),
      buildId: idDigits(world, happening.build.id),
      status: statusWord(happening.run.status, world.switches.deliveryStatusWords),
      url,
      body: deliveryBody(world, happening),
      state: 'queued',
      attempts: [],
    }
    deliveries.push(delivery)
    if (deliveries.length > DELIVERIES_MAX) deliveries.shift()
    return delivery
  }

  function sendInOrder(delivery: Delivery): void {
    const key = `${delivery.buildId} ${delivery.url}`
    const tail = (tails.get(key) ?? Promise.resolve()).then(() => send(delivery))
    tails.set(key, tail)
    void tail.then(() => tails.get(key) === tail && tails.delete(key))
    track(tail)
  }

  async function sendSometime(delivery: Delivery): Promise<void> {
    await world.clock.sleep(world.random.next() * world.switches.disorderMs, closing.signal)
    await send(delivery)
  }

  async function send(delivery: Delivery): Promise<void> {
    if (delivery.state === 'dropped') return
    delivery.state = 'queued'
    await sender.send(delivery.url, delivery.body, (attempt) => delivery.attempts.push(attempt))
    delivery.state = delivery.attempts.at(-1)?.kind === 'answered' ? 'answered' : 'failed'
  }

  function track(work: Promise<void>): void {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }

  function resend(n: number): Delivery | undefined {
    const delivery = deliveries.find((candidate) => candidate.n === n)
    if (delivery) track(send(delivery))
    return delivery
  }

  function resendInOrder(order: readonly number[]): number[] {
    const known = new Map(deliveries.map((delivery) => [delivery.n, delivery]))
    const chosen = order.flatMap((n) => known.get(n) ?? [])
    track(sendEach(chosen))
    return chosen.map(({ n }) => n)
  }

  async function sendEach(chosen: readonly Delivery[]): Promise<void> {
    for (const delivery of chosen) await send(delivery)
  }

  async function settle(): Promise<void> {
    while (pending.size > 0) await Promise.all(pending)
  }

  function clear(): void {
    for (const delivery of deliveries) if (delivery.state === 'queued') delivery.state = 'dropped'
    deliveries = []
    decisions = []
    lastN = 0
  }

  const close = async () => {
    closing.abort()
    await sender.close()
    await settle()
  }

  return { tell, list: () => deliveries, decisions: () => decisions, resend, resendInOrder, settle, clear, close }
}
