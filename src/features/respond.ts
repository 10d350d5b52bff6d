import { answerFault, answerSlow } from './fault-messages.ts'
import { answerUndone } from './left-messages.ts'
import type { Asker } from '../catalog/outcomes.ts'
import { NotAttempted } from '../store/not-attempted.ts'
import type { Door, Reply } from './context.ts'
import { showPicture } from '../slack/picture/show.ts'
import type { Place } from '../slack/reply-targets/place.ts'

/** Whoever waits longer is told that the answer follows. */
export const SLOW_AFTER_MS = 2_000

/** One ask of one person, already acknowledged. */
export interface Ask {
  /** a command's name, in the log and in "this takes longer" */
  what: string
  by: Asker
  /** null: there is nowhere to answer, and the log alone tells */
  place: Place | null
}

/**
 * Does what was asked and answers, whatever happens: a fault has an answer too, with a reference that its log line
 * shares. An answer that could not be shown stays owed. Never throws.
 */
export async function respond(door: Door, ask: Ask, work: (reference: string) => Promise<Reply>): Promise<void> {
  const reference = door.newReference()
  const waiting = sayWhenSlow(door, ask, reference)
  const reply = await replyTo(door, ask, reference, work)
  await waiting.end()
  if (door.kept?.beginAnswer() === false)
    return door.log.info({ ...fieldsOf(ask, reference), outcome: reply.outcome }, LATE)
  const isShown = await show(door, ask, reply.answer, reference)
  await door.kept?.endAnswer(isShown)
  door.log.info({ ...fieldsOf(ask, reference), outcome: reply.outcome, isShown }, 'an ask from Slack has ended')
  if (isShown) await showPictureOf(door, ask, reply, reference)
}

const LATE = 'an answer comes after its asker was told otherwise'

/** What the log says of an ask: no text of anybody. */
const fieldsOf = ({ what, by }: Ask, reference: string) => ({
  reference,
  ask: what,
  user: by.user,
  channel: by.channel,
  via: by.via,
})

// An answer that overtook "the answer follows" would be followed by nothing: whoever ends waits for what is under way.
function sayWhenSlow(door: Door, ask: Ask, reference: string): { end: () => Promise<void> } {
  const stop = new AbortController()
  const saying = saySlowAfterAWhile(door, ask, reference, stop.signal)
  return {
    end: () => {
      stop.abort()
      return saying
    },
  }
}

async function saySlowAfterAWhile(door: Door, ask: Ask, reference: string, stop: AbortSignal): Promise<void> {
  // Writing it down took its time, and who asked has waited since then.
  const now = door.clock.now()
  const waitedMs = now - (door.kept?.receivedAt ?? now)
  await door.clock.sleep(Math.max(0, SLOW_AFTER_MS - waitedMs), stop)
  if (!stop.aborted && !door.kept?.isGivenUp) await show(door, ask, answerSlow(ask.what), reference, false)
}

async function replyTo(
  door: Door,
  ask: Ask,
  reference: string,
  work: (reference: string) => Promise<Reply>,
): Promise<Reply> {
  try {
    return await work(reference)
  } catch (error) {
    door.log.error({ ...fieldsOf(ask, reference), err: error }, 'an ask from Slack could not be answered')
    if (error instanceof NotAttempted) return { outcome: 'undone', answer: answerUndone(reference) }
    return { outcome: 'fault', answer: answerFault(reference) }
  }
}

async function show(door: Door, ask: Ask, answer: Reply['answer'], reference: string, isLast = true): Promise<boolean> {
  if (answer === null) return true
  try {
    await ask.place?.show(answer, isLast)
    return ask.place !== null
  } catch (error) {
    door.log.warn({ ...fieldsOf(ask, reference), err: error }, 'an answer could not be shown')
    return false
  }
}

/** An extra, which never fails the words. */
async function showPictureOf(door: Door, ask: Ask, { answer }: Reply, reference: string): Promise<void> {
  const spot = ask.place?.spot
  if (!answer?.picture || !spot) return
  try {
    await showPicture(door.client, answer.picture, spot, ask.by.user)
  } catch (error) {
    door.log.info({ ...fieldsOf(ask, reference), err: error }, 'a picture could not be shown')
  }
}
