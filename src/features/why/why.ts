import { selectable } from '../../domain/decide.ts'
import type { Fact } from '../../domain/fact.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { KeptDecision } from '../../store/kept.ts'
import type { Asker, Explained, Posted, Target, WhyOutcome } from '../../catalog/outcomes.ts'
import { buildStatus, type StatusDeps } from '../builds/status.ts'
import { findBuild, summaryOf } from '../../catalog/find-build.ts'
import { createPosted } from './posted.ts'
import { visibleTo, type VisibleDeps } from '../../catalog/visible.ts'

/** Decisions in one answer; the newest are shown. */
export const DECISIONS_MAX = 20

/**
 * Why each channel was told of each fact of a build, or not: the decisions as they were made and kept, and what stands
 * there now. Without a target the newest build that the channel could have heard of.
 */
export async function explain(
  deps: StatusDeps & VisibleDeps,
  target: Target | null,
  by: Pick<Asker, 'user' | 'channel'>,
): Promise<WhyOutcome> {
  const meant = target ?? (await newestHere(deps, by.channel))
  if (!meant) return { kind: 'no-build', project: "this channel's projects", branch: null, nearest: null }
  const looked = await findBuild(deps, meant)
  if (looked.kind !== 'found') return looked
  const { found } = looked
  const own = found.facts.filter(({ buildId }) => buildId === found.run.buildId)
  const all: Made[] = []
  for (const fact of own)
    for (const decision of await deps.reads.decisionsOfFact(fact.seq)) all.push({ fact, decision })
  const isVisible = await visibleTo(deps, by)
  const shown = all.filter(({ decision }) => isVisible(decision.channel))
  const hidden = new Set(all.map(({ decision }) => decision.channel).filter((one) => !isVisible(one))).size
  const postedFor = createPosted(deps.reads, found.runs)
  const decisions: Explained[] = []
  for (const { fact, decision } of shown.slice(-DECISIONS_MAX))
    decisions.push(explained(fact, decision, await postedFor(fact, decision)))
  return { kind: 'why', build: await summaryOf(deps, found), decisions, more: shown.length - decisions.length, hidden }
}

interface Made {
  fact: Fact
  decision: KeptDecision
}

function explained(fact: Fact, decision: KeptDecision, posted: readonly Posted[]): Explained {
  const { word, at, branch, status } = fact
  const { channel, verdict, reason, rulesFrom, looked, recovered } = decision
  const events = selectable({ status, recovered })
  return { channel, word, at, branch, events, verdict, reason, rulesFrom, looked, posted }
}

async function newestHere(deps: StatusDeps, channel: ChannelId | null): Promise<Target | null> {
  const status = await buildStatus(deps, { project: null, branch: null, channel })
  const newest = status.kind === 'channel-status' ? status.builds[0] : undefined
  return newest ? { kind: 'run', ref: newest.ref } : null
}
