import { askerOf } from './body.ts'
import type { Door } from './context.ts'
import { placeOf } from './reply-target.ts'
import { respond } from './respond.ts'
import { openingPlace } from './modal.ts'
import { nameOf, readSlash, run } from './run.ts'

/** A slash command, after it was acknowledged. */
export function answerSlash(door: Door, body: unknown): Promise<void> {
  const spoken = readSlash(body)
  const by = askerOf(body, 'command')
  const { opener, place } = openingPlace(door, body, placeOf(door, body))
  return respond(door, { what: nameOf(spoken), by, place }, (reference) =>
    run(door, spoken, { by, thread: null, opener, reference }),
  )
}
