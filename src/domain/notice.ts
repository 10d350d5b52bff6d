import { buildView } from './build-view.ts'
import { NOTICE_BUILDS_MAX, type NoticeView } from './view.ts'
import type { Attempt } from './attempt.ts'

/** The day a notice belongs to: `YYYY-MM-DD`, UTC. */
export const noticeDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/**
 * The account notice of one day, from the attempts that were not built, in order of receipt.
 * @param more how many further attempts there are that `attempts` does not list
 */
export function noticeView(
  day: string,
  attempts: readonly Attempt[],
  more: { ignored: number; blocked: number } = { ignored: 0, blocked: 0 },
): NoticeView {
  const builds = attempts.map(
    (attempt) =>
      ({ ...buildView(attempt, [attempt]), shown: attempt.status === 'blocked' ? 'blocked' : 'ignored' }) as const,
  )
  return {
    kind: 'notice',
    day,
    ignored: builds.filter(({ shown }) => shown === 'ignored').length + more.ignored,
    blocked: builds.filter(({ shown }) => shown === 'blocked').length + more.blocked,
    builds: builds.slice(0, NOTICE_BUILDS_MAX),
  }
}
