import type { Clock } from '../../lib/clock.ts'
import type { ClientOptions } from './client.ts'
import { createSay } from './say.ts'

/** The same alarm is sent and logged at most once in this time. */
const AGAIN_MS = 60 * 60_000

export interface AlarmOptions extends ClientOptions {
  clock: Clock
  /** Slack users and user groups. A group cannot get a direct message and is left out. */
  admins: readonly string[]
  log: { warn(fields: object, text: string): void; error(fields: object, text: string): void }
}

/**
 * Reports what only admins can fix: logs it and sends each admin a direct message. Never throws, and repeats the same
 * text once an hour at most.
 * @param what a sentence for people; no outside text
 */
export function createAlarm({ clock, admins, log, ...options }: AlarmOptions): (what: string) => void {
  const say = createSay(options)
  const users = admins.filter((id) => /^[UW]/.test(id))
  const toldAt = new Map<string, number>()

  async function tell(user: string, text: string): Promise<void> {
    const outcome = await say(user, text)
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
