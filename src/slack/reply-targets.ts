import { fieldOf } from '../domain/raw-values.ts'
import { textOf, classify } from './api/errors.ts'
import type { ChannelId, MessageTs } from '../domain/ids.ts'
import type { Answer } from './messages/answer.ts'
import type { WebClient } from '@slack/web-api'
import { section, type Block } from './messages/blocks.ts'
import { cut, SECTION_CHARS_MAX } from './messages/limits.ts'
import type { Clock } from '../lib/clock.ts'

/** Where a requester gets to see an answer. */
export interface Place {
  /** Shows it to the requester alone; throws, without an address in the error, where nothing shows it. */
  show(answer: Answer, isLast: boolean): Promise<void>
  /** where a picture may go; null: nowhere */
  spot: Spot | null
}

export interface Spot {
  channel: ChannelId
  threadTs: MessageTs | null
}

/** Text and blocks as Slack takes them; a message without blocks has none. */
export const contentOf = ({ text, blocks }: Answer) => ({ text, ...(blocks.length > 0 ? { blocks } : {}) })

/** The text alone, which tells the whole story: for blocks that Slack does not take. */
const withoutBlocks = (answer: Answer): Answer => ({ ...answer, blocks: [] })

/** Slack's words for content that it will not take, however often it is sent. */
const isContentRefusal = (code: string): boolean => /^(?:invalid_blocks|msg_blocks_too_long|msg_too_long)/.test(code)

/** Slack's own word for what went wrong with a call; empty where it said none. */
export const slackCodeOf = (error: unknown): string => textOf(fieldOf(fieldOf(error, 'data'), 'error')) ?? ''

/** A message in a channel or a thread that only this person sees. */
export const ephemeralPlace = (client: WebClient, user: string, spot: Spot): Place => ({
  spot,
  show: (answer) =>
    post(client, 'chat.postEphemeral', answer, {
      channel: spot.channel,
      user,
      ...(spot.threadTs ? { thread_ts: spot.threadTs } : {}),
    }),
})

/** A direct message: where neither a channel nor a modal is there to answer in. */
export const directPlace = (client: WebClient, user: string): Place => ({
  spot: null,
  show: (answer) => post(client, 'chat.postMessage', answer, { channel: user }),
})

async function post(client: WebClient, method: string, answer: Answer, where: Record<string, string>): Promise<void> {
  const fixed = { ...where, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false }
  try {
    await client.apiCall(method, { ...fixed, ...contentOf(answer) })
  } catch (error) {
    if (!isContentRefusal(slackCodeOf(error))) throw error
    await client.apiCall(method, { ...fixed, ...contentOf(withoutBlocks(answer)) })
  }
}

interface Modal {
  client: WebClient
  viewId: string
  /** the modal with an answer in it */
  draw: (answer: readonly Block[]) => object
  /** false once something newer was asked in this modal: then an old answer must not take its place */
  isCurrent: () => boolean
  /** where the answer goes when the modal was closed meanwhile; null: then nobody waits for it */
  closed: Place | null
  /** where it goes when Slack does not take it for another reason; null: nowhere */
  instead: Place | null
}

/** An answer within an open modal. No hash is sent: what a person sees meanwhile is ours, and `isCurrent` orders it. */
export const modalPlace = (modal: Modal): Place => ({
  spot: null,
  async show(answer, isLast) {
    if (!modal.isCurrent()) return
    try {
      await update(modal, answer)
    } catch (error) {
      const isClosed = slackCodeOf(error) === 'not_found'
      if (!isClosed && !modal.instead) throw error
      await (isClosed ? modal.closed : modal.instead)?.show(answer, isLast)
    }
  },
})

async function update({ client, viewId, draw }: Modal, answer: Answer): Promise<void> {
  const show = (blocks: readonly Block[]) => client.apiCall('views.update', { view_id: viewId, view: draw(blocks) })
  const words = [section(cut(answer.text, SECTION_CHARS_MAX))]
  try {
    await show(answer.blocks.length > 0 ? answer.blocks : words)
  } catch (error) {
    // Blocks that Slack does not take; its words for a view are other ones than for a message.
    if (slackCodeOf(error) !== 'invalid_arguments') throw error
    await show(words)
  }
}

