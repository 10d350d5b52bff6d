import { fieldOf, textOf } from '../../notify/slack/answer.ts'
import { answerFault } from '../answers/door.ts'
import { answerNotAllowed } from '../answers/not-allowed.ts'
import { askerOf, textAt, userOf } from '../body.ts'
import type { Door } from '../door.ts'
import { directPlace } from '../places/message.ts'
import { findView } from '../views/find-build.ts'

/** "Find a build": the empty form at once, since Slack opens it within three seconds or not at all. */
export async function openFind(door: Door, body: unknown): Promise<void> {
  const reference = door.newReference()
  try {
    const opened = await door.client.apiCall('views.open', {
      trigger_id: textAt(body, 'trigger_id'),
      view: findView({ chosen: null, branches: [], answer: [] }),
    })
    await closeToOutsiders(door, body, textOf(fieldOf(fieldOf(opened, 'view'), 'id')), reference)
  } catch (error) {
    door.log.error({ err: error, reference, ask: 'find' }, 'an ask from Slack could not be answered')
    await tellFault(door, body, reference)
  }
}

/** Whoever may not read is told so in the form; its menus are empty for them anyhow. */
async function closeToOutsiders(door: Door, body: unknown, viewId: string | null, reference: string): Promise<void> {
  const { user, team } = askerOf(body, 'modal')
  const permit = await door.operations.mayRead({ user, team })
  if (permit.kind === 'yes' || viewId === null) return
  const { blocks } = answerNotAllowed(permit, { action: null, reference })
  const view = findView({ chosen: null, branches: [], answer: blocks })
  await door.client.apiCall('views.update', { view_id: viewId, view })
  door.log.info({ reference, ask: 'find', user, outcome: permit.kind }, 'an ask from Slack has ended')
}

/** A global shortcut names no channel: a direct message is the only way back. */
async function tellFault({ client, log }: Door, body: unknown, reference: string): Promise<void> {
  const user = userOf(body)
  if (user === null) return
  await directPlace(client, user)
    .show(answerFault(reference), true)
    .catch((error: unknown) => log.warn({ err: error, reference }, 'an answer could not be shown'))
}
