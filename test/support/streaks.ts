import type { Streak } from '../../src/domain/builds/streak.ts'
import { idOrder } from '../../src/domain/ids.ts'
import { NO_OWNER } from '../../src/projects/streaks.ts'
import { projectId, T0, WEB } from './build-events.ts'

/** A streak of `main` with one failed build and no owner. */
export const streak = (change: Partial<Streak> = {}): Streak => ({
  id: '7',
  branchKey: 'branch of main',
  projectId: projectId(WEB),
  branch: 'main',
  beganAt: T0,
  beganOrder: idOrder('512'),
  builds: 1,
  newestOrder: idOrder('512'),
  revisionKey: 'revision',
  cardNumber: 1,
  endedAt: null,
  endedBy: null,
  ...NO_OWNER,
  snoozedUntil: null,
  checkedAt: null,
  ...change,
})
