import { answerAct } from './act-messages.ts'
import { answerNotFound } from '../not-found.ts'
import { askerOf, messageOf } from '../body.ts'
import { outcomeName } from '../command.ts'
import type { Door } from '../context.ts'
import { placeOf } from '../reply-target.ts'
import { respond } from '../respond.ts'

/** "Restart this build" on a message: the card, or any message of its thread. */
export function restartByShortcut(door: Door, body: unknown): Promise<void> {
  const by = askerOf(body, 'shortcut')
  const target = messageOf(body)
  return respond(door, { what: 'restart', by, place: placeOf(door, body) }, async (reference) => {
    const asked = { command: 'restart', branch: null, reference } as const
    if (!target) return { outcome: 'no-card', answer: answerNotFound({ kind: 'no-card' }, asked) }
    const outcome = await door.operations.restart(target, by)
    return { outcome: outcomeName(outcome), answer: answerAct(outcome, asked) }
  })
}
