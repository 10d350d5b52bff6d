import { NO_DETAILS, revisionKey } from '../../src/domain/builds/build-event.ts'
import { githubProjectId, gitlabProjectId, idOrder, toUuid, type ProjectId } from '../../src/domain/ids.ts'
import { branchKey } from '../../src/domain/builds/revision.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { buildId, projectId } from './build-events.ts'
import { streak as streakOf } from './streaks.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Projects in one write. */
const AT_ONCE = 250

/** Every so many projects is red, has built lately, runs or waits. The others built once, long ago. */
const EVERY = { red: 25, lately: 150, running: 500, waiting: 700 }

/**
 * Stores so many projects with a build each: a third each of the CI service, of GitHub and of GitLab, all listed and
 * delivered. They are called `acme/p-0`, `octo/r-1 CI` and `lab/g-2`, and so on.
 */
export async function storeProjects(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += 4 * AT_ONCE)
    await Promise.all(
      [0, 1, 2, 3].map((part) =>
        store.write(
          async (tx) => {
            const first = from + part * AT_ONCE
            for (let n = first; n < Math.min(count, first + AT_ONCE); n++) await storeProject(tx, n)
          },
          { canBeRedone: true },
        ),
      ),
    )
}

async function storeProject(tx: Tx, n: number): Promise<void> {
  const now = Date.now()
  const { id, name, fullName } = namesOf(n)
  const uuid = toUuid(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`)
  const type = n % 2 === 0 ? 'basic' : 'pro'
  // CI's list was read now and does not have them: as if it were read after that.
  const listed = { uuid, name, legacyId: id, type, rules: [], readAt: now + DAY_MS }
  await tx.saveProject(listed)
  const [isRed, isLate] = [n % EVERY.red === 0, n % EVERY.lately === 0]
  const status =
    n % EVERY.running === 1 ? 'started' : n % EVERY.waiting === 2 ? 'waiting' : isRed ? 'failed' : 'success'
  const isOpen = status === 'started' || status === 'waiting'
  const at = isOpen ? now - (n % 500) * 100 : isLate ? now - DAY_MS - n * 1_000 : now - 20 * DAY_MS - n * 10_000
  await tx.saveDeliveredProject({ projectId: id, name, fullName, projectUuid: uuid, at })
  const build = buildId(String(100_000 + n))
  const rawStatus = { started: 'initiated', waiting: 'waiting', failed: 'error', success: 'success' }[status]
  const details = { ...NO_DETAILS, projectName: name, projectFullName: fullName, projectUuid: uuid, committer: 'ada' }
  const commitId = n.toString(16).padStart(40, '0')
  const seen = { projectId: id, buildId: build, branch: 'main', commitId, rawStatus, details }
  const key = revisionKey(seen)
  const seq = await tx.insertBuildEvent(seen, { at, origin: 'delivery', priority: 1, revisionKey: key })
  await tx.placeEvent(seq, 1)
  const buildOrder = idOrder(build)
  const known = { projectId: id, buildId: build, buildOrder, attempt: 1, cardNumber: 1, branch: 'main' }
  const state = { status, rawStatus, at, buildUuid: null, committer: isRed ? 'ada' : 'grace' } as const
  await tx.saveBuild({ ...known, ...state, revisionKey: key })
  if (status !== 'failed') return
  const streak = { branchKey: branchKey(id, 'main'), projectId: id, beganOrder: buildOrder, newestOrder: buildOrder }
  await tx.saveStreak(streakOf({ ...streak, id: `${n}`, beganAt: at, revisionKey: key }))
}

export function namesOf(n: number): { id: ProjectId; name: string; fullName: string } {
  switch (n % 3) {
    case 0:
      return { id: projectId(String(1_000 + n)), name: `acme/p-${n}`, fullName: `acme/p-${n}` }
    case 1:
      return { id: githubProjectId(String(n), '1'), name: `octo/r-${n} CI`, fullName: `octo/r-${n}` }
    default:
      return { id: gitlabProjectId(String(n)), name: `lab/g-${n}`, fullName: `lab/g-${n}` }
  }
}
