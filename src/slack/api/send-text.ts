import type { ChannelId } from '../../domain/ids.ts'
import type { Failure, Sent } from '../notifier.ts'
import { fieldOf } from '../../lib/raw-values.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { isMessageTs, BROKEN_ANSWER, classify } from './errors.ts'
import { AS_WRITTEN, createClient, type ClientOptions } from './client.ts'
import { section, type ActionButton } from '../messages/blocks.ts'
import { cut, MESSAGE_TEXT_CHARS_MAX } from '../messages/limits.ts'

/**
 * Sends one short text to a channel, or to a person directly. Makes one call and never retries. Always resolves; a
 * failure is returned, and holds no secret.
 * @param text markup, in which everything from outside is escaped; cut if it is too long
 */
export type SendText = (to: ChannelId | string, text: string, button?: ActionButton) => Promise<Sent | Failure>

export function createSendText(options: ClientOptions): SendText {
  const client = createClient(options)
  return async (to, text, button) => {
    try {
      const answer = await client.apiCall('chat.postMessage', {
        channel: to,
        text: cut(text, MESSAGE_TEXT_CHARS_MAX),
        ...(button && { blocks: [{ ...section(text), accessory: button }] }),
        ...AS_WRITTEN,
      })
      const ts = fieldOf(answer, 'ts')
      return isMessageTs(ts) ? { kind: 'sent', ts } : { kind: 'unclear', code: BROKEN_ANSWER }
    } catch (error) {
      return classify(error)
    }
  }
}

/** The same alarm is sent and logged at most once in this time. */
const AGAIN_MS = 60 * 60_000

interface AlarmOptions extends ClientOptions {
  clock: Clock
  /** Slack users and user groups. A group cannot get a direct message and is left out. */
  admins: readonly string[]
  log: Pick<Log, 'warn' | 'error'>
}

/**
 * Reports what only admins can fix: logs it and sends each admin a direct message. Never throws, and repeats the same
 * text once an hour at most.
 * @param what a sentence for people; no outside text
 */
export function createAlarm({ clock, admins, log, ...options }: AlarmOptions): (what: string) => void {
  const sendText = createSendText(options)
  const users = admins.filter((id) => /^[UW]/.test(id))
  const toldAt = new Map<string, number>()

  async function tell(user: string, text: string): Promise<void> {
    const outcome = await sendText(user, text)
    if (outcome.kind !== 'sent') log.warn({ user, code: outcome.code }, 'an admin could not be told')
  }

  return (what) => {
    if (clock.now() - (toldAt.get(what) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return
    toldAt.set(what, clock.now())
    log.error({ told: users.length }, what)
    void Promise.all(users.map((user) => tell(user, alarmText(what))))
  }
}

/** The text of the direct message. */
export const alarmText = (what: string): string => `:rotating_light: ${what}`
