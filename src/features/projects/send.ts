import type { AnswerContext } from '../../slack/messages/answer.ts'
import { textAt } from '../body.ts'
import type { SlackDeps } from '../context.ts'
import { showing, waitingView, type Received, type ModalView, answerView } from '../modal.ts'
import { slackCodeOf, type Place } from '../../slack/reply-targets.ts'

export const SEND_CALLBACK_ID = 'project_send'
export const CREATE_SEND_CALLBACK_ID = 'project_create_send'

export const CREATE_TITLE = 'Create a project'
export const EDIT_TITLE = 'Edit a project'

/** Replaces the form with a waiting view, and runs `work`, which shows its outcome there. */
export const askingCi = (title: string, work: (deps: SlackDeps) => Promise<void>): Received => ({
  ack: showing('update', waitingView(title, ':hourglass_flowing_sand: Asking CI …')),
  work,
})

export const answerContext = (verb: string, reference: string): AnswerContext => ({
  command: 'project',
  branch: null,
  rest: [verb],
  reference,
})

/** Slack shows a pushed modal a moment after the acknowledgement: the update is tried this often, this far apart. */
const TRIES_MAX = 5
const TRY_AFTER_MS = 300

/** The external id of the modal that is pushed for this submission: Slack does not return its own id. */
export const pushedName = (body: unknown): string =>
  `pushed-${textAt(body, 'trigger_id') ?? textAt(body, 'view', 'id') ?? ''}`

/** Replaces a pushed view; false: it is closed. */
export async function showInPushed(
  { client, clock }: Pick<SlackDeps, 'client' | 'clock'>,
  name: string,
  view: ModalView,
): Promise<boolean> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    try {
      await client.apiCall('views.update', { external_id: name, view: { ...view, external_id: name } })
      return true
    } catch (error) {
      if (slackCodeOf(error) !== 'not_found') throw error
      if (tries < TRIES_MAX) await clock.sleep(TRY_AFTER_MS)
    }
  }
  return false
}

/** Answers in a pushed modal. @param closed where the answer goes if it is closed; null: nobody waits for it then */
export const pushedPlace = (
  deps: Pick<SlackDeps, 'client' | 'clock'>,
  name: string,
  title: string,
  closed: Place | null,
): Place => ({
  spot: null,
  async show(answer, isLast) {
    if (!(await showInPushed(deps, name, answerView(title, answer)))) await closed?.show(answer, isLast)
  },
})
