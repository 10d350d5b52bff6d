import { fieldOf, textOf } from '../lib/raw-values.ts'
import { AS_WRITTEN } from './api/client.ts'
import { findJson } from '../lib/json.ts'
import { bodyOf } from './api/client.ts'
import { classify } from './api/errors.ts'
import type { ChannelId, MessageTs } from '../domain/ids.ts'
import type { Answer } from './messages/answer.ts'
import type { WebClient } from '@slack/web-api'
import type { Clock } from '../lib/clock.ts'

/** Where an answer is shown to the requester. */
export interface ReplyTarget {
  /** Shows it to the requester alone. Throws if it could not be shown; the error contains no address. */
  show(answer: Answer, isLast: boolean): Promise<void>
  /** where a picture can be posted; null: nowhere */
  conversation: Conversation | null
}

export interface Conversation {
  channel: ChannelId
  threadTs: MessageTs | null
}

/** `text` and, if there are any, `blocks`, as the Web API takes them. */
export const contentOf = ({ text, blocks }: Answer) => ({ text, ...(blocks.length > 0 ? { blocks } : {}) })

/** The text alone, which says everything: in case Slack refuses the blocks. */
export const withoutBlocks = (answer: Answer): Answer => ({ ...answer, blocks: [] })

/** Slack's error codes for content that it will never accept. */
const isContentRefusal = (code: string): boolean => /^(?:invalid_blocks|msg_blocks_too_long|msg_too_long)/.test(code)

/** Slack's error code for a failed call; empty if there is none. */
export const slackCodeOf = (error: unknown): string => textOf(fieldOf(fieldOf(error, 'data'), 'error')) ?? ''

/** A message in a channel or a thread that only this person sees. */
export const ephemeralReplyTarget = (client: WebClient, user: string, conversation: Conversation): ReplyTarget => ({
  conversation,
  show: (answer) =>
    post(client, 'chat.postEphemeral', answer, {
      channel: conversation.channel,
      user,
      ...(conversation.threadTs ? { thread_ts: conversation.threadTs } : {}),
    }),
})

/** A direct message, if there is neither a channel nor a modal to answer in. */
export const directReplyTarget = (client: WebClient, user: string): ReplyTarget => ({
  conversation: null,
  show: (answer) => post(client, 'chat.postMessage', answer, { channel: user }),
})

async function post(client: WebClient, method: string, answer: Answer, where: Record<string, string>): Promise<void> {
  const fixed = { ...where, ...AS_WRITTEN }
  try {
    await client.apiCall(method, { ...fixed, ...contentOf(answer) })
  } catch (error) {
    if (!isContentRefusal(slackCodeOf(error))) throw error
    await client.apiCall(method, { ...fixed, ...contentOf(withoutBlocks(answer)) })
  }
}

/** Slack accepts this many answers at one response_url: "still working", an answer's tries, one without blocks. */
export const RESPONSE_USES_MAX = 5
/** The tries for an answer that certainly did not arrive. One that may have arrived is sent only once more. */
export const ANSWER_TRIES_MAX = RESPONSE_USES_MAX - 2

const TIMEOUT_MS = 5_000
const AGAIN_AFTER_MS = 300

interface ResponseUrl {
  url: string
  /** only the requester sees the message that was clicked, and the answer replaces it */
  replaces: boolean
  conversation: Conversation | null
  clock: Clock
  /** where the answer goes if the response_url refuses it; null: nowhere */
  instead: ReplyTarget | null
}

/** Where a request was made: through its response_url, else as an ephemeral message; null: there is neither. */
export function nearPlace(
  { client, clock }: { client: WebClient; clock: Clock },
  {
    user,
    spot: conversation,
    url,
    replaces = false,
  }: { user: string | null; spot: Conversation | null; url: string | null; replaces?: boolean },
): ReplyTarget | null {
  const ephemeral = user !== null && conversation ? ephemeralReplyTarget(client, user, conversation) : null
  const isSafe = url !== null && isSlackAddress(url, client.slackApiUrl)
  return isSafe ? responseUrlReplyTarget({ url, replaces, conversation, clock, instead: ephemeral }) : ephemeral
}

