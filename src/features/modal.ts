import { fieldOf } from '../domain/raw-values.ts'
import { textOf } from '../slack/api/answer.ts'
import { invariant } from '../lib/assert.ts'
import { answerNotOpened } from './fault-messages.ts'
import { textAt } from './body.ts'
import type { Door, Reply } from './context.ts'
import { modalPlace } from '../slack/reply-targets/modal.ts'
import { slackCodeOf, type Place } from '../slack/reply-targets/place.ts'
import { answerView, type ModalView } from './modal-view.ts'

/** Opens a modal for whoever asked: Slack takes it within three seconds of the ask, and once. */
export interface Opener {
  /** From then on the answer to the ask stands in the modal; where it was before, once the modal is closed. Throws. */
  open(view: ModalView): Promise<OpenModal>
}

export interface OpenModal {
  id: string
  /** Puts another view in its place; false: it is closed. Throws where Slack takes it not. */
  show(view: ModalView): Promise<boolean>
}

/**
 * What an ask can open a modal with, and where it is answered.
 * @param otherwise where it is answered as long as it opens none
 * @returns without an opener where the ask brought no trigger: a mention, say
 */
export function openingPlace(
  { client }: Pick<Door, 'client'>,
  body: unknown,
  otherwise: Place | null,
): { opener: Opener | null; place: Place | null } {
  const trigger = textAt(body, 'trigger_id')
  if (trigger === null) return { opener: null, place: otherwise }
  let place = otherwise
  const opener: Opener = {
    async open(view) {
      const opened = await client.apiCall('views.open', { trigger_id: trigger, view })
      const id = textOf(fieldOf(fieldOf(opened, 'view'), 'id'))
      invariant(id !== null, 'Slack names the view that it opened')
      place = placeIn(client, id, view.title.text, otherwise)
      return { id, show: (next) => showIn(client, id, next) }
    },
  }
  const following: Place = {
    get spot() {
      return place?.spot ?? null
    },
    show: async (answer, isLast) => place?.show(answer, isLast),
  }
  return { opener, place: otherwise && following }
}

/** Puts a view in the place of another one; false: that one is closed. */
export async function showIn(client: Door['client'], viewId: string, view: ModalView): Promise<boolean> {
  try {
    await client.apiCall('views.update', { view_id: viewId, view })
    return true
  } catch (error) {
    if (slackCodeOf(error) !== 'not_found') throw error
    return false
  }
}

/** Answers in a modal that was opened for the ask. */
export const placeIn = (client: Door['client'], viewId: string, title: string, otherwise: Place | null): Place =>
  modalPlace({
    client,
    viewId,
    draw: (blocks) => answerView(title, { text: '', blocks: [...blocks], picture: null }),
    isCurrent: () => true,
    closed: otherwise,
    instead: otherwise,
  })

/** Slack's words for a trigger that came too late or was used. */
const TRIGGER_CODES = /^(?:expired|exchanged)_trigger(?:_id)?$|^invalid_trigger/

/** Opens a form, or says that Slack would not open it any more. */
export async function opening(reference: string, open: () => Promise<Reply>): Promise<Reply> {
  try {
    return await open()
  } catch (error) {
    const code = slackCodeOf(error)
    if (!TRIGGER_CODES.test(code)) throw error
    return { outcome: `not-opened ${code}`, answer: answerNotOpened('late', reference) }
  }
}
