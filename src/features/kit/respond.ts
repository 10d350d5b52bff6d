import { answerFault, answerSlow } from './fault-messages.ts'
import { answerInterrupted, answerUndone } from './interrupted.ts'
import type { Requester } from '../../projects/outcomes.ts'
import { GivenUp, NotAttempted } from '../../store/not-attempted.ts'
import type { SlackDeps, Reply } from './context.ts'
import { showPicture } from '../../slack/picture/show.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import type { ReplyTarget } from '../../slack/reply-targets.ts'

/** After this time the person sees that the answer will follow. */
const SLOW_AFTER_MS = 2_000

/** One interaction of one person, already acknowledged. */
export interface SlackRequest {
  /** a command's name, for the log and for "Still working on …" */
  what: string
  by: Requester
  /** null: there is no place for an answer, so only the log has the outcome */
  replyTarget: ReplyTarget | null
}

/**
 * Runs `work` and shows its answer. An error is answered too, with the reference of its log line. If the answer could
 * not be shown, the person is told later that the interaction was interrupted. Never throws.
 */
export async function respond(
  deps: SlackDeps,
  { what, by, replyTarget }: SlackRequest,
  work: (reference: string) => Promise<Reply>,
): Promise<void> {
  const { client, clock, log, pending } = deps
  const reference = deps.newReference()
  // The log line of an interaction has no typed text.
  const fields = { reference, what, user: by.user, channel: by.channel, via: by.via }
  const answered = new AbortController()
  const waiting = saySlow()
  const { outcome, answer } = await replyOf()
  answered.abort()
  // Finish sending "still working" first, or it would arrive after the answer.
  await waiting
  if (pending?.beginAnswer() === false) return log.info({ ...fields, outcome }, LATE)
  const isShown = answer === null || (await show(answer, true))
  await pending?.endAnswer(isShown)
  log.info({ ...fields, outcome, isShown }, 'slack request finished')
  if (isShown) await showPictureOf(answer)

  async function saySlow(): Promise<void> {
    // The person has waited since Slack sent the interaction, not since it was stored.
    const now = clock.now()
    const waitedMs = now - (pending?.waitsSince ?? now)
    await clock.sleep(Math.max(0, SLOW_AFTER_MS - waitedMs), answered.signal)
    if (!answered.signal.aborted && !pending?.isGivenUp) await show(answerSlow(what), false)
  }

  async function replyOf(): Promise<Reply> {
    try {
      return await work(reference)
    } catch (error) {
      if (error instanceof GivenUp) return { outcome: 'given-up', answer: null }
      const interaction = pending?.late
      if (error instanceof NotAttempted && interaction) {
        log.warn({ ...fields, err: error }, 'a request that another process left can no longer be carried out')
        const left = { interaction, request: null, isUnshown: false }
        return { outcome: 'interrupted', answer: answerInterrupted(left, reference) }
      }
      log.error({ ...fields, err: error }, 'slack request failed')
      if (error instanceof NotAttempted) return { outcome: 'undone', answer: answerUndone(reference) }
      return { outcome: 'fault', answer: answerFault(reference) }
    }
  }

  async function show(shown: Answer, isLast: boolean): Promise<boolean> {
    try {
      await replyTarget?.show(shown, isLast)
      return replyTarget !== null
    } catch (error) {
      log.warn({ ...fields, err: error }, 'an answer could not be shown')
      return false
    }
  }

  /** Best effort: without the picture, the text is a full answer. */
  async function showPictureOf(shown: Answer | null): Promise<void> {
    if (!shown?.picture || !replyTarget?.conversation) return
    try {
      await showPicture(client, shown.picture, replyTarget.conversation, by.user)
    } catch (error) {
      log.info({ ...fields, err: error }, 'a picture could not be shown')
    }
  }
}

const LATE = 'an answer came after the person was told that the request was interrupted'
