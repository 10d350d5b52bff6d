import type { Fact } from '../domain/fact.ts'
import { idOrder, type ChannelId } from '../domain/ids.ts'
import { branchKey } from '../domain/lineage.ts'
import { noticeView } from '../domain/notice.ts'
import {
  bornRunSaid,
  planNotice,
  planStory,
  replacedCard,
  type PlannedStep,
  type StoredMessage,
} from '../domain/plan.ts'
import { recoveryOf, type Recovery } from '../domain/recovered.ts'
import { foldRuns, runKey, type Run } from '../domain/run.ts'
import { toStatus } from '../domain/status.ts'
import { bornRunOf, NOTICE_BUILDS_MAX, tellStory } from '../domain/view.ts'
import type { Card, KeptDecision, Reads } from '../store/store.ts'

/** How far back a red streak is counted; beyond it is "at least". Most streaks are short: look near first. */
const HISTORY_NEAR = 4
const HISTORY_FAR = 500

/** What subjects are: one lineage's card, or one day's account notice. */
export type Subject = { kind: 'lineage'; lineageKey: string; episode: number } | { kind: 'notice'; day: string }

export const lineageSubject = (lineageKey: string, episode: number): string => `${lineageKey}/${episode}`
export const noticeSubject = (day: string): string => `notice/${day}`

export function parseSubject(subject: string): Subject {
  const [key = '', place = ''] = subject.split('/')
  return key === 'notice'
    ? { kind: 'notice', day: place }
    : { kind: 'lineage', lineageKey: key, episode: Number(place) }
}

export interface CardPlan {
  steps: PlannedStep[]
  /** what a card posted now would tell by itself */
  bornRun: string | null
  /** when the newest fact was received (ms): what is told now is so old */
  heardAt: number
}

/** Reads everything about one card fresh and plans what is left to do; empty when Slack already agrees. */
export async function planCard(
  reads: Reads,
  card: Card,
  messages: readonly StoredMessage[],
  now: number,
): Promise<CardPlan> {
  const subject = parseSubject(card.subject)
  if (subject.kind === 'notice') return planDay(reads, subject.day, card.channel, messages, now)
  const facts = await reads.factsOfEpisode(subject.lineageKey, subject.episode)
  const runs = foldRuns(facts)
  if (runs.length === 0) return NOTHING
  const decisions = await reads.decisionsOf(card)
  const bornRun = bornRunSaid(messages)
  const story = tellStory({
    runs,
    recoveries: await recoveriesOf(reads, runs),
    isTold: toldBy(decisions.filter(({ verdict }) => verdict === 'tell')),
    isLoud: toldBy(decisions.filter(({ loud }) => loud)),
    bornRun: bornRun === undefined ? bornRunOf(runs) : bornRun,
    quiet: card.quiet,
    mentionOf: card.mention ? await mentions(reads, runs) : () => null,
    replaces: replacedCard(messages),
  })
  return { steps: planStory(story, messages, now), bornRun: bornRunOf(runs), heardAt: newestOf(facts) }
}

const NOTHING: CardPlan = { steps: [], bornRun: null, heardAt: 0 }

const newestOf = (facts: readonly Fact[]): number => Math.max(...facts.map(({ at }) => at))

/** The recovery of each run that has one. */
export async function recoveriesOf(reads: Reads, runs: readonly Run[]): Promise<Map<string, Recovery>> {
  const recoveries = new Map<string, Recovery>()
  for (const run of runs) {
    const recovery = run.status === 'success' ? await recoveryIn(reads, run, runs) : null
    if (recovery) recoveries.set(runKey(run), recovery)
  }
  return recoveries
}

async function recoveryIn(reads: Reads, run: Run, own: readonly Run[]): Promise<Recovery | null> {
  const branch = run.facts.findLast((fact) => fact.branch !== null)?.branch ?? null
  // Builds of which no branch is known share no history.
  if (branch === null) return recoveryOf(run, own)
  const key = branchKey(run.facts[0]!.projectId, branch)
  const order = idOrder(run.buildId)
  if (await reads.isOvertaken(key, order, run.finalSeq ?? 0)) return null
  for (const limit of [HISTORY_NEAR, HISTORY_FAR]) {
    const before = await reads.verdictsBefore(key, order, limit)
    const isCut = before.length === limit
    const recovery = recoveryOf(run, [...own, ...foldOthers(before, own)], isCut)
    // A green one that counts ends the streak, or shows that there is none: what lies before it changes nothing.
    const sawEnd = before.some(
      ({ status, seq, buildId }) => status === 'success' && buildId !== run.buildId && seq < run.finalSeq!,
    )
    if (sawEnd || !isCut || limit === HISTORY_FAR) return recovery
  }
  return null
}

function foldOthers(facts: readonly Fact[], own: readonly Run[]): Run[] {
  const known = new Set(own.map(({ buildId }) => buildId))
  const others = facts.filter(({ buildId }) => !known.has(buildId)).toSorted((a, b) => a.seq - b.seq)
  return foldRuns(others)
}

const toldBy = (decisions: readonly KeptDecision[]) => {
  const told = new Set(decisions.map(({ factSeq }) => factSeq))
  return (run: Run): boolean => run.finalSeq !== null && told.has(run.finalSeq)
}

async function mentions(reads: Reads, runs: readonly Run[]) {
  const handles = [...new Set(runs.flatMap(({ details }) => details.committer ?? []))]
  const people = new Map<string, string | null>()
  for (const handle of handles) people.set(handle, await reads.personOf(handle))
  return (committer: string | null) => (committer === null ? null : (people.get(committer) ?? null))
}

async function planDay(
  reads: Reads,
  day: string,
  channel: ChannelId,
  messages: readonly StoredMessage[],
  now: number,
): Promise<CardPlan> {
  const { facts, counts } = await reads.noticeFacts(day, channel, NOTICE_BUILDS_MAX)
  if (facts.length === 0) return NOTHING
  const runs = facts.map((fact) => foldRuns([fact])[0]!)
  const count = (status: 'ignored' | 'blocked') =>
    [...counts].reduce((sum, [word, builds]) => (toStatus(word) === status ? sum + builds : sum), 0)
  const listed = (status: string) => runs.filter((run) => run.status === status).length
  const more = {
    ignored: Math.max(0, count('ignored') - listed('ignored')),
    blocked: Math.max(0, count('blocked') - listed('blocked')),
  }
  return { steps: planNotice(noticeView(day, runs, more), messages, now), bornRun: null, heardAt: newestOf(facts) }
}
