import type { MessageTs } from '../../domain/ids.ts'
import { fieldOf, textOf } from '../../domain/raw-values.ts'
import { isMessageTs, classify } from '../../slack/api/errors.ts'
import type { Requester } from '../../catalog/outcomes.ts'
import type { Begun } from './outcomes.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import { textAt } from '../body.ts'
import { outcomeName } from '../command.ts'
import type { SlackDeps } from '../context.ts'
import { directPlace, ephemeralPlace, contentOf, type Place } from '../../slack/reply-targets.ts'
import { respond } from '../respond.ts'
import { type ModalView, placeIn, showIn } from '../modal.ts'

/** An action that others should see: announced where it was requested, with its result in the announcement's thread. */
export interface AnnouncedAction<Outcome> {
  /** for the log */
  what: string
  by: Requester
  title: string
  /** markup: `<@U1> changes acme/web: branches` */
  announcement: string
  act: (begun: Begun) => Promise<Outcome>
  /** @param isForRequester whether only the requester sees it */
  answer: (outcome: Outcome, reference: string, isForRequester: boolean) => Answer
  /** A form to show instead of the answer, if the modal is still open; null: there is none. */
  offer?: (outcome: Outcome) => Promise<ModalView | null>
}

/** Runs the action and answers in the submitted form; if that was closed meanwhile, ephemerally in the channel. */
export function announceAndRun<Outcome extends { kind: string; code?: string }>(
  deps: SlackDeps,
  body: unknown,
  action: AnnouncedAction<Outcome>,
): Promise<void> {
  const { by, what, title } = action
  const viewId = textAt(body, 'view', 'id') ?? ''
  let isDone = false
  const place = placeIn(deps.client, viewId, title, awayFrom(deps, by), () => isDone)
  return respond(deps, { what, by, place }, async (reference) => {
    let thread: Thread | null = null
    const outcome = await action.act(async () => {
      thread = await announce(deps, by, action.announcement)
    })
    isDone = DONE.has(outcome.kind)
    if (thread) await tellIn(deps, thread, action.answer(outcome, reference, false))
    const isOffered = await offer(deps, viewId, action, outcome)
    return { outcome: outcomeName(outcome), answer: isOffered ? null : action.answer(outcome, reference, true) }
  })
}

/** False if there is nothing to offer, or the modal is closed: then the answer is shown. */
async function offer<Outcome>(
  deps: SlackDeps,
  viewId: string,
  action: Pick<AnnouncedAction<Outcome>, 'offer'>,
  outcome: Outcome,
): Promise<boolean> {
  try {
    const view = await action.offer?.(outcome)
    return view ? await showIn(deps.client, viewId, view) : false
  } catch (error) {
    deps.log.warn({ err: error }, 'an offer could not be shown; the answer is')
    return false
  }
}

/** After any other outcome, the filled-in form is still useful. */
const DONE: ReadonlySet<string> = new Set(['edited', 'created', 'reset'])

/** Where the answer goes if the modal is closed. */
export const awayFrom = (
  { client }: Pick<SlackDeps, 'client'>,
  { user, channel }: Pick<Requester, 'user' | 'channel'>,
): Place => (channel === null ? directPlace(client, user) : ephemeralPlace(client, user, { channel, threadTs: null }))

interface Thread {
  channel: string
  ts: MessageTs
}

/** Posts in the channel; if there is none, or it refuses the post, directly to the requester. */
async function announce(deps: SlackDeps, { user, channel }: Requester, text: string): Promise<Thread> {
  if (channel === null) return post(deps, { channel: user, text })
  try {
    return await post(deps, { channel, text })
  } catch (error) {
    // The post may have arrived, and must not appear twice.
    if (classify(error).kind === 'unclear') throw error
    return post(deps, { channel: user, text })
  }
}

async function tellIn(deps: SlackDeps, { channel, ts }: Thread, answer: Answer): Promise<void> {
  try {
    await post(deps, { channel, thread_ts: ts, ...contentOf(answer) })
  } catch (error) {
    deps.log.warn({ err: error }, 'a result could not be posted in its thread')
  }
}

/** Slack accepts one post a second in a channel. A rate-limited post is tried at most this many times. */
const TRIES_MAX = 3

async function post(
  { client, clock }: SlackDeps,
  message: { channel: string; text: string; thread_ts?: string },
): Promise<Thread> {
  const fixed = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false }
  for (let tries = 1; ; tries += 1) {
    try {
      const posted = await client.apiCall('chat.postMessage', { ...fixed, ...message })
      const ts = fieldOf(posted, 'ts')
      if (isMessageTs(ts)) return { channel: textOf(fieldOf(posted, 'channel')) ?? message.channel, ts }
      throw new Error('Slack did not say what it posted')
    } catch (error) {
      const failure = classify(error)
      if (failure.kind !== 'rate-limited' || tries >= TRIES_MAX) throw error
      await clock.sleep(failure.retryAfterMs)
    }
  }
}
