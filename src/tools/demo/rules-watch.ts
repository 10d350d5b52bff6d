import type { SandboxCi } from '../../sandbox/ci/server.ts'
import { isRunning } from '../../sandbox/panel/ci-shown.ts'

/**
 * The builds of which it is not known by which rules they are told: those under way when the rules for Slack changed, and
 * those that came before the bot had read the new ones. Asked again and again, it sees each change as it happens.
 */
export function watchRules(ci: Pick<SandboxCi, 'state' | 'calls'>): () => ReadonlySet<string> {
  const uncounted = new Set<string>()
  const known = new Map<string, string>()
  const seen = new Set<string>()
  const unread = new Map<string, number>()
  return () => {
    const { projects, builds } = ci.state()
    const calls = ci.calls()
    for (const { name, notification_rules } of projects) {
      const rules = JSON.stringify(notification_rules.filter(({ notifier }) => notifier === 'slack'))
      if (known.has(name) && known.get(name) !== rules) unread.set(name, calls.at(-1)?.n ?? 0)
      known.set(name, rules)
      const changedAt = unread.get(name)
      if (changedAt !== undefined && calls.some((call) => call.n > changedAt && isReading(call))) unread.delete(name)
    }
    for (const build of builds) {
      if (unread.has(build.project) && (isRunning(build) || !seen.has(build.id))) uncounted.add(build.id)
      seen.add(build.id)
    }
    return uncounted
  }
}

const isReading = ({ method, path, statusCode }: ReturnType<SandboxCi['calls']>[number]): boolean =>
  method === 'GET' && /^\/v2\/organizations\/[^/]+\/projects$/.test(path) && statusCode === 200
