import type { Clock } from '../../../../src/lib/clock.ts'
import { FRESH_MS } from '../../../../src/features/list/list.ts'
import type { SandboxCi } from '../../../sandbox-ci/src/server.ts'
import { isRunning } from '../panel/ci-shown.ts'
import type { RulesRead } from '../../../sandbox-slack/src/panel-state.ts'
import { dueTimes } from '../../../../src/lib/cron.ts'
import { JOBS_ZONE } from '../../../../src/runtime/schedule.ts'
import { READ_PROJECTS_CRON } from '../../../../src/runtime/upkeep.ts'

export interface RulesWatched {
  /** builds of which it is not known by which rules they are told */
  uncounted: ReadonlySet<string>
  /** null: the service keeps no rules */
  read: RulesRead | null
}

/**
 * The builds of which it is not known by which rules they are told: those under way when the rules for Slack changed, and
 * those that came before the bot had read the new ones; and whose rules it has not read yet. Asked again and again, it
 * sees each change as it happens.
 */
export function watchRules(ci: Pick<SandboxCi, 'state' | 'calls'>, clock: Clock): () => RulesWatched {
  const uncounted = new Set<string>()
  const known = new Map<string, string>()
  const seen = new Set<string>()
  const unread = new Map<string, number>()
  const lastRead = watchReadings(clock)
  return () => {
    const { projects, builds } = ci.state()
    const calls = ci.calls()
    const { n: lastN, at } = lastRead(calls)
    for (const { name, notification_rules } of projects) {
      const rules = JSON.stringify(notification_rules.filter(({ notifier }) => notifier === 'slack'))
      if (known.has(name) && known.get(name) !== rules) unread.set(name, calls.at(-1)?.n ?? 0)
      known.set(name, rules)
      if (lastN > (unread.get(name) ?? Infinity)) unread.delete(name)
    }
    for (const build of builds) {
      if (unread.has(build.project) && (isRunning(build) || !seen.has(build.id))) uncounted.add(build.id)
      seen.add(build.id)
    }
    const { next: dueAt } = dueTimes({ cron: READ_PROJECTS_CRON, zone: JOBS_ZONE }, at)
    return { uncounted, read: { unread: [...unread.keys()], dueAt, onListFrom: at + FRESH_MS } }
  }
}

type Calls = ReturnType<SandboxCi['calls']>

/** The number of the last call that read the rules, and when it was first seen; 0: none yet. */
function watchReadings(clock: Clock): (calls: Calls) => { n: number; at: number } {
  let last = { n: 0, at: clock.now() }
  return (calls) => {
    const n = calls.findLast(isReading)?.n ?? 0
    if (n !== last.n) last = { n, at: clock.now() }
    return last
  }
}

const isReading = ({ method, path, statusCode }: Calls[number]): boolean =>
  method === 'GET' && /^\/v2\/organizations\/[^/]+\/projects$/.test(path) && statusCode === 200