/**
 * An answer through the request's response_url, which reaches the requester wherever they are. If it is unclear whether
 * it was shown, it is shown once more, through `instead` if there is one: twice is better than never.
 */
const responseUrlReplyTarget = (address: ResponseUrl): ReplyTarget => ({
  conversation: address.conversation,
  async show(answer, isLast) {
    const end = await send(address, answer, isLast ? ANSWER_TRIES_MAX : 1)
    const settled = end.kind === 'refused' ? await send(address, withoutBlocks(answer), 1) : end
    if (settled.kind === 'shown') return
    if (await isShownInstead(address, answer, isLast)) return
    const last = settled.kind === 'unclear' && isLast ? await send(address, answer, 1) : settled
    if (last.kind !== 'shown') throw new Error(`the response_url did not accept the answer: ${last.code}`)
  },
})

/** Throws if it is still unclear whether the answer was shown: it is not sent a third time. */
async function isShownInstead({ instead }: ResponseUrl, answer: Answer, isLast: boolean): Promise<boolean> {
  if (!instead) return false
  try {
    await instead.show(answer, isLast)
    return true
  } catch (error) {
    if (classify(error).kind === 'unclear') throw error
    return false
  }
}

/**
 * `refused`: Slack may accept other content. `away`: certainly not shown; a retry may succeed. `unclear`: it may have
 * been shown. `dead`: no retry can succeed.
 */
type SendResult = { kind: 'shown' } | { kind: 'refused' | 'away' | 'unclear' | 'dead'; code: string }

async function send(address: ResponseUrl, answer: Answer, tries: number): Promise<SendResult> {
  const end = await sendOnce(address, answer)
  if (end.kind !== 'away' || tries <= 1) return end
  await address.clock.sleep(AGAIN_AFTER_MS)
  return send(address, answer, tries - 1)
}

async function sendOnce({ url, replaces, conversation }: ResponseUrl, answer: Answer): Promise<SendResult> {
  const body = {
    // Without it, the answer to a click on a card would replace the card.
    replace_original: replaces,
    response_type: 'ephemeral',
    ...contentOf(answer),
    ...(conversation?.threadTs ? { thread_ts: conversation.threadTs } : {}),
  }
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return endOf(response.status, await bodyOf(response))
  } catch (error) {
    // The error of `fetch` may contain the response_url, which is a secret for half an hour.
    return { kind: classify(error).kind === 'unsent' ? 'away' : 'unclear', code: 'unreachable' }
  }
}

function endOf(status: number, body: string): SendResult {
  const code = errorIn(body) ?? (status >= 300 ? String(status) : null)
  if (code === null) return { kind: 'shown' }
  if (isContentRefusal(code)) return { kind: 'refused', code }
  if (status >= 500) return { kind: 'unclear', code }
  return { kind: status === 429 ? 'away' : 'dead', code }
}

/** The error code in `{"ok":false,"error":"…"}`, which comes with any status. */
function errorIn(body: string): string | null {
  const answer = findJson(body)
  return fieldOf(answer, 'ok') === false ? (textOf(fieldOf(answer, 'error')) ?? 'unknown_error') : null
}

/**
 * Whether a response_url is Slack's: our answers must not go elsewhere.
 * @param apiUrl the Web API that we use, which gets our token anyway; in tests it is not on Slack's host
 */
export function isSlackAddress(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false
  const { origin } = new URL(url)
  return RESPONSE_ORIGINS.has(origin) || origin === new URL(apiUrl).origin
}

const RESPONSE_ORIGINS: ReadonlySet<string> = new Set(['https://hooks.slack.com', 'https://hooks.slack-gov.com'])
