import { buildView } from './build-view.ts'
import { isAccountNotice, toStatus, type AccountStatus } from './status.ts'
import { NOTICE_BUILDS_MAX, type NoticeView } from './view.ts'
import type { Attempt } from './attempt.ts'

/** The day a notice belongs to: `YYYY-MM-DD`, UTC. */
export const noticeDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/**
 * The account notice of one day, from the attempts that were not built, in order of receipt.
 * @param counts how many attempts there are, by CI's word: `attempts` may be only the first of them
 */
export function noticeView(
  day: string,
  attempts: readonly Attempt[],
  counts: ReadonlyMap<string, number> = new Map(),
): NoticeView {
  const builds = attempts.flatMap((attempt) => {
    const shown = attempt.status
    return isAccountNotice(shown) ? { ...buildView(attempt, [attempt]), shown } : []
  })
  const countOf = (status: AccountStatus): number => {
    const counted = [...counts].reduce((sum, [word, count]) => (toStatus(word) === status ? sum + count : sum), 0)
    return Math.max(counted, builds.filter(({ shown }) => shown === status).length)
  }
  return {
    kind: 'notice',
    day,
    ignored: countOf('ignored'),
    blocked: countOf('blocked'),
    quota_exceeded: countOf('quota_exceeded'),
    builds: builds.slice(0, NOTICE_BUILDS_MAX),
  }
}
