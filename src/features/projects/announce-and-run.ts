import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { AS_WRITTEN } from '../../slack/api/client.ts'
import { retryOnRateLimit } from '../../slack/api/directory.ts'
import { isMessageTs, classify } from '../../slack/api/errors.ts'
import type { Requester } from '../../projects/outcomes.ts'
import type { Begun } from './outcomes.ts'
import { answerOf, line, type Answer, type AnswerContext } from '../../slack/messages/answer.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { answerOldForm } from '../kit/fault-messages.ts'
import { requesterIn, textAt } from '../kit/body.ts'
import { replyTo } from '../kit/command.ts'
import type { SlackDeps, Reply } from '../kit/context.ts'
import { directReplyTarget, ephemeralReplyTarget, contentOf, type ReplyTarget } from '../../slack/reply-targets.ts'
import { respond } from '../kit/respond.ts'
import { type ModalView, replyTargetIn, showIn, showing, type Received } from '../kit/modal.ts'
import { projectContext, TITLES, waitingFor, type ProjectVerb } from './forms.ts'
import { unknownNotifierWords } from './words.ts'

/** `tried`: CI refused it, or it is unclear whether CI has done it. */
export type Stage = 'begun' | 'done' | 'tried'

/** The last sentence of an announcement. */
export const RESULT: Record<Stage, string> = {
  begun: 'The result will be in this thread.',
  done: 'The result is in this thread.',
  tried: 'The result is in this thread.',
}

/** An action that others should see: announced where it was requested, with its result in the announcement's thread. */
interface AnnouncedAction<Outcome> {
  /** where the form was opened */
  channel: ChannelId | null
  /** markup: `<@U1> is changing acme/web: branches`; once it has ended, `<@U1> changed …` or `<@U1> tried to change …` */
  announcement: (user: string, stage: Stage) => string
  act: (by: Requester, begun: Begun) => Promise<Outcome>
  /** @param isForRequester whether only the requester sees it */
  answer: (outcome: Outcome, context: AnswerContext, isForRequester: boolean) => Answer
  /** Offers the same without the rules whose notifiers CI refused; null: nothing is left. See `offering`. */
  offerWithout?: (notifiers: readonly string[], by: Requester) => Promise<ModalView | null>
}

/**
 * Runs the action and answers in the submitted form; if that was closed meanwhile, ephemerally in the channel.
 * @param actionOf null: the form's metadata cannot be read any more
 */
export const announceAndRun = <Outcome extends { kind: string; code?: string; unknownNotifiers?: readonly string[] }>(
  body: unknown,
  verb: ProjectVerb,
  actionOf: (slack: SlackDeps) => AnnouncedAction<Outcome> | null,
): Received => ({
  ack: showing('update', waitingFor(verb, 'Asking CI …')),
  async work(deps) {
    const action = actionOf(deps)
    const by = requesterIn(body, action?.channel ?? null)
    const viewId = textAt(body, 'view', 'id') ?? ''
    let isDone = false
    let tellThread = async (): Promise<void> => {}
    const replyTarget = replyTargetIn(deps.client, viewId, TITLES[verb], awayFrom(deps, by), () => isDone)
    const what = action ? `project ${verb}` : 'old'
    await respond(deps, { what, by, replyTarget }, async (reference): Promise<Reply> => {
      if (!action) return { outcome: 'old', answer: answerOldForm() }
      let thread: Thread | null = null
      const outcome = await action.act(by, async () => {
        thread = await announce(deps, by, action.announcement(by.user, 'begun'))
      })
      isDone = DONE.has(outcome.kind)
      const context = projectContext(verb, reference)
      if (thread) {
        const text = action.announcement(by.user, isDone ? 'done' : 'tried')
        const place: Thread = thread
        tellThread = () => tellResult(deps, place, { text, answer: action.answer(outcome, context, false) })
      }
      const { unknownNotifiers: refused = [] } = outcome
      const isOffered =
        refused.length > 0 && (await offer(deps, viewId, async () => action.offerWithout?.(refused, by)))
      return replyTo(outcome, isOffered ? null : action.answer(outcome, context, true))
    })
    // Not awaited: Slack may be slow, and the requester should not wait.
    await tellThread()
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

/** After any other outcome, the filled-in form stays useful. */
const DONE: ReadonlySet<string> = new Set(['edited', 'created', 'reset'])

/** Where the answer goes if the modal is closed. */
export const awayFrom = (
  { client }: Pick<SlackDeps, 'client'>,
  { user, channel }: Pick<Requester, 'user' | 'channel'>,
): ReplyTarget =>
  channel === null ? directReplyTarget(client, user) : ephemeralReplyTarget(client, user, { channel, threadTs: null })

interface Thread {
  channel: string
  ts: MessageTs
}

/** Posts in the channel, or directly to the requester if there is no channel or Slack refuses the post. */
async function announce(deps: SlackDeps, { user, channel }: Requester, text: string): Promise<Thread> {
  if (channel === null) return post(deps, { channel: user, text })
  try {
    return await post(deps, { channel, text })
  } catch (error) {
    // The post may have arrived, so do not post again.
    if (classify(error).kind === 'unclear') throw error
    return post(deps, { channel: user, text })
  }
}

/** The result in the thread, and then in the announcement itself. */
async function tellResult(
  deps: SlackDeps,
  { channel, ts }: Thread,
  { text, answer }: { text: string; answer: Answer },
): Promise<void> {
  const { client, clock, log } = deps
  try {
    await post(deps, { channel, thread_ts: ts, ...contentOf(answer) })
    await retryOnRateLimit(clock, () => client.apiCall('chat.update', { ...AS_WRITTEN, channel, ts, text }))
  } catch (error) {
    log.warn({ err: error }, 'a result could not be posted in its thread, or the announcement could not be edited')
  }
}

async function post(
  { client, clock }: SlackDeps,
  message: { channel: string; text: string; thread_ts?: string },
): Promise<Thread> {
  const posted = await retryOnRateLimit(clock, () => client.apiCall('chat.postMessage', { ...AS_WRITTEN, ...message }))
  const ts = fieldOf(posted, 'ts')
  if (isMessageTs(ts)) return { channel: textOf(fieldOf(posted, 'channel')) ?? message.channel, ts }
  throw new Error('Slack did not say what it posted')
}

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
