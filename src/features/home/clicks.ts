import { answerMe } from '../people/messages.ts'
import { outcomeName } from '../command.ts'
import type { Reply } from '../context.ts'
import { followView } from './follow-view.ts'
import { opening } from '../modal.ts'
import type { Click } from '../click.ts'

/** Mentions on or off: where it worked, Home itself shows it. */
export async function toggleMentions({ door, value, by, reference }: Click): Promise<Reply | null> {
  if (value !== 'on' && value !== 'off') return null
  const outcome = await door.operations.people.setMentions(value === 'on', by)
  if (outcome.kind !== 'mentions')
    return { outcome: outcomeName(outcome), answer: answerMe(outcome, { by: by.user, reference }) }
  await door.homes.redraw(by.user)
  return { outcome: outcome.kind, answer: null }
}

/** Whether this person may is asked when the form is sent in, as everywhere; who surely may not has no button. */
export async function openFollow({ opener, reference }: Click): Promise<Reply | null> {
  if (!opener) return null
  return opening(reference, async () => {
    await opener.open(followView)
    return { outcome: 'opened', answer: null }
  })
}
