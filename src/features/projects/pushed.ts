import { textAt } from '../body.ts'
import type { Door } from '../context.ts'
import { slackCodeOf, type Place } from '../../slack/reply-targets/place.ts'
import { answerView, type ModalView } from '../modal-view.ts'

/** Slack puts a pushed modal up a moment after it was acknowledged: so often, so long it is looked for. */
const TRIES_MAX = 5
const TRY_AFTER_MS = 300

/** The name under which the modal that answers this submission can be found: Slack does not say its id. */
export const pushedName = (body: unknown): string =>
  `pushed-${textAt(body, 'trigger_id') ?? textAt(body, 'view', 'id') ?? ''}`

/** Puts a view in the place of one that was pushed; false: it is closed. */
export async function showInPushed(
  { client, clock }: Pick<Door, 'client' | 'clock'>,
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

/** Answers in a pushed modal. @param closed where the answer goes when that is closed; null: nobody waits for it then */
export const pushedPlace = (
  door: Pick<Door, 'client' | 'clock'>,
  name: string,
  title: string,
  closed: Place | null,
): Place => ({
  spot: null,
  async show(answer, isLast) {
    if (!(await showInPushed(door, name, answerView(title, answer)))) await closed?.show(answer, isLast)
  },
})
