import type { Asker } from '../../catalog/outcomes.ts'
import { answerNotOpened } from '../fault-messages.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { askerOf, userOf } from '../body.ts'
import type { Door } from '../context.ts'
import { directPlace } from '../../slack/reply-targets/message.ts'
import { respond } from '../respond.ts'
import { findView } from './find-modal.ts'
import { opening, openingPlace, type OpenModal } from '../modal.ts'

/** "Find a build": the empty form at once, since Slack opens it within three seconds or not at all. */
export async function openFind(door: Door, body: unknown): Promise<void> {
  const by = askerOf(body, 'modal')
  const user = userOf(body)
  // A global shortcut names no channel: a direct message is the only way back.
  const { opener, place } = openingPlace(door, body, user === null ? null : directPlace(door.client, user))
  const form: { opened?: OpenModal | undefined; reference: string } = { reference: '' }
  await respond(door, { what: 'find', by, place }, (reference) =>
    opening(reference, async () => {
      form.reference = reference
      if (!opener) return { outcome: 'not-opened', answer: answerNotOpened('late', reference) }
      form.opened = await opener.open(findView({ chosen: null, branches: [], answer: [] }))
      return { outcome: 'opened', answer: null }
    }),
  )
  if (form.opened) await closeToOutsiders(door, by, { ...form, opened: form.opened })
}

/** Whoever may not read is told so in the form; its menus are empty for them anyhow. */
async function closeToOutsiders(
  door: Door,
  by: Asker,
  { opened, reference }: { opened: OpenModal; reference: string },
): Promise<void> {
  try {
    const permit = await door.operations.mayRead(by)
    if (permit.kind === 'yes') return
    const { blocks } = answerNotAllowed(permit, { action: null, reference })
    await opened.show(findView({ chosen: null, branches: [], answer: blocks }))
    door.log.info({ reference, ask: 'find', user: by.user, outcome: permit.kind }, 'an ask from Slack has ended')
  } catch (error) {
    door.log.warn({ err: error, reference, ask: 'find' }, 'whether somebody may look for builds could not be said')
  }
}
