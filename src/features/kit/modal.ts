import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { invariant } from '../../lib/assert.ts'
import { NotAttempted } from '../../store/not-attempted.ts'
import { answerNotOpened, answerOldForm } from './fault-messages.ts'
import type { Permits } from '../../projects/outcomes.ts'
import { textAt } from './body.ts'
import type { SlackDeps, Reply } from './context.ts'
import { answerNotAllowed } from './not-allowed.ts'
import { respond, type SlackRequest } from './respond.ts'
import { directReplyTarget, slackCodeOf, withoutBlocks, type ReplyTarget } from '../../slack/reply-targets.ts'
import { plain, section, type Plain } from '../../slack/messages/blocks.ts'
import { cut, SECTION_CHARS_MAX } from '../../slack/messages/limits.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import type { ViewResponseAction } from '@slack/bolt'

/** Opens a modal for the requester. Slack allows it once, within three seconds of the interaction. */
export interface ModalOpener {
  /** The answer is then shown in the modal, or in the original place if the modal is closed. Throws Slack's error. */
  open(view: ModalView): Promise<OpenModal>
}

export interface OpenModal {
  /** Replaces the view; false: the modal was closed. Throws when Slack refuses the view. */
  show(view: ModalView): Promise<boolean>
}

/**
 * The opener for an interaction's modal, and the place for its answer. Without a trigger (a mention) there is no
 * opener.
 * @param otherwise the place of the answer as long as no modal is open
 */
export function openingReplyTarget(
  { client, pending }: Pick<SlackDeps, 'client' | 'pending'>,
  body: unknown,
  otherwise: ReplyTarget | null,
): { modalOpener: ModalOpener | null; replyTarget: ReplyTarget | null } {
  const trigger = textAt(body, 'trigger_id')
  if (trigger === null) return { modalOpener: null, replyTarget: otherwise }
  let replyTarget = otherwise
  const modalOpener: ModalOpener = {
    async open(view) {
      if (pending?.late) throw new NotAttempted('Slack opens a form only within three seconds')
      const opened = await client.apiCall('views.open', { trigger_id: trigger, view })
      const id = textOf(fieldOf(fieldOf(opened, 'view'), 'id'))
      invariant(id !== null, 'Slack names the view that it opened')
      replyTarget = replyTargetIn(client, id, view.title.text, otherwise)
      return { show: (next) => showIn(client, id, next) }
    },
  }
  const following: ReplyTarget = {
    get conversation() {
      return replyTarget?.conversation ?? null
    },
    show: async (answer, isLast) => replyTarget?.show(answer, isLast),
  }
  return { modalOpener, replyTarget: otherwise && following }
}

/** Replaces a view; false: the modal was closed. */
export async function showIn(client: SlackDeps['client'], viewId: string, view: ModalView): Promise<boolean> {
  try {
    await client.apiCall('views.update', { view_id: viewId, view })
    return true
  } catch (error) {
    if (slackCodeOf(error) !== 'not_found') throw error
    return false
  }
}

/**
 * Answers in an open modal.
 * @param otherwise where the answer goes if the modal was closed meanwhile or Slack refuses the view; null: nowhere
 * @param isDone whether the form below is finished, so that closing the answer also closes it
 */
export function replyTargetIn(
  client: SlackDeps['client'],
  viewId: string,
  title: string,
  otherwise: ReplyTarget | null,
  isDone: () => boolean = () => false,
): ReplyTarget {
  const draw = (answer: Answer) =>
    client.apiCall('views.update', {
      view_id: viewId,
      view: { ...answerView(title, answer), ...(isDone() && { clear_on_close: true }) },
    })
  return {
    conversation: null,
    async show(answer, isLast) {
      try {
        // Slack refuses the blocks. Its error code for a view is another one than for a message.
        await draw(answer).catch((error: unknown) => {
          if (slackCodeOf(error) !== 'invalid_arguments') throw error
          return draw(withoutBlocks(answer))
        })
      } catch (error) {
        if (!otherwise) throw error
        await otherwise.show(answer, isLast)
      }
    },
  }
}

/**
 * Runs a submitted form's work, and answers in its modal; if that is closed, in a direct message.
 * @param meanwhile shown until then
 */
export const working = (
  body: unknown,
  meanwhile: ModalView,
  { what, by }: Pick<SlackRequest, 'what' | 'by'>,
  work: (reference: string) => Promise<Reply>,
): Received => ({
  ack: showing('update', meanwhile),
  work(deps) {
    const otherwise = directReplyTarget(deps.client, by.user)
    const replyTarget = replyTargetIn(deps.client, textAt(body, 'view', 'id') ?? '', meanwhile.title.text, otherwise)
    return respond(deps, { what, by, replyTarget }, work)
  },
})

