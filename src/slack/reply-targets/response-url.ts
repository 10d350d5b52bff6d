import type { Clock } from '../../lib/clock.ts'
import { fieldOf } from '../../domain/raw-values.ts'
import { textOf } from '../api/answer.ts'
import { classify } from '../api/errors.ts'
import type { Answer } from '../messages/answer.ts'
import { contentOf, isContentRefusal, withoutBlocks, type Place, type Spot } from './place.ts'

/** Slack takes so many answers at one address: "slow" once, the answer, and its text alone if need be. */
export const RESPONSE_USES_MAX = 5
/** An answer that has surely not arrived is sent so often. One that may have is shown once more at most. */
export const ANSWER_TRIES_MAX = RESPONSE_USES_MAX - 2

const TIMEOUT_MS = 5_000
const AGAIN_AFTER_MS = 300

export interface ResponseUrl {
  url: string
  /** the message that was clicked is only the asker's, and the answer takes its place */
  replaces: boolean
  spot: Spot | null
  clock: Clock
  /** shows what the address does not take any more; null: nothing does */
  instead: Place | null
}

/**
 * An answer through the address that Slack sent along: it reaches the asker wherever they asked. Where it is unclear
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
