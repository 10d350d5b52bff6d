import { setImmediate as nextTurn } from 'node:timers/promises'
import { namesOf, BRANCHES_MAX } from '../../catalog/followers.ts'
import { followedKeys } from '../../catalog/projects.ts'
import { coversAny, following, type Subscription } from '../../domain/subscription.ts'
import type { Reads } from '../../store/store.ts'
import { bounded, type CheckResult, type Examination } from './findings.ts'

/** A subscription that matched no build for this long, while its project had some, is reported. */
const UNMATCHED_MS = 30 * 24 * 60 * 60_000

/** The most projects that one subscription is checked with: a repository may have many workflows. */
const PROJECTS_MAX = 20

/** Is there a subscription whose branches no build of its project has had for long? */
export async function checkBranches({ subscriptions, store, clock }: Examination): Promise<CheckResult[]> {
  const found: CheckResult[] = []
  const since = clock.now() - UNMATCHED_MS
  for (const one of store ? await subscriptions() : []) {
    // A newer one was asked back about when it was made.
    if ((one.createdAt ?? 0) > since || coversAny(one.rules, []) || one.follows.what !== 'project') continue
    if (await matchesNothing(store!.read, one, since))
      found.push({
        kind: 'matches-nothing',
        channel: one.channel,
        project: one.follows.name,
        branches: one.rules!.flatMap(({ branch }) => branch ?? []),
        isOfFile: one.source === 'file',
      })
    await nextTurn()
  }
  return bounded(found)
}

async function matchesNothing(reads: Reads, one: Subscription, since: number): Promise<boolean> {
  const named = await reads.deliveredAs(followedKeys(one), PROJECTS_MAX)
  let hasBuilt = false
  for (const project of named.filter((each) => following([one], namesOf(each)).length > 0)) {
    const { projectId } = project
    const isRecent = async (branch?: string) => ((await reads.newestBuild(projectId, branch))?.at ?? 0) >= since
    if (!(await isRecent())) continue
    hasBuilt = true
    // They come newest build first.
    const matched = (await reads.branchesOf(projectId, BRANCHES_MAX)).find((branch) => coversAny(one.rules, [branch]))
    if (matched !== undefined && (await isRecent(matched))) return false
  }
  return hasBuilt
}