/** Slack's error codes for a trigger that has expired or was used. */
const TRIGGER_CODES = /^(?:expired|exchanged)_trigger(?:_id)?$|^invalid_trigger/

/** Opens a form, or answers that Slack no longer allows it. */
export async function opening(reference: string, open: () => Promise<Reply>): Promise<Reply> {
  try {
    return await open()
  } catch (error) {
    const code = slackCodeOf(error)
    if (!TRIGGER_CODES.test(code)) throw error
    return { outcome: `not-opened ${code}`, answer: answerNotOpened('late', reference) }
  }
}

/** Opens a form at once. If the person may not use it, a refusal then replaces it. */
export const openFor = (
  modalOpener: ModalOpener,
  view: ModalView,
  may: () => ReturnType<Permits>,
  refused: Parameters<typeof answerNotAllowed>[1],
): Promise<Reply> =>
  opening(refused.reference, async () => {
    await modalOpener.open(view)
    const permit = await may()
    if (permit.kind === 'yes') return { outcome: 'opened', answer: null }
    return { outcome: permit.kind, answer: answerNotAllowed(permit, refused) }
  })

/** Slack's limits for a modal: the characters of its metadata, and its blocks. */
export const METADATA_CHARS_MAX = 3_000
const MODAL_BLOCKS_MAX = 100

/** A modal as Slack takes it. */
export interface ModalView {
  type: 'modal'
  title: Plain
  blocks: readonly object[]
  submit?: Plain
  close?: Plain
  /** closing it also closes the views below it */
  clear_on_close?: boolean
  /** the form that handles its submission: a key of FORMS */
  callback_id?: string
  /** state for its handlers, in at most METADATA_CHARS_MAX characters */
  private_metadata?: string
  /** our own id for the view */
  external_id?: string
}

/** A form. Without `submit`, it cannot be submitted yet. */
export const formView = ({
  id,
  title,
  close = 'Cancel',
  submit,
  metadata,
  blocks,
}: {
  id: string
  title: string
  close?: string
  submit?: string | undefined
  metadata?: string
  blocks: ModalView['blocks']
}): ModalView => ({
  type: 'modal',
  callback_id: id,
  title: plain(title),
  close: plain(close),
  ...(submit !== undefined && { submit: plain(submit) }),
  ...(metadata !== undefined && { private_metadata: metadata }),
  blocks,
})

export const answerView = (title: string, { text, blocks }: Answer): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain('Close'),
  blocks: blocks.length > 0 ? blocks.slice(0, MODAL_BLOCKS_MAX) : [section(cut(text, SECTION_CHARS_MAX))],
})

/** Shown while the work of a form is under way. */
export const waitingView = (title: string, text: string, close = 'Close'): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain(close),
  blocks: [section(`:hourglass_flowing_sand: ${text}`)],
})

/** One modal that can be submitted. */
export interface Form {
  /** its name in the log, and in the message about an interruption */
  what: string
  /** Reads the submission, at once and from the body alone: Slack waits three seconds for the acknowledgement. */
  receive(body: unknown): Received
}

export interface Received {
  /** Slack's `response_action` and what goes with it; null: the modal closes */
  ack: ViewResponseAction | null
  /** Faults that cannot be found from the body alone. If this takes too long, `work` finds them. */
  check?: (deps: SlackDeps) => Promise<Readonly<Record<string, string>>>
  /** runs after the interaction was acknowledged; null: nothing to do */
  work: ((deps: SlackDeps) => Promise<void>) | null
}

/** The longest fault that Slack shows at a field, in characters. */
export const FAULT_CHARS_MAX = 250

/** Shows faults at their blocks, by block id, and leaves the form open. */
export const refusing = (errors: Readonly<Record<string, string>>): Received => ({
  ack: { response_action: 'errors', errors },
  work: null,
})

/** Another view replaces the form, or is pushed on top of it. */
export const showing = (how: 'update' | 'push', view: ModalView): ViewResponseAction => ({
  response_action: how,
  view: { ...view, blocks: view.blocks.filter(isBlock) },
})

/** Answers a form whose metadata another version wrote. */
export const oldForm = (title: string): Received => ({
  ack: showing('update', answerView(title, answerOldForm())),
  work: null,
})

const isBlock = (block: object): block is { type: string } => typeof fieldOf(block, 'type') === 'string'
