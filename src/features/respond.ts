import { answerFault, answerSlow } from './fault-messages.ts'
import { answerUndone } from './interrupted.ts'
import type { Requester } from '../catalog/outcomes.ts'
import { NotAttempted } from '../store/not-attempted.ts'
import type { SlackDeps, Reply } from './context.ts'
import { showPicture } from '../slack/picture/show.ts'
import type { Place } from '../slack/reply-targets.ts'

/** After this time the person is told that the answer will follow. */
export const SLOW_AFTER_MS = 2_000

/** One request of one person, already acknowledged. */
export interface SlackRequest {
  /** a command's name, for the log and for "Still working on …" */
  what: string
  by: Requester
  /** null: there is no place for an answer, so only the log has the outcome */
  place: Place | null
}

/**
 * Runs `work` and shows its answer. An error is answered too, with the reference of its log line. If the answer could
 * not be shown, the person is told later that the request was interrupted. Never throws.
 */
export async function respond(
  deps: SlackDeps,
  request: SlackRequest,
  work: (reference: string) => Promise<Reply>,
): Promise<void> {
  const reference = deps.newReference()
  const waiting = sayWhenSlow(deps, request, reference)
  const reply = await replyTo(deps, request, reference, work)
  await waiting.end()
  if (deps.pending?.beginAnswer() === false)
    return deps.log.info({ ...fieldsOf(request, reference), outcome: reply.outcome }, LATE)
  const isShown = await show(deps, request, reply.answer, reference)
  await deps.pending?.endAnswer(isShown)
  deps.log.info({ ...fieldsOf(request, reference), outcome: reply.outcome, isShown }, 'slack request finished')
  if (isShown) await showPictureOf(deps, request, reply, reference)
}

const LATE = 'an answer came after the person was told that the request was interrupted'

/** What the log contains about a request: no text that a person typed. */
const fieldsOf = ({ what, by }: SlackRequest, reference: string) => ({
  reference,
  what,
  user: by.user,
  channel: by.channel,
  via: by.via,
})

// Finish sending "still working" first, or it would arrive after the answer.
function sayWhenSlow(deps: SlackDeps, request: SlackRequest, reference: string): { end: () => Promise<void> } {
  const stop = new AbortController()
  const saying = saySlowAfterAWhile(deps, request, reference, stop.signal)
  return {
    end: () => {
      stop.abort()
      return saying
    },
  }
}

async function saySlowAfterAWhile(
  deps: SlackDeps,
  request: SlackRequest,
  reference: string,
  stop: AbortSignal,
): Promise<void> {
  // The person has waited since Slack sent the request, not since it was stored.
  const now = deps.clock.now()
  const waitedMs = now - (deps.pending?.receivedAt ?? now)
  await deps.clock.sleep(Math.max(0, SLOW_AFTER_MS - waitedMs), stop)
  if (!stop.aborted && !deps.pending?.isGivenUp) await show(deps, request, answerSlow(request.what), reference, false)
}

async function replyTo(
  deps: SlackDeps,
  request: SlackRequest,
  reference: string,
  work: (reference: string) => Promise<Reply>,
): Promise<Reply> {
  try {
    return await work(reference)
  } catch (error) {
    deps.log.error({ ...fieldsOf(request, reference), err: error }, 'slack request failed')
    if (error instanceof NotAttempted) return { outcome: 'undone', answer: answerUndone(reference) }
    return { outcome: 'fault', answer: answerFault(reference) }
  }
}

async function show(
  deps: SlackDeps,
  request: SlackRequest,
  answer: Reply['answer'],
  reference: string,
  isLast = true,
): Promise<boolean> {
  if (answer === null) return true
  try {
    await request.place?.show(answer, isLast)
    return request.place !== null
  } catch (error) {
    deps.log.warn({ ...fieldsOf(request, reference), err: error }, 'an answer could not be shown')
    return false
  }
}

/** Best effort: without the picture, the text is a full answer. */
async function showPictureOf(
  deps: SlackDeps,
  request: SlackRequest,
  { answer }: Reply,
  reference: string,
): Promise<void> {
  const spot = request.place?.spot
  if (!answer?.picture || !spot) return
  try {
    await showPicture(deps.client, answer.picture, spot, request.by.user)
  } catch (error) {
    deps.log.info({ ...fieldsOf(request, reference), err: error }, 'a picture could not be shown')
  }
}
