import { App, type ReceiverEvent } from '@slack/bolt'
import type { StoredInteraction, ReceivedInteraction } from '../../domain/interaction.ts'
import { invariant } from '../../lib/assert.ts'
import { isRecord } from '../../lib/json.ts'
import { withInnerEvent } from '../../slack/socket/receiver.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import { contentOf } from '../../slack/reply-targets.ts'
import { withPresentIds } from './body.ts'
import type { SlackDeps } from './context.ts'
import { answerFault } from './fault-messages.ts'
import { clickKeyOf, interactionIn, isCommand, isField, isSubmission, kindOf, requestKeyOf } from './interaction-in.ts'
import { answerUndone } from './interrupted.ts'
import { answerView } from './modal.ts'
import { PendingInteraction, type PendingInteractions } from './pending-interactions.ts'
import { withDeps } from './register.ts'
import type { Registry } from './registry.ts'
import { replyTargetOf } from './reply-target.ts'

/** How many refused interactions are remembered. Slack repeats one within minutes. */
const REFUSED_MAX = 1_000

/**
 * The path of an interaction from Slack. Bolt routes it; this class adds what Bolt does not do: an interaction that
 * needs an answer is on disk before it is acknowledged, every interaction is acknowledged, and no error escapes.
 *
 * 1. checked: `slack/http/gate` has refused what Slack did not sign.
 * 2. remembered (`#remember`): stored once. A repetition or a double click is only acknowledged.
 * 3. acknowledged (`#acknowledge`) and 4. routed (`#route`): Bolt calls the handler of the id, and each handler begins
 *    with `ack` (`register`).
 * 5. permitted and 6. handled: the feature checks the permission, and does the work.
 * 7. answered: `respond` shows the answer, or an error with a reference to the log.
 */
export class ReceivingApp extends App {
  readonly #underWay = new Set<Promise<void>>()
  readonly #pending = new Set<PendingInteraction>()
  /** interactions that could not be stored: whether the person was told */
  readonly #refused = new Map<string, Promise<boolean>>()
  readonly #registry: Registry
  readonly #deps: SlackDeps
  readonly #pendingInteractions: PendingInteractions

  constructor(
    options: ConstructorParameters<typeof App>[0],
    registry: Registry,
    deps: SlackDeps,
    pendingInteractions: PendingInteractions,
  ) {
    super(options)
    this.#registry = registry
    this.#deps = deps
    this.#pendingInteractions = pendingInteractions
  }

