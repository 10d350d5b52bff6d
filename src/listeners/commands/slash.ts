import { askerOf } from '../body.ts'
import type { Door } from '../door.ts'
import { placeOf } from '../places/of.ts'
import { respond } from '../respond.ts'
import { openingPlace } from '../views/opener.ts'
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
