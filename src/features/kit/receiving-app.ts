import { setNewest } from '../../lib/bounded.ts'
import { replyTargetOf } from './reply-target.ts'
import { App, type ReceiverEvent } from '@slack/bolt'
import type { StoredInteraction, ReceivedInteraction } from '../../store/records.ts'
import { invariant } from '../../lib/assert.ts'
import { isRecord } from '../../lib/json.ts'
import { withInnerEvent } from '../../slack/socket/receiver.ts'
import { type Answer, TYPED_CHARS_MAX } from '../../slack/messages/answer.ts'
import { contentOf } from '../../slack/reply-targets.ts'
import { withPresentIds, bodyDigest, channelOf, listAt, requesterOf, textAt, threadOf, userOf } from './body.ts'
import type { SlackDeps } from './context.ts'
import { answerFault } from './fault-messages.ts'
import { answerUndone } from './interrupted.ts'
import { answerView } from './modal.ts'
import { PendingInteraction, type PendingInteractions, REQUESTS_KEPT_MS } from './pending-interactions.ts'
import { withDeps } from './register.ts'
import type { Registry } from './feature.ts'
import { toLine } from '../../lib/escape.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import { COMMAND_CHARS_MAX } from '../../slack/commands/parse.ts'
import { ACTION_IDS } from '../../slack/messages/ids.ts'
import { cut } from '../../slack/messages/limits.ts'

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
    setNewest(this.#refused, requestKey, refusing, REFUSED_MAX)
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

// Reads a body from Slack before it is handled: its kind, its keys, and the person's interaction.

/**
 * A key that is equal when Slack repeats an interaction: for a mention the message, since each edit of it has its own
 * event id; else the event's id or the trigger, which a repetition shares; else the signature; in Socket Mode, which
 * has no signatures, a digest of the body. Null for a menu's options: the same text may be typed again.
 */
function requestKeyOf({ body, customProperties }: ReceiverEvent): string | null {
  if (isMention(body)) return `mention:${textAt(body, 'event', 'channel')}:${textAt(body, 'event', 'ts')}`
  const key = textAt(body, 'event_id') ?? textAt(body, 'trigger_id') ?? textAt(customProperties, 'signature')
  if (key !== null) return key
  return textAt(body, 'type') === 'block_suggestion' ? null : `body:${bodyDigest(body)}`
}

/** A key that is equal when the same person presses the same button again; null: this is not a button. */
function clickKeyOf(body: unknown): string | null {
  const [action] = listAt(body, 'actions')
  if (textAt(action, 'type') !== 'button') return null
  // A view that was redrawn since the first press asks a new question, even if its buttons have the same values.
  const seen = [
    ['container', 'message_ts'],
    ['view', 'id'],
    ['view', 'hash'],
  ].map((path) => textAt(body, ...path))
  const pressed = { user: userOf(body), channel: channelOf(body), seen, id: textAt(action, 'action_id') }
  return `click:${bodyDigest({ ...pressed, value: textAt(action, 'value') })}`
}

/** A field of an open form. It need not be stored: it does nothing yet, and is outdated later. */
const isField = ({ fields }: Registry, body: unknown): boolean =>
  fields.has(textAt(listAt(body, 'actions')[0], 'action_id') ?? '')

/** Slack's own name for the interaction, never typed text. */
function kindOf(body: unknown): string {
  const kind = textAt(body, 'event', 'type') ?? textAt(body, 'type') ?? 'unnamed'
  return /^[a-z_.]{1,40}$/.test(kind) ? kind : 'unnamed'
}

/** A person's interaction, and where they expect the answer; null: no answer is expected. */
export function interactionIn(registry: Registry, body: unknown, receivedAt: number): ReceivedInteraction | null {
  const what = whatIn(registry, body, receivedAt)
  const user = userOf(body)
  if (what === null || user === null) return null
  const { interactionKey, channel } = requesterOf(body, 'button')
  return {
    interactionKey,
    user,
    what: cut(toLine(what), TYPED_CHARS_MAX),
    channel,
    threadTs: threadOf(body),
    responseUrl: textAt(body, 'response_url'),
    receivedAt,
  }
}

const isSubmission = (body: unknown): boolean => textAt(body, 'type') === 'view_submission'

const isCommand = (body: unknown): boolean => textAt(body, 'command') !== null

const isMention = (body: unknown): boolean => textAt(body, 'event', 'type') === 'app_mention'

/**
 * Messages by bots are ignored, or two bots could answer each other forever. Slack marks them in one of these ways. A
 * bot that looks like a person is recognized by its account (`answerMention`).
 */
const isByBot = (body: unknown): boolean =>
  BOT_MARKS.some((mark) => textAt(body, 'event', mark) !== null) ||
  isRecord(fieldOf(fieldOf(body, 'event'), 'bot_profile')) ||
  textAt(body, 'event', 'subtype') === 'bot_message' ||
  userOf(body) === 'USLACKBOT'

const BOT_MARKS = ['bot_id', 'app_id', 'username'] as const

/** An edit of a message whose key may be forgotten, so it is unknown whether its mention was already handled. */
const isLateEdit = (body: unknown, now: number): boolean =>
  textAt(body, 'event', 'edited', 'ts') !== null && Number(textAt(body, 'event', 'ts')) * 1_000 < now - REQUESTS_KEPT_MS

function whatIn(registry: Registry, body: unknown, now: number): string | null {
  if (isCommand(body)) return `${textAt(body, 'command')} ${readOf(textAt(body, 'text'))}`
  if (isMention(body)) return isByBot(body) || isLateEdit(body, now) ? null : mentionIn(body)
  switch (textAt(body, 'type') ?? '') {
    case 'block_actions':
      return clickIn(registry, body)
    case 'view_submission':
      return registry.forms.get(textAt(body, 'view', 'callback_id') ?? '')?.what ?? null
    case 'shortcut':
    case 'message_action':
      return registry.shortcuts.get(textAt(body, 'callback_id') ?? '')?.name ?? 'a shortcut'
    default:
      return null
  }
}

/** Without mentions, which arrive as ids and not as the person typed them. */
const mentionIn = (body: unknown): string =>
  `@buildline ${readOf(textAt(body, 'event', 'text')).replaceAll(/<@[^<>]*>/g, ' ')}`

/** The part of a typed text that is read. */
const readOf = (text: string | null): string => (text ?? '').slice(0, COMMAND_CHARS_MAX)

function clickIn({ buttons }: Registry, body: unknown): string | null {
  const [action] = listAt(body, 'actions')
  const id = textAt(action, 'action_id') ?? ''
  // A link button opens its address by itself.
  if (!action || id === ACTION_IDS.open) return null
  return buttons.get(id)?.describe?.(textAt(action, 'value') ?? '') ?? 'a click'
}
