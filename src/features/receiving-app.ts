import { App, type ReceiverEvent } from '@slack/bolt'
import type { Unanswered } from './unanswered.ts'
import { answerFault } from './fault-messages.ts'
import { answerUndone } from './left-messages.ts'
import type { Answer } from '../slack/messages/answer.ts'
import { askedIn, isCommand, isSubmission } from './pending.ts'
import { digestOf, textAt } from './body.ts'
import type { Door } from './context.ts'
import { withDoor } from './listeners.ts'
import { Kept } from './pending-interaction.ts'
import { placeOf } from './reply-target.ts'
import { contentOf } from '../slack/reply-targets/place.ts'
import { answerView } from './modal-view.ts'

/**
 * Bolt's app, made sure that whatever deserves an answer is on disk before it is acknowledged, and that every request is
 * acknowledged, counted while it is under way, and never thrown out of.
 */
export class ReceivingApp extends App {
  readonly #underWay = new Set<Promise<void>>()
  readonly #kept = new Set<Kept>()
  readonly #door: Door
  readonly #unanswered: Unanswered

  constructor(options: ConstructorParameters<typeof App>[0], door: Door, unanswered: Unanswered) {
    super(options)
    this.#door = door
    this.#unanswered = unanswered
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Tells everybody whose ask is still under way that it was interrupted. */
  async giveUp(): Promise<void> {
    await Promise.all([...this.#kept].map((kept) => kept.giveUp()))
  }

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const receiving = this.#receive(event)
    this.#underWay.add(receiving)
    await receiving.finally(() => this.#underWay.delete(receiving))
  }

  async #receive(event: ReceiverEvent): Promise<void> {
    const asked = askedIn(event.body, this.#door.clock.now())
    const key = requestKeyOf(event)
    if (!asked) {
      const isNew = key === null || (await this.#unanswered.isNew(key))
      return isNew ? this.#handle(event, null) : this.#acknowledge(event)
    }
    let kept: Kept
    try {
      const interaction = await this.#unanswered.keep(asked, key ?? asked.askKey)
      if (!interaction) return this.#acknowledge(event)
      kept = new Kept(interaction, this.#unanswered)
    } catch (error) {
      return this.#refuse(event, error)
    }
    this.#kept.add(kept)
    await this.#handle(event, kept)
    await kept.end()
    // Whatever was asked may have changed what somebody has open.
    this.#door.homes.wake()
    this.#kept.delete(kept)
  }

  async #handle(event: ReceiverEvent, kept: Kept | null): Promise<void> {
    let isAcknowledged = false
    const ack = async (answer?: unknown) => {
      isAcknowledged = true
      await this.#acknowledge(event, answer)
    }
    const customProperties = { ...event.customProperties, ...withDoor({ ...this.#door, kept }) }
    try {
      await super.processEvent({ ...event, ack, customProperties })
    } catch (error) {
      await this.#fail(event.body, error, kept)
    }
    if (isAcknowledged) return
    this.#door.log.warn({ kind: kindOf(event.body) }, 'Slack sent something that nobody listens to')
    await ack()
  }

  // Whoever asked sees Slack's own warning; what they asked for is done and answered all the same.
  #acknowledge(event: ReceiverEvent, answer?: unknown): Promise<void> {
    return event.ack(answer).catch((error: unknown) => this.#warn(error, 'an acknowledgement did not reach Slack'))
  }

  #warn(error: unknown, text: string): void {
    this.#door.log.warn({ err: error }, text)
  }

  /** What a listener did not foresee. */
  async #fail(body: unknown, error: unknown, kept: Kept | null): Promise<void> {
    const reference = this.#door.newReference()
    this.#door.log.error({ err: error, reference }, 'a request from Slack could not be handled')
    if (kept?.beginAnswer() === false) return
    await kept?.endAnswer(await this.#show(body, answerFault(reference)))
  }

  /**
   * What could not be written down is not begun, and whoever asked is told so: in the acknowledgement of a command, which
   * Slack shows; on top of a form, which can be sent again; else where they asked. What cannot be said is not acknowledged: then Slack itself warns, or asks again.
   */
  async #refuse(event: ReceiverEvent, error: unknown): Promise<void> {
    const reference = this.#door.newReference()
    this.#door.log.error({ err: error, reference }, 'a request from Slack could not be written down; nothing was done')
    const answer = answerUndone(reference)
    if (isCommand(event.body)) await this.#acknowledge(event, { response_type: 'ephemeral', ...contentOf(answer) })
    else if (isSubmission(event.body))
      await this.#acknowledge(event, { response_action: 'push', view: answerView('Not done', answer) })
    else if (await this.#show(event.body, answer)) await this.#acknowledge(event)
  }

  async #show(body: unknown, answer: Answer): Promise<boolean> {
    try {
      const place = placeOf(this.#door, body)
      await place?.show(answer, true)
      return place !== null
    } catch (error) {
      this.#warn(error, 'an answer could not be shown')
      return false
    }
  }
}

/**
 * The same for a request that is sent again: an event's id, under which Slack itself repeats it; else its signature. In
 * Socket Mode nothing is signed, and the body counts; null: a menu's options, which are asked for in the same words again.
 */
function requestKeyOf({ body, customProperties }: ReceiverEvent): string | null {
  const key = textAt(body, 'event_id') ?? textAt(customProperties, 'signature')
  if (key !== null) return key
  return textAt(body, 'type') === 'block_suggestion' ? null : `body:${digestOf(body)}`
}

/** Slack's own word for what it sent, as far as it is one: nothing that a stranger typed. */
function kindOf(body: unknown): string {
  const kind = textAt(body, 'event', 'type') ?? textAt(body, 'type') ?? 'unnamed'
  return /^[a-z_.]{1,40}$/.test(kind) ? kind : 'unnamed'
}