/** Slack takes this many answers at one address: "slow" once, the answer, and its text alone if need be. */
export const RESPONSE_USES_MAX = 5
/** An answer that has surely not arrived is sent this many times. One that may have is shown once more at most. */
export const ANSWER_TRIES_MAX = RESPONSE_USES_MAX - 2

const TIMEOUT_MS = 5_000
const AGAIN_AFTER_MS = 300

interface ResponseUrl {
  url: string
  /** the message that was clicked is only the requester's, and the answer takes its place */
  replaces: boolean
  spot: Spot | null
  clock: Clock
  /** shows what the address does not take any more; null: nothing does */
  instead: Place | null
}

/**
 * An answer through the address that Slack sent along: it reaches the requester wherever they asked. Where it is unclear
 * whether it was shown, it is shown once more, by the other way if there is one: twice the same is better than none.
 */
export const responseUrlPlace = (address: ResponseUrl): Place => ({
  spot: address.spot,
  async show(answer, isLast) {
    const end = await tell(address, answer, isLast ? ANSWER_TRIES_MAX : 1)
    const settled = end.kind === 'refused' ? await tell(address, withoutBlocks(answer), 1) : end
    if (settled.kind === 'shown') return
    if (await isShownInstead(address, answer, isLast)) return
    const last = settled.kind === 'unclear' && isLast ? await tell(address, answer, 1) : settled
    if (last.kind !== 'shown') throw new Error(`the response_url did not take the answer: ${last.code}`)
  },
})

/** Throws where it is unclear again whether the answer was shown: then it is left at that. */
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
 * `refused`: other content might be taken. `away`: surely not taken, another time. `unclear`: it may have been taken.
 * `dead`: never again.
 */
type End = { kind: 'shown' } | { kind: 'refused' | 'away' | 'unclear' | 'dead'; code: string }

async function tell(address: ResponseUrl, answer: Answer, tries: number): Promise<End> {
  const end = await tellOnce(address, answer)
  if (end.kind !== 'away' || tries <= 1) return end
  await address.clock.sleep(AGAIN_AFTER_MS)
  return tell(address, answer, tries - 1)
}

async function tellOnce({ url, replaces, spot }: ResponseUrl, answer: Answer): Promise<End> {
  const body = {
    // Without it a click on a card would put the answer in the card's place.
    replace_original: replaces,
    response_type: 'ephemeral',
    ...contentOf(answer),
    ...(spot?.threadTs ? { thread_ts: spot.threadTs } : {}),
  }
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return endOf(response.status, await response.text())
  } catch (error) {
    // What fetch throws may name the address, which is a secret for half an hour.
    return { kind: classify(error).kind === 'unsent' ? 'away' : 'unclear', code: 'unreachable' }
  }
}

function endOf(status: number, body: string): End {
  const code = errorIn(body) ?? (status >= 300 ? String(status) : null)
  if (code === null) return { kind: 'shown' }
  if (isContentRefusal(code)) return { kind: 'refused', code }
  if (status >= 500) return { kind: 'unclear', code }
  return { kind: status === 429 ? 'away' : 'dead', code }
}

/** `{"ok":false,"error":"…"}`, which comes with any status. */
function errorIn(body: string): string | null {
  try {
    const answer: unknown = JSON.parse(body)
    return fieldOf(answer, 'ok') === false ? (textOf(fieldOf(answer, 'error')) ?? 'unknown_error') : null
  } catch {
    return null
  }
}

/**
 * Whether an address that came with a request is one of Slack's own: what we answer is for nobody else.
 * @param apiUrl the Web API that we use, which gets our token anyhow; in tests it is on another host than Slack's
 */
export function isSlackAddress(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false
  const { origin } = new URL(url)
  return RESPONSE_ORIGINS.has(origin) || origin === new URL(apiUrl).origin
}

const RESPONSE_ORIGINS: ReadonlySet<string> = new Set(['https://hooks.slack.com', 'https://hooks.slack-gov.com'])
