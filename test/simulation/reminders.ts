import { type ReminderRule, REMINDERS_MAX } from '../../src/domain/builds/reminder.ts'
import type { Subscription } from '../../src/domain/rules/subscription.ts'
import { remind } from '../../src/features/streaks/remind.ts'
import { messageTs, SECOND } from '../support/build-events.ts'
import { endGoneBranches } from '../../src/projects/streaks.ts'
import { branchEndsDeps, type Hands } from './people.ts'
import type { World } from './simulate.ts'

// Channels with reminders for red branches, at all hours and after a short time.

const RULE: ReminderRule = { afterMs: 20 * SECOND, fromHour: 0, toHour: 24, days: 'daily', zone: 'UTC' }

export const reminded = (subscriptions: readonly Subscription[]): Subscription[] =>
  subscriptions.map((one) => ({ ...one, remind: RULE }))

/** The reminder job of one process. */
export const remindBy = (hands: Hands): Promise<unknown> =>
  remind(
    {
      ...hands.process.deps,
      newId: hands.newId,
      endGone: (open) => endGoneBranches(branchEndsDeps(hands), open),
      // Slack accepts every message to owners; the database shows how many there were.
      sendText: async () => ({ kind: 'sent', ts: messageTs('1772460000.000001') }),
    },
    new AbortController().signal,
  )

/** At most three for each streak and channel, each posted once, none begun while the branch was known to be green. */
export function judgeReminders({ stage, memory, lost, frozen }: World): string[] {
  // A reminder below a deleted or given-up card may be repeated below the card that replaced it.
  const roots = new Set<string | null>([...lost.map(({ ts }) => ts), ...frozen])
  const said = stage.slack.messages
    .filter(({ view, thread }) => view.kind === 'reminder' && !roots.has(thread))
    .map(({ channel, key }) => `${channel} ${memory.claimOf(key)?.slot}`)
  const twice = said.filter((one, at) => said.indexOf(one) !== at)
  return [
    ...twice.map((one) => `a reminder is said twice: ${one}`),
    ...stage.sql(TOO_MANY, REMINDERS_MAX).map((row) => `too many reminders: ${JSON.stringify(row)}`),
    ...stage.sql(AFTER_GREEN).map((row) => `a reminder after green: ${JSON.stringify(row)}`),
  ]
}

const TOO_MANY = `select breakage_id, channel, count(*) as reminders from breakage_change where kind = 'reminded'
  group by 1, 2 having count(*) > ?`

const AFTER_GREEN = `select c.id, c.channel, c.at, m.claimed_at, d.decided_at from breakage_change c
  join breakage b on b.id = c.breakage_id
  join message m on m.slot = 'own:' || c.id and m.channel = c.channel
  join fact f on f.branch_key = b.branch_key and f.verdict = 1 and f.word = 'success' and f.build_order > b.newest_order
  join decision d on d.fact_seq = f.seq
  where c.kind = 'reminded' and b.ended_at is not null and d.decided_at >= c.at and m.claimed_at > d.decided_at`