  /** Resolves when no interaction is being handled. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Tells each person whose interaction is still being handled that it was interrupted. */
  async giveUp(): Promise<void> {
    await Promise.all([...this.#pending].map((pending) => pending.giveUp()))
  }

  override processEvent(event: ReceiverEvent): Promise<void> {
    return this.#track(this.#receive(event))
  }

  /** Carries out an interaction that a dead process has left, already acknowledged. */
  async carryOut(interaction: StoredInteraction, stored: unknown): Promise<void> {
    invariant(isRecord(stored), 'a body is an object')
    const body = withPresentIds(stored, await this.#movedChannels())
    await this.#track(this.#run({ body, ack: async () => {} }, interaction))
  }

  #track(work: Promise<void>): Promise<void> {
    this.#underWay.add(work)
    return work.finally(() => this.#underWay.delete(work))
  }

  async #receive(sent: ReceiverEvent): Promise<void> {
    const event = { ...sent, body: withPresentIds(withInnerEvent(sent.body), await this.#movedChannels()) }
    const key = requestKeyOf(event)
    const received = interactionIn(this.#registry, event.body, this.#deps.clock.now())
    if (received) return this.#remember(event, received, key ?? received.interactionKey)
    // No answer is expected.
    const isNew = key === null || (await this.#pendingInteractions.isNew(key))
    return isNew ? this.#route(event, null) : this.#acknowledge(event)
  }

  async #remember(event: ReceiverEvent, received: ReceivedInteraction, requestKey: string): Promise<void> {
    if (await this.#refused.get(requestKey)) return this.#acknowledge(event)
    let interaction: StoredInteraction | null
    try {
      interaction = await this.#pendingInteractions.keep(received, requestKey, {
        clickKey: clickKeyOf(event.body),
        body: isField(this.#registry, event.body) ? null : event.body,
      })
    } catch (error) {
      return this.#refuse(event, requestKey, error)
    }
    return interaction ? this.#run(event, interaction) : this.#acknowledge(event)
  }

  async #run(event: ReceiverEvent, interaction: StoredInteraction): Promise<void> {
    const pending = new PendingInteraction(interaction, this.#pendingInteractions)
    this.#pending.add(pending)
    await this.#route(event, pending)
    await pending.end()
    this.#pending.delete(pending)
    if (isField(this.#registry, event.body)) return
    for (const after of this.#registry.afterInteraction) await after(this.#deps, event.body)
  }

  // Without the database, the interaction is not handled, and its sender gets an error.
  #movedChannels(): Promise<ReadonlyMap<string, string>> {
    return this.#deps.reads.movedChannels().catch(() => new Map<string, string>())
  }

  async #route(event: ReceiverEvent, pending: PendingInteraction | null): Promise<void> {
    let isAcknowledged = false
    const ack = async (answer?: unknown) => {
      isAcknowledged = true
      await this.#acknowledge(event, answer)
    }
    const customProperties = { ...event.customProperties, ...withDeps({ ...this.#deps, pending }) }
    try {
      await super.processEvent({ ...event, ack, customProperties })
    } catch (error) {
      await this.#fail(event.body, error, pending)
    }
    if (isAcknowledged) return
    this.#deps.log.warn({ kind: kindOf(event.body) }, 'Slack sent something that Buildline does not handle')
    await ack()
  }

  // If this fails, the person sees Slack's own warning. The interaction is handled and answered anyway.
  #acknowledge(event: ReceiverEvent, answer?: unknown): Promise<void> {
    return event.ack(answer).catch((error: unknown) => this.#warn(error, 'an acknowledgement did not reach Slack'))
  }

  #warn(error: unknown, text: string): void {
    this.#deps.log.warn({ err: error }, text)
  }

  /** An error that no listener handled. */
  async #fail(body: unknown, error: unknown, pending: PendingInteraction | null): Promise<void> {
    const reference = this.#deps.newReference()
    this.#deps.log.error({ err: error, reference }, 'a request from Slack could not be handled')
    if (pending?.beginAnswer() === false) return
    await pending?.endAnswer(await this.#show(body, answerFault(reference)))
  }

  /**
   * An interaction that could not be stored is not started, and the person gets an error: in the acknowledgement of a
   * command, which Slack shows; on top of a form, which can be submitted again; else where they asked. If that fails
   * too, the interaction is not acknowledged, so that Slack shows a warning or sends it again. A repetition is refused
   * silently.
   */
  async #refuse(event: ReceiverEvent, requestKey: string, error: unknown): Promise<void> {
    if (await this.#refused.get(requestKey)) return this.#acknowledge(event)
    const refusing = this.#showRefusal(event, error)
    this.#refused.set(requestKey, refusing)
    if (this.#refused.size > REFUSED_MAX) this.#refused.delete(this.#refused.keys().next().value!)
    await refusing
  }

  /** @returns whether it was acknowledged, and so shown */
  async #showRefusal(event: ReceiverEvent, error: unknown): Promise<boolean> {
    const reference = this.#deps.newReference()
    this.#deps.log.error({ err: error, reference }, 'a request from Slack could not be stored; nothing was done')
    const answer = answerUndone(reference)
    if (isCommand(event.body)) await this.#acknowledge(event, { response_type: 'ephemeral', ...contentOf(answer) })
    else if (isSubmission(event.body))
      await this.#acknowledge(event, { response_action: 'push', view: answerView('Not done', answer) })
    else if (await this.#show(event.body, answer)) await this.#acknowledge(event)
    else return false
    return true
  }

  async #show(body: unknown, answer: Answer): Promise<boolean> {
    try {
      const replyTarget = replyTargetOf(this.#deps, body)
      await replyTarget?.show(answer, true)
      return replyTarget !== null
    } catch (error) {
      this.#warn(error, 'an answer could not be shown')
      return false
    }
  }
}
