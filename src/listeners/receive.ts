import { App, type ReceiverEvent } from '@slack/bolt'
import { answerFault } from './answers/door.ts'
import { textAt } from './body.ts'
import type { Door } from './door.ts'
import { placeOf } from './places/of.ts'

/** Bolt's app, made sure that every request is acknowledged, counted while it is under way, and never thrown out of. */
export class ReceivingApp extends App {
  readonly #underWay = new Set<Promise<void>>()
  readonly #door: Door

  constructor(options: ConstructorParameters<typeof App>[0], door: Door) {
    super(options)
    this.#door = door
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const receiving = this.#receive(event)
    this.#underWay.add(receiving)
    await receiving.finally(() => this.#underWay.delete(receiving))
  }

  async #receive(event: ReceiverEvent): Promise<void> {
    let isAcknowledged = false
    const ack = async (answer?: unknown) => {
      isAcknowledged = true
      // Whoever asked sees Slack's own warning; what they asked for is done and answered all the same.
      await event.ack(answer).catch((error: unknown) => this.#warn(error, 'an acknowledgement did not reach Slack'))
    }
    try {
      await super.processEvent({ ...event, ack })
    } catch (error) {
      await this.#fail(event.body, error)
    }
    if (isAcknowledged) return
    this.#door.log.warn({ kind: kindOf(event.body) }, 'Slack sent something that nobody listens to')
    await ack()
  }

  #warn(error: unknown, text: string): void {
    this.#door.log.warn({ err: error }, text)
  }

  /** What a listener did not foresee. */
  async #fail(body: unknown, error: unknown): Promise<void> {
    const reference = this.#door.newReference()
    this.#door.log.error({ err: error, reference }, 'a request from Slack could not be handled')
    await placeOf(this.#door, body)
      ?.show(answerFault(reference), true)
      .catch((cause: unknown) => this.#warn(cause, 'an answer could not be shown'))
  }
}

/** Slack's own word for what it sent, as far as it is one: nothing that a stranger typed. */
function kindOf(body: unknown): string {
  const kind = textAt(body, 'event', 'type') ?? textAt(body, 'type') ?? 'unnamed'
  return /^[a-z_.]{1,40}$/.test(kind) ? kind : 'unnamed'
}
