import type { ChannelId } from '../../domain/ids.ts'
import type { Requester } from '../../projects/outcomes.ts'
import type { ProjectDeps } from './outcomes.ts'
import { announceEnd } from './confirm.ts'
import { answerOf, line, type Answer, type AnswerContext } from '../../slack/messages/answer.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { answerOldForm } from '../kit/fault-messages.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import { replyTo } from '../kit/command.ts'
import type { SlackDeps, Reply } from '../kit/context.ts'
import { directReplyTarget, ephemeralReplyTarget, type ReplyTarget } from '../../slack/reply-targets.ts'
import { respond } from '../kit/respond.ts'
import { type ModalView, replyTargetIn, showIn, showing, type Received } from '../kit/modal.ts'
import { projectContext, TITLES, waitingFor, type ProjectVerb } from './forms.ts'
import { unknownNotifierWords } from './words.ts'

/** An action that others should see. */
interface AnnouncedAction<Outcome> {
  /** where the form was opened */
  channel: ChannelId | null
  act: (by: Requester) => Promise<Outcome>
  answer: (outcome: Outcome, context: AnswerContext) => Answer
  /** Offers the same without the rules whose notifiers CI refused; null: nothing is left. See `offering`. */
  offerWithout?: (notifiers: readonly string[], by: Requester) => Promise<ModalView | null>
}

/**
 * Runs the action and answers in the submitted form; if that was closed meanwhile, ephemerally in the channel. Then
 * announces how it ended.
 * @param actionOf null: the form's metadata cannot be read any more
 */
export const runAndAnnounce = <Outcome extends { kind: string; code?: string; unknownNotifiers?: readonly string[] }>(
  deps: ProjectDeps,
  body: unknown,
  verb: ProjectVerb,
  actionOf: (slack: SlackDeps) => AnnouncedAction<Outcome> | null,
): Received => ({
  ack: showing('update', waitingFor(verb, 'Asking CI …')),
  async work(slack) {
    const action = actionOf(slack)
    const by = requesterIn(body, action?.channel ?? null)
    const viewId = textAt(body, 'view', 'id') ?? ''
    let outcome: Outcome | null = null
    const isDone = () => outcome !== null && DONE.has(outcome.kind)
    const replyTarget = replyTargetIn(slack.client, viewId, TITLES[verb], awayFrom(slack, by), isDone)
    const what = action ? `project ${verb}` : 'old'
    await respond(slack, { what, by, replyTarget }, async (reference): Promise<Reply> => {
      if (!action) return { outcome: 'old', answer: answerOldForm() }
      outcome = await action.act(by)
      const { unknownNotifiers: refused = [] } = outcome
      const isOffered =
        refused.length > 0 && (await offer(slack, viewId, async () => action.offerWithout?.(refused, by)))
      return replyTo(outcome, isOffered ? null : action.answer(outcome, projectContext(verb, reference)))
    })
    if (outcome !== null && ANNOUNCED.has((outcome as Outcome).kind)) await announceEnd(deps, by.interactionKey)
  },
})

/** False if there is nothing to offer, or the modal is closed: then the answer is shown. */
async function offer(
  deps: SlackDeps,
  viewId: string,
  viewOf: () => Promise<ModalView | null | undefined>,
): Promise<boolean> {
  try {
    const view = await viewOf()
    return view ? await showIn(deps.client, viewId, view) : false
  } catch (error) {
    deps.log.warn({ err: error }, 'an offer could not be shown; the answer is')
    return false
  }
}

/** The outcomes after CI was asked to write, but an unclear one: that is looked up, and announced when it has ended. */
const ANNOUNCED: ReadonlySet<string> = new Set(['edited', 'created', 'reset', 'ci-refused'])

/** The outcomes that finish the form. After any other, the filled-in form stays useful. */
const DONE: ReadonlySet<string> = new Set(['edited', 'created', 'reset'])

/** Where the answer goes if the modal is closed. */
export const awayFrom = (
  { client }: Pick<SlackDeps, 'client'>,
  { user, channel }: Pick<Requester, 'user' | 'channel'>,
): ReplyTarget =>
  channel === null ? directReplyTarget(client, user) : ephemeralReplyTarget(client, user, { channel, threadTs: null })

/** The confirmation again, with CI's refusal above it. */
export const offering = (view: ModalView, submit: string, notifiers: readonly string[]): ModalView => ({
  ...view,
  submit: plain(submit),
  blocks: [
    ...answerOf([
      line(`:x: *Nothing was changed*: ${unknownNotifierWords(notifiers)}`),
      line('The same can be sent without such rules:'),
    ]).blocks,
    ...view.blocks,
  ],
})
