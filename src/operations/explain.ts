import type { ChannelId } from '../domain/ids.ts'
import type { Explained, Target, WhyOutcome } from './asked.ts'
import { buildStatus, type StatusDeps } from './build-status.ts'
import { findBuild, summaryOf } from './find-build.ts'

/** Decisions in one answer; the newest are shown. */
export const DECISIONS_MAX = 20

/**
 * Why each channel was told of each fact of a build, or not: the decisions as they were made and kept. Without a target
 * the newest build that the channel could have heard of.
 */
export async function explain(deps: StatusDeps, target: Target | null, channel: ChannelId | null): Promise<WhyOutcome> {
  const meant = target ?? (await newestHere(deps, channel))
  if (!meant) return { kind: 'no-build', project: "this channel's projects", branch: null, nearest: null }
  const looked = await findBuild(deps, meant)
  if (looked.kind !== 'found') return looked
  const { found } = looked
  const own = found.facts.filter(({ buildId }) => buildId === found.run.buildId)
  const all: Explained[] = []
  for (const fact of own)
    for (const { channel: told, verdict, reason, rulesFrom, looked: rules } of await deps.reads.decisionsOfFact(
      fact.seq,
    ))
      all.push({ channel: told, word: fact.word, at: fact.at, verdict, reason, rulesFrom, looked: rules })
  const decisions = all.slice(-DECISIONS_MAX)
  return { kind: 'why', build: await summaryOf(deps, found), decisions, more: all.length - decisions.length }
}

async function newestHere(deps: StatusDeps, channel: ChannelId | null): Promise<Target | null> {
  const status = await buildStatus(deps, { project: null, branch: null, channel })
  const newest = status.kind === 'channel-status' ? status.builds[0] : undefined
  return newest ? { kind: 'run', ref: newest.ref } : null
}
